"""Validation, the rule that lets a probe judge, and the correction for its confusion."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
import torch
from torch import Tensor

from conceptlab.concepts import Split
from conceptlab.errors import InputError
from conceptlab.probes import AnalyticProbe, Probe, Validation, correct, require_judge, validate
from conceptlab.worlds import QUICKSTART, Circles, DataOptions, Samples, Shapes, World, open_data
from tests.image_folder import everything, write_folder

WORLD = Shapes(**QUICKSTART)


class OneSided(Probe):
    """Right about all but one variable, of which it always says the first value."""

    kind = "one-sided"

    def __init__(self, blind: str) -> None:
        self.inner, self.blind = AnalyticProbe(WORLD), blind
        self.space, self.image_shape = self.inner.space, self.inner.image_shape

    @property
    def settings(self) -> dict[str, str]:
        return {"blind": self.blind}

    def read(self, images: Tensor) -> dict[str, Tensor]:
        tables = self.inner.read(images)
        return tables | {self.blind: torch.tensor([[1.0, 0.0]]).expand(len(images), 2)}


class Unrendered(World):
    """The quickstart images, as if nobody knew how they were made."""

    name = "unrendered"
    space = WORLD.space
    image_shape = WORLD.image_shape
    condition_parts = WORLD.condition_parts

    def condition(self, cls: tuple[int, ...]) -> Tensor:
        return WORLD.condition(cls)

    def sample(self, cls: tuple[int, ...], n: int, seed: int) -> Samples:
        return WORLD.sample(cls, n, seed)


def test_a_probe_blind_to_one_variable_is_half_right() -> None:
    result = validate(OneSided("size"), WORLD, images_per_class=20)
    assert result.joint == 0.5
    assert result.per_variable == {"shape": 1.0, "size": 0.5, "colour": 1.0}
    assert result.per_class["000"] == 1
    assert result.per_class["010"] == 0
    read_as = WORLD.space.classes.index((0, 0, 0))
    assert result.confusion[WORLD.space.classes.index((0, 1, 0))][read_as] == 1
    assert np.sum(result.confusion, axis=1).tolist() == [1.0] * 8


def test_validation_survives_json() -> None:
    result = validate(OneSided("shape"), WORLD, images_per_class=3)
    assert Validation.from_json(json.loads(json.dumps(result.to_json()))) == result


def test_a_poor_probe_may_not_judge_a_rendered_world() -> None:
    good = validate(AnalyticProbe(WORLD), WORLD, images_per_class=20)
    require_judge(good, WORLD)
    poor = validate(OneSided("size"), WORLD, images_per_class=20)
    with pytest.raises(
        InputError, match=r"one-sided probe reads 50.0% .* less than 99% \(worst class 010: 0.0%\)"
    ):
        require_judge(poor, WORLD)
    require_judge(dataclasses.replace(poor, joint=0.99), WORLD)


def test_on_real_data_a_poor_probe_only_warns(caplog: pytest.LogCaptureFixture) -> None:
    poor = validate(OneSided("size"), Unrendered(), images_per_class=5)
    require_judge(poor, Unrendered())
    assert "less than 99%" in caplog.text
    assert "corrected for its confusion" in caplog.text


def test_images_that_are_shown_again_do_not_count_twice(tmp_path, monkeypatch, caplog) -> None:
    """Of seven images of a class one validates the probe, and is shown to it 200 times."""
    monkeypatch.setenv("CONCEPTLAB_CACHE", str(tmp_path / "cache"))
    folder = write_folder(tmp_path / "data", {**everything(7), "000": 20, "111": 0})
    world = open_data(folder, DataOptions(variables=("shape", "size", "colour")))

    class Blind(Probe):
        kind, space, image_shape = "test", world.space, world.image_shape
        settings = {}  # noqa: RUF012

        def read(self, images):
            return {name: torch.tensor([[1.0, 0.0]]).expand(len(images), 2) for name in world.space.names}

    found = validate(Blind(), world)
    assert found.images_per_class == 200
    counts = {world.space.code(cls): count for cls, count in world.counts().items() if count}
    assert found.different == {code: 3 if count == 20 else 1 for code, count in counts.items()}
    assert Validation.from_json(json.loads(json.dumps(found.to_json()))) == found
    require_judge(found, world)
    assert "of 9 different held-out real images right, less than 99%" in caplog.text


def test_validation_refuses_what_does_not_fit() -> None:
    with pytest.raises(InputError, match="the probe reads"):
        validate(AnalyticProbe(Circles()), WORLD)
    with pytest.raises(InputError, match="use 1 or more"):
        validate(AnalyticProbe(WORLD), WORLD, images_per_class=0)


def test_correction_recovers_the_true_shares() -> None:
    rng = np.random.default_rng(0)
    for size in (2, 4, 8):
        confusion = 0.7 * np.eye(size) + 0.3 * rng.dirichlet(np.ones(size), size)
        true = rng.dirichlet(np.ones(size))
        assert correct(confusion.T @ true, confusion) == pytest.approx(true, abs=1e-6)
    # A perfect probe needs none.
    assert correct(true, np.eye(8)) == pytest.approx(true, abs=1e-6)


def test_correction_stays_a_distribution_and_is_the_best_one() -> None:
    """Observed 100 % of a class that the probe itself reads right only 80 % of the time: no mixture gives that,
    and the nearest is that class alone."""
    confusion = np.array([[0.8, 0.2], [0.1, 0.9]])
    assert correct(np.array([1.0, 0.0]), confusion) == pytest.approx([1, 0], abs=1e-6)
    rng = np.random.default_rng(1)
    confusion = rng.dirichlet(np.ones(4) * 0.5, 4)
    observed = rng.dirichlet(np.ones(4) * 0.3)
    found = correct(observed, confusion)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)
    candidates = rng.dirichlet(np.ones(4), 20_000)
    best = np.square(candidates @ confusion - observed).sum(1).min()
    assert np.square(found @ confusion - observed).sum() <= best + 1e-9


def test_correction_refuses_counts_and_misfits() -> None:
    with pytest.raises(InputError, match="divide the counts"):
        correct(np.array([3.0, 1.0]), np.eye(2))
    with pytest.raises(InputError, match="does not fit"):
        correct(np.array([0.5, 0.5]), np.eye(3))


def test_a_class_without_real_images_is_estimated_from_the_others(tmp_path, monkeypatch) -> None:
    """A probe that misreads every third small image as large would do so on the missing class too."""
    monkeypatch.setenv("CONCEPTLAB_CACHE", str(tmp_path / "cache"))
    folder = write_folder(tmp_path / "data", {**everything(20), "111": 0})
    world = open_data(folder, DataOptions(variables=("shape", "size", "colour")))
    samples = world.reserved("held-out").dataset(
        Split(world.space, dict.fromkeys(world.reserved("held-out").seen, 3)), 0
    )
    known = {image.numpy().tobytes(): label for image, label in zip(samples.images, samples.labels)}

    class ErrsInSize(Probe):
        kind, space, image_shape = "test", world.space, world.image_shape
        settings = {}  # noqa: RUF012

        def read(self, images):
            labels = torch.stack([known[image.numpy().tobytes()] for image in images])
            small = (labels[:, 1] == 1).nonzero()[::3, 0]
            labels[small, 1] = 0
            return {n: torch.eye(2)[labels[:, i]] for i, n in enumerate(world.space.names)}

    found = validate(ErrsInSize(), world, images_per_class=6)
    missing, wrong = world.space.parse("110"), world.space.parse("100")
    row = found.confusion[world.space.classes.index(missing)]
    assert sum(row) == pytest.approx(1)
    assert row[world.space.classes.index(missing)] == pytest.approx(2 / 3, abs=0.02)
    assert row[world.space.classes.index(wrong)] == pytest.approx(1 / 3, abs=0.02)
