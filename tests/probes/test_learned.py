"""Learned probes: right on real images, harmless on junk, the same every time, and safe on disk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors import SafetensorError

from conceptlab.errors import InputError
from conceptlab.probes import (
    AnalyticProbe,
    Fitting,
    Probe,
    load_probe,
    real_images,
    save_probe,
    train_probe,
    validate,
)
from conceptlab.worlds import OKAWA2023, OKAWA2023_BACKGROUND, QUICKSTART, Circles, Shapes, World

WORLD = Shapes(**QUICKSTART)
SHORT = Fitting(steps=8)


@pytest.fixture(scope="module")
def judge() -> Probe:
    return train_probe(WORLD, "cnn", seed=0)


@pytest.fixture(scope="module")
def linear() -> Probe:
    return train_probe(WORLD, "linear", seed=0)


def test_cnn_reads_the_quickstart_world(judge: Probe) -> None:
    result = validate(judge, WORLD, images_per_class=100)
    assert result.joint >= 0.999
    assert min(result.per_class.values()) >= 0.99


def test_linear_reads_upright_shapes_but_not_turned_ones(linear: Probe) -> None:
    assert validate(linear, WORLD, images_per_class=100).joint >= 0.98
    turned = Shapes(**QUICKSTART | {"angle": 180.0, "location": 0.3})
    probe = train_probe(turned, "linear", images_per_class=256)
    result = validate(probe, turned, images_per_class=100)
    assert result.per_variable["shape"] < 0.95
    assert result.per_variable["colour"] >= 0.98


def test_probabilities_of_junk_are_probabilities(judge: Probe, linear: Probe) -> None:
    generator = torch.Generator().manual_seed(0)
    noise = torch.rand(64, 3, 16, 16, generator=generator)
    broken = torch.full((2, 3, 16, 16), float("nan"))
    wild = 1e6 * torch.randn(8, 3, 16, 16, generator=generator)
    junk = torch.cat([noise, torch.zeros(2, 3, 16, 16), torch.ones(2, 3, 16, 16), broken, wild])
    for probe in (judge, linear, AnalyticProbe(WORLD)):
        for table in probe.probabilities(junk).values():
            assert table.shape == (len(junk), 2)
            assert torch.isfinite(table).all()
            # One, or none at all where nothing is there to be read.
            assert torch.allclose(table.sum(1), (table.amax(1) > 0).float(), atol=1e-5)


def test_nothing_is_read_in_an_image_with_a_pixel_that_is_no_number(judge: Probe, linear: Probe) -> None:
    images = WORLD.sample((0, 0, 0), 3, seed=0).images.clone()
    images[1, 0, 5, 7] = float("nan")
    for probe in (judge, linear, AnalyticProbe(WORLD)):
        assert probe.predict(images).tolist() == [[0, 0, 0], [-1, -1, -1], [0, 0, 0]]


def test_a_probe_told_so_reads_nothing_in_blank_images() -> None:
    probe = train_probe(WORLD, "cnn", images_per_class=20, fitting=Fitting(steps=5, blank=0.25))
    ground = torch.ones(1, 3, 16, 16)
    trace, faint = ground.clone(), ground.clone()
    trace[:, 1:, 6:9, 6:9], faint[:, 1:, 6:9, 6:9] = 0.9, 0.6
    for table in probe.probabilities(torch.cat([ground, trace, faint])).values():
        assert torch.allclose(table.sum(1), torch.tensor([0.0, 0.0, 1.0]))
    assert probe.predict(torch.cat([ground, faint]))[0].tolist() == [-1, -1, -1]
    with pytest.raises(InputError, match="sees nothing in 100"):
        validate(train_probe(WORLD, "cnn", images_per_class=5, fitting=Fitting(steps=1, blank=2.0)), WORLD)


@pytest.mark.parametrize("wrong", [{"blank": "x"}, {"blank": -0.1}, {"steps": -1}, {"batch": float("nan")}])
def test_settings_that_make_no_probe_are_refused_before_it_is_trained(wrong: dict) -> None:
    with pytest.raises(InputError, match=f"setting '{next(iter(wrong))}' of the probe"):
        Fitting(**wrong)


def test_an_untrained_probe_is_near_chance() -> None:
    probe = train_probe(WORLD, "cnn", fitting=Fitting(steps=0))
    assert validate(probe, WORLD, images_per_class=50).joint < 0.3


def test_labels_unrelated_to_the_images_cannot_be_read(judge: Probe) -> None:
    images = real_images(WORLD, 50, 3, "junk").images
    shuffled = images[torch.randperm(len(images), generator=torch.Generator().manual_seed(0))]
    right = (judge.predict(images) == judge.predict(shuffled)).all(1).float().mean()
    assert abs(right - 1 / 8) < 4 * (1 / 8 * 7 / 8 / len(images)) ** 0.5


def test_an_image_is_judged_alike_in_any_company(judge: Probe) -> None:
    images = real_images(WORLD, 4, 5, "company").images
    together = judge.probabilities(images)["shape"]
    alone = judge.probabilities(images[3:4])["shape"]
    assert torch.allclose(together[3:4], alone, atol=1e-5)
    assert judge.predict(images[:0]).shape == (0, 3)


def test_the_same_seed_gives_the_same_probe_and_leaves_the_global_stream_alone() -> None:
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    probes = [train_probe(WORLD, "cnn", seed, 16, SHORT) for seed in (0, 0, 1)]
    assert torch.equal(torch.rand(1), expected)
    images = real_images(WORLD, 4, 0, "test").images
    first, again, other = (probe.probabilities(images)["size"] for probe in probes)
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_training_and_held_out_images_differ() -> None:
    train, held_out = (real_images(WORLD, 3, 0, purpose).images for purpose in ("train", "held-out"))
    assert not (train[:, None] == held_out[None]).flatten(2).all(2).any()


@pytest.mark.parametrize("kind", ["cnn", "linear", "analytic"])
def test_a_saved_probe_comes_back(kind: str, tmp_path: Path) -> None:
    probe = train_probe(WORLD, kind, 2, 8, SHORT)
    save_probe(probe, tmp_path / "deep" / "judge")
    again = load_probe(tmp_path / "deep" / "judge")
    images = real_images(WORLD, 4, 0, "test").images
    for name, table in probe.probabilities(images).items():
        assert torch.equal(again.probabilities(images)[name], table)
    assert again.settings == json.loads(json.dumps(probe.settings))
    assert {path.suffix for path in (tmp_path / "deep").iterdir()} <= {".json", ".safetensors"}
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "deep").iterdir()} == {0o644}


def test_damaged_files_are_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no probe at"):
        load_probe(tmp_path / "nothing")
    save_probe(train_probe(WORLD, "linear", 0, 8, SHORT), tmp_path / "probe")
    weights = tmp_path / "probe.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="damaged"):
        load_probe(tmp_path / "probe")
    weights.write_bytes(whole)
    (tmp_path / "probe.json").write_text("{")
    with pytest.raises(InputError, match="damaged"):
        load_probe(tmp_path / "probe")


def test_wrong_input_is_refused(judge: Probe) -> None:
    with pytest.raises(InputError, match="reads images of"):
        judge.predict(torch.zeros(2, 3, 8, 8))
    with pytest.raises(InputError, match="unknown probe 'cn'; did you mean 'cnn'"):
        train_probe(WORLD, "cn")
    with pytest.raises(InputError, match="use 1 or more"):
        train_probe(WORLD, images_per_class=0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("world", "steps"),
    [
        (Shapes(**OKAWA2023), 300),
        (Shapes(), 300),
        (Circles(colour_separation=0.1), 300),
        (Shapes(**OKAWA2023_BACKGROUND), 600),
    ],
)
def test_cnn_reads_the_paper_worlds(world: World, steps: int) -> None:
    probe = train_probe(world, "cnn", seed=1, fitting=Fitting(steps=steps))
    assert validate(probe, world, images_per_class=200).joint >= 0.99


def test_a_probe_that_does_not_fit_on_the_disk_is_told_and_leaves_no_half(tmp_path, monkeypatch):
    def full(tensors: object, path: Path) -> None:
        path.write_bytes(b"half")
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    monkeypatch.setattr("conceptlab.probes.files.save_file", full)
    with pytest.raises(InputError, match=r"probe\.safetensors: the disk is full"):
        save_probe(train_probe(WORLD, "linear", seed=0, fitting=SHORT), tmp_path / "probe")
    assert not list(tmp_path.iterdir())
