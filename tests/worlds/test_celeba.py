from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from conceptlab.concepts import Split
from conceptlab.errors import InputError
from conceptlab.probes import train_probe, validate
from conceptlab.probes.learned import Fitting
from conceptlab.worlds import CelebA, build
from conceptlab.worlds.celeba import read_attributes
from tests.celeba_folder import write_folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(tmp_path_factory.mktemp("celeba") / "data", per_class=12)


def _world(folder: Path, **settings: object) -> CelebA:
    world = build("celeba", folder=str(folder), **{"resolution": 16, **settings})
    assert isinstance(world, CelebA)
    return world


def test_images_are_the_middle_square_of_files_with_the_attributes(folder: Path) -> None:
    world = _world(folder)
    samples = world.sample((1, 0, 1), 5, seed=3)
    assert samples.images.shape == (5, 3, 16, 16)
    assert samples.labels.tolist() == [[1, 0, 1]] * 5
    assert samples.conditions.tolist() == [[0, 1, 1, 0, 0, 1]] * 5
    top, skin = samples.images[:, :, 0].mean((0, 2)), samples.images[:, :, 6, 0].mean(0)
    assert torch.allclose(top, torch.tensor([230, 200, 90]) / 255, atol=0.03)  # blond
    assert skin[2] > skin[0] + 0.15  # male


def test_pixels_of_one_known_file_are_exact(folder: Path) -> None:
    world = _world(folder)
    with Image.open(folder / "img_align_celeba" / "000001.jpg") as picture:
        square = picture.crop((0, 20, 178, 198)).resize((16, 16), Image.Resampling.BILINEAR)
    expected = torch.from_numpy(np.array(square)).permute(2, 0, 1) / 255
    assert torch.equal(world._image("000001.jpg"), expected)


def test_ambiguous_images_belong_to_no_class(folder: Path) -> None:
    whole = [_world(folder).reserved(part) for part in ("model", "train", "held-out")]
    files = [name for world in whole for cls in world.space for name in world._members(cls)]
    assert len(files) == len(set(files)) == 8 * 12


def test_same_seed_same_draws_and_fewer_are_the_first_of_more(folder: Path) -> None:
    world = _world(folder)
    few, more = world.sample((0, 0, 0), 3, seed=1), world.sample((0, 0, 0), 6, seed=1)
    assert torch.equal(few.images, more.images[:3])
    assert not torch.equal(few.images, world.sample((0, 0, 0), 3, seed=2).images)


def test_models_and_probes_never_share_an_image(folder: Path) -> None:
    world = _world(folder)
    parts = {part: {f for cls in world.space for f in world.reserved(part)._members(cls)} for part in
             ("model", "train", "held-out")}  # fmt: skip
    assert not parts["model"] & parts["train"]
    assert not parts["train"] & parts["held-out"]
    assert not parts["model"] & parts["held-out"]
    assert len(parts["model"]) > 6 * len(parts["held-out"])


def test_a_cnn_probe_reads_held_out_images(tmp_path: Path) -> None:
    world = _world(write_folder(tmp_path / "data", per_class=40))
    probe = train_probe(world, "cnn", images_per_class=24, fitting=Fitting(steps=40))
    assert validate(probe, world, images_per_class=8).joint > 0.9


def test_settings_come_back(folder: Path) -> None:
    world = _world(folder)
    assert build(world.name, **world.settings) == world


def test_other_attributes_can_be_concepts(folder: Path) -> None:
    variables = [
        ["bald", [["no", "-Bald"], ["yes", "Bald"]]],
        ["smile", [["no", "-Smiling"], ["yes", "Smiling"]]],
    ]
    world = _world(folder, variables=variables)
    assert world.space.order == "(bald, smile)"
    assert len(world.sample((0, 1), 4, seed=0)) == 4


def test_the_published_list_is_read_whole(folder: Path) -> None:
    """40 attributes in the published order, and entries in columns."""
    text = (folder / "list_attr_celeba.txt").read_text()
    count, header, first = text.splitlines()[:3]
    path = folder / "list_attr_celeba.txt"
    files, names, table = read_attributes(path, path.stat().st_mtime_ns)
    assert int(count) == len(files) == len(table)
    assert header.split() == list(names)
    assert (len(names), names[0], names[20], names[31], names[-1]) == (
        40,
        "5_o_Clock_Shadow",
        "Male",
        "Smiling",
        "Young",
    )
    assert first.startswith("000001.jpg ")
    assert len({len(line) for line in text.splitlines()[2:]}) == 1


def test_no_folder_says_where_to_get_it_but_describes_itself() -> None:
    world = CelebA()
    assert world.image_shape == (3, 64, 64)
    assert world.condition_shape == (6,)
    with pytest.raises(InputError, match=r"mmlab\.ie\.cuhk\.edu\.hk.*--set world\.folder=FOLDER"):
        world.check()


def test_a_folder_without_celeba(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a CelebA folder"):
        _world(tmp_path).check()


def test_a_wrong_attribute_name(folder: Path) -> None:
    variables = [["smile", [["no", "-Smilling"], ["yes", "Smilling"]]]]
    with pytest.raises(InputError, match=r"unknown attribute 'Smilling'.*did you mean 'Smiling'"):
        _world(folder, variables=variables).check()


def test_too_few_images_of_a_class(folder: Path) -> None:
    world = _world(folder)
    with pytest.raises(
        InputError, match=r"images of class 000 \(female, smiling, black\).*--set train\.000="
    ):
        world.dataset(Split(world.space, {"000": 500}), seed=0)


@pytest.mark.parametrize(
    ("part", "use"), [("train", "80% and 90%.*train"), ("held-out", "90% and 100%.*validate")]
)
def test_a_class_that_probes_never_see(tmp_path: Path, part: str, use: str) -> None:
    """Fewer training images would not help: probes read all classes."""
    world = _world(write_folder(tmp_path / "data", per_class=1, mixed=40)).reserved(part)
    with pytest.raises(
        InputError, match=rf"no image of class 111 \(male, not smiling, blond\) between {use} probes"
    ) as told:
        world.sample((1, 1, 1), 4, seed=0)
    assert "more images" in str(told.value)
    assert "--set world.variables" in str(told.value)
    assert "train.111" not in str(told.value)


def test_a_missing_image(tmp_path: Path) -> None:
    world = _world(write_folder(tmp_path / "data", per_class=3))
    gone = world._members((0, 0, 0))[0]
    (tmp_path / "data" / "img_align_celeba" / gone).unlink()
    with pytest.raises(InputError, match=f"{gone} is missing though list_attr_celeba.txt lists it"):
        world.sample((0, 0, 0), len(world._members((0, 0, 0))), seed=0)


def test_a_truncated_jpeg(tmp_path: Path) -> None:
    world = _world(write_folder(tmp_path / "data", per_class=3))
    name = world._members((0, 0, 0))[0]
    path = tmp_path / "data" / "img_align_celeba" / name
    path.write_bytes(path.read_bytes()[:900])
    with pytest.raises(InputError, match=f"{name} is damaged"):
        world.sample((0, 0, 0), len(world._members((0, 0, 0))), seed=0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense\n", "the first line must be the number of images"),
        ("3\nMale\n000001.jpg 1\n", "announces 3 images but lists 1"),
        ("1\nMale Smiling\n000001.jpg 1 2\n", "line 3: expected a file name and 2 entries"),
    ],
)
def test_a_damaged_list(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "img_align_celeba").mkdir()
    (tmp_path / "list_attr_celeba.txt").write_text(text)
    with pytest.raises(InputError, match=message):
        _world(tmp_path).check()
