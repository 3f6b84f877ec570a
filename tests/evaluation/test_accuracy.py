"""The ordinary measurement, and the correction for a judge that errs on real images."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from conceptlab.evaluation import Accuracy, Live
from conceptlab.evaluation.measurement import read
from tests.evaluation.small import context, recipe


def live(confusion: np.ndarray | None, read_as: dict[str, list[str]]) -> Live:
    """A model whose images of each class are read as the given classes."""
    made = replace(context(recipe()), confusion=confusion)
    space = made.world.space
    read = {}
    for cls in space:
        labels = [space.parse(code) for code in read_as[space.code(cls)]]
        read[f"class {space.code(cls)}"] = {
            v.name: np.eye(len(v.values))[[label[i] for label in labels]]
            for i, v in enumerate(space.concepts)
        }
    images = {name: torch.zeros(1) for name in read}
    denoiser = torch.nn.Identity()
    return Live(made, 1, "raw", denoiser, denoiser, images, read)  # pyright: ignore[reportArgumentType]


def values(rows, measure: str) -> dict[str, float]:
    return {row.cls: row.value for row in rows if row.measure == measure and row.variable == ""}


def test_a_known_confusion_is_undone():
    codes = ["00", "01", "10", "11"]
    # The judge takes a fifth of 00 for 01; the model draws only what was asked.
    confusion = np.eye(4)
    confusion[0] = [0.8, 0.2, 0, 0]
    read_as = {code: [code] * 10 for code in codes} | {"00": ["00"] * 8 + ["01"] * 2}
    rows = list(Accuracy().rows(live(confusion, read_as)))
    assert values(rows, "accuracy")["00"] == pytest.approx(0.8)
    assert values(rows, "corrected") == pytest.approx(dict.fromkeys(codes, 1.0), abs=1e-6)


def test_rendered_worlds_are_not_corrected():
    codes = ["00", "01", "10", "11"]
    rows = list(Accuracy().rows(live(None, {code: [code] * 4 for code in codes})))
    assert values(rows, "corrected") == {}
    assert values(rows, "accuracy") == dict.fromkeys(codes, 1.0)


def test_a_second_probe_is_asked_about_every_class():
    codes = ["00", "01", "10", "11"]
    made = live(None, {code: [code] * 4 for code in codes} | {"11": ["11"] * 3 + ["01"]})
    world = made.context.world
    # Real images of the classes, which the second probe reads right: it differs where the judge misread one.
    images = {f"class {world.space.code(cls)}": world.sample(cls, 4, seed=0).images for cls in world.space}
    second = read(made.context.judge, images)
    seen = replace(made, context=replace(made.context, second=made.context.judge), second=second)
    found = values(Accuracy().rows(seen), "disagreement")
    assert found == {"00": 0.0, "01": 0.0, "10": 0.0, "11": 0.25}
    # Where the judge reads nothing and the second something, they differ as well.
    seen.read["class 10"] |= {name: np.zeros((4, 2)) for name in world.space.names}  # type: ignore
    assert values(Accuracy().rows(seen), "disagreement")["10"] == 1.0


def test_an_empty_image_belongs_to_no_class_after_correction_either():
    made = live(np.eye(4), {code: [code] * 4 for code in ("00", "01", "10", "11")})
    for table in made.read["class 11"].values():
        table[0] = 0.0
    assert values(Accuracy().rows(made), "corrected")["11"] == pytest.approx(0.75)
    for table in made.read["class 11"].values():
        table[:] = 0.0
    assert values(Accuracy().rows(made), "corrected")["11"] == 0.0
