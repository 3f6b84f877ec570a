"""dSprites and 3D Shapes in the formats of their published files, with few images."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import numpy as np
import pytest

from conceptlab.errors import InputError
from conceptlab.worlds import DataOptions, dsprites, open_data
from conceptlab.worlds.labelled import load


def write_dsprites(path: Path) -> np.ndarray:
    """All 3 shapes × 6 scales × 2 orientations × 3 × 3 places: white boxes as large as the scale."""
    scales, places = np.linspace(0.5, 1, 6), np.linspace(0, 1, 3)
    values = np.array(list(itertools.product([1.0], [1.0, 2.0, 3.0], scales, [0.0, np.pi], places, places)))
    images = np.zeros((len(values), 64, 64), np.uint8)
    for image, (_, shape, scale, _, x, y) in zip(images, values):
        side, left, top = int(20 * scale), int(30 * x), int(30 * y)
        image[top : top + side, left : left + int(side * shape / 3)] = 1
    metadata = np.array({"latents_names": ("color", "…")}, dtype=object)
    np.savez_compressed(
        path,
        metadata=metadata,
        imgs=images,
        latents_classes=np.zeros((len(values), 6)),
        latents_values=values,
    )
    return images


def test_dsprites_streams_from_its_archive(tmp_path, monkeypatch):
    monkeypatch.setattr(dsprites, "_CHUNK", 50)
    path = tmp_path / "dsprites.npz"
    images = write_dsprites(path)
    variables = ("shape=square,heart", "scale@0.75=small,large")
    world = open_data(path, DataOptions(variables=variables, continuous=("scale",)))
    assert world.image_shape == (1, 64, 64)
    assert world.condition_shape == (3,)
    assert sum(world.counts().values()) == 2 * 6 * 18
    held = load(world)
    for row in (0, 100, 215):
        assert np.array_equal(held.pixels[row, 0], images[int(held.names[row])] * 255)
    small = open_data(path, DataOptions(variables=variables, resolution=16))
    blocks = images[int(held.names[7])].reshape(16, 4, 16, 4).mean((1, 3)) * 255
    assert np.array_equal(load(small).pixels[7, 0], np.rint(blocks))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            lambda images: images[:-5],
            r"has 319 images in imgs and 324 rows in latents_values; it needs a row",
        ),
        (lambda images: images * np.uint8(255), "imgs must hold 0 and 1, not 255; save them so"),
        (np.asfortranarray, r"imgs must be 64×64 of 8 bits, .* by columns \(Fortran order\)"),
        (lambda images: images[:, :32], r"imgs must be 64×64 of 8 bits, not \(32, 64\) of uint8"),
    ],
)
def test_another_file_in_the_form_of_dsprites(tmp_path, spoil, message):
    """All but the last would train on images that are not in the file."""
    path = tmp_path / "dsprites.npz"
    images = write_dsprites(path)
    with np.load(path) as held:
        np.savez(path, imgs=spoil(images), latents_values=held["latents_values"])
    with pytest.raises(InputError, match=message) as caught:
        open_data(path, DataOptions(variables=("shape", "scale")))
    assert "\n" not in str(caught.value)


def test_shapes3d_in_its_published_form(tmp_path):
    h5py = pytest.importorskip("h5py")
    rng = np.random.default_rng(0)
    labels = np.array(
        list(itertools.product([0.0, 0.1], [0.5], [0.2], [0.75, 1.25], [0, 1, 2, 3], [-30.0, 30.0]))
    )
    images = rng.integers(0, 256, (len(labels), 64, 64, 3), dtype=np.uint8)
    path = tmp_path / "3dshapes.h5"
    with h5py.File(path, "w") as file:
        file["images"], file["labels"] = images, labels
    world = open_data(path, DataOptions(variables=("floor_hue", "shape=cube,sphere"), resolution=32))
    assert world.image_shape == (3, 32, 32)
    assert world.counts() == dict.fromkeys(world.space.classes, 4)
    held = load(world)
    image = images[int(held.names[5])].transpose(2, 0, 1)
    assert np.array_equal(held.pixels[5], np.rint(image.reshape(3, 32, 2, 32, 2).mean((2, 4))))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            {"shape": np.linspace(0, 3, 40)},
            r"'shape' holds numbers that stand for no shape \(0\.0769\d*, .*, …\); known: 0 \(cube\), 1 \(cylinder\)",
        ),
        ({"shape": [0, 1, 2, 9] * 10}, r"stand for no shape \(9\); known: 0 \(cube\)"),
        ({"scale": np.linspace(0, 1, 40)}, "'scale' has 40 different values; bin it, e.g. 'scale/2'"),
        ({"labels": "S1"}, r"labels numbers, not uint8 and \|S1; convert them"),
        ({"images": "float32"}, "images must be of 8 bits and labels numbers, not float32 and float64"),
    ],
)
def test_another_file_in_the_form_of_shapes3d(tmp_path, spoil, message):
    h5py = pytest.importorskip("h5py")
    labels = np.zeros((40, 6))
    labels[:, 3], labels[:, 4] = np.arange(40) % 2, np.arange(40) % 4
    for place, name in ((3, "scale"), (4, "shape")):
        labels[:, place] = spoil.get(name, labels[:, place])
    path = tmp_path / "other.h5"
    with h5py.File(path, "w") as file:
        file["images"] = np.zeros((40, 64, 64, 3), spoil.get("images", "uint8"))
        file["labels"] = labels.astype(spoil.get("labels", "float64"))
    with pytest.raises(InputError, match=message) as caught:
        open_data(path, DataOptions(variables=("shape", "scale")))
    assert "\n" not in str(caught.value)


def test_published_files_that_are_not(tmp_path, monkeypatch):
    for name in ("a.npz", "b.h5"):
        (tmp_path / name).write_bytes(b"nothing of the kind")
        with pytest.raises(
            InputError, match=r"is not (the dSprites file \(it is no archive\)|a readable HDF5 file)"
        ):
            open_data(tmp_path / name, DataOptions(variables=("shape",)))
    np.savez(tmp_path / "c.npz", other=np.zeros(3))
    with pytest.raises(InputError, match=r"is not the dSprites file .* into a folder with a table"):
        open_data(tmp_path / "c.npz", DataOptions(variables=("shape",)))
    write_dsprites(tmp_path / "d.npz")
    with pytest.raises(InputError, match="choose --variables out of color, shape, scale"):
        open_data(tmp_path / "d.npz", DataOptions())
    with pytest.raises(
        InputError, match=r"d\.npz: single-valued variables \(1\): color \(always 1\)\. A var"
    ):
        open_data(tmp_path / "d.npz", DataOptions(variables=("shape", "color")))
    for resolution in (20, 0, -16):
        with pytest.raises(InputError, match=r"setting 'resolution'.*known: 16, 32, 64"):
            open_data(tmp_path / "d.npz", DataOptions(variables=("shape",), resolution=resolution))
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(InputError, match=r"pip install 'conceptlab\[data\]'"):
        open_data(tmp_path / "b.h5", DataOptions(variables=("shape",)))


def test_a_celeba_folder_is_a_folder_with_a_table(tmp_path):
    from tests.celeba_folder import write_folder

    folder = write_folder(tmp_path / "celeba", per_class=4)
    world = open_data(folder, DataOptions(variables=("Male", "Smiling"), resolution=16))
    assert world.space.concepts[0].values == ("false", "true")
    assert sum(world.counts().values()) == 36
    with pytest.raises(InputError, match=r"choose --variables, e\.g\. Male Smiling"):
        open_data(folder, DataOptions())


def test_options_of_folders_are_refused_and_not_passed_over(tmp_path):
    """Who asks for grey images must not train on coloured ones."""
    path = tmp_path / "dsprites.npz"
    write_dsprites(path)
    asked = DataOptions(variables=("shape",), mode="L", files="file")
    with pytest.raises(
        InputError, match=r"^--mode, --files: for a folder, and .*\.npz is a file of images; leave"
    ):
        open_data(path, asked)
