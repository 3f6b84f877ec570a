from __future__ import annotations

import pytest
import torch

from conceptlab import random
from conceptlab.errors import InputError
from conceptlab.recipe import Masking, Recipe
from conceptlab.training import TrainingData
from conceptlab.training.data import training_set

WORLD = {"name": "circles", "resolution": 8}
TRAIN = {"00": 60, "01": 30, "10": 10}


def recipe(**changes) -> Recipe:
    return Recipe(**{"world": WORLD, "train": TRAIN, **changes})


def drawn_shares(*recipes: Recipe, n: int = 20_000) -> list[dict[str, float]]:
    data = TrainingData.of(recipes, torch.device("cpu"))
    keys = torch.stack([random.key(r.seed, "batch") for r in recipes])
    _, conditions = data.batch(random.uniform(keys, (n,)))
    found = []
    for r, own in zip(recipes, conditions):
        samples = training_set(r)
        codes = ["".join(map(str, row)) for row in samples.labels.tolist()]
        by_condition = {tuple(c): code for c, code in zip(samples.conditions.tolist(), codes)}
        seen = [by_condition[tuple(c)] for c in own.tolist()]
        found.append({code: seen.count(code) / n for code in TRAIN})
    return found


def test_images_are_drawn_as_often_as_the_recipe_says():
    plain, balanced, never = drawn_shares(
        recipe(), recipe(shares={"00": 1, "01": 1, "10": 1}), recipe(shares={"00": 3, "10": 1})
    )
    assert plain == pytest.approx({"00": 0.6, "01": 0.3, "10": 0.1}, abs=0.02)
    assert balanced == pytest.approx({"00": 1 / 3, "01": 1 / 3, "10": 1 / 3}, abs=0.02)
    assert never == pytest.approx({"00": 0.75, "01": 0.0, "10": 0.25}, abs=0.02)
    assert never["01"] == 0


def test_a_class_that_is_never_drawn_is_not_drawn_by_the_smallest_or_largest_number():
    made = recipe(shares={"01": 1.0})
    data = TrainingData.of([made], torch.device("cpu"))
    _, conditions = data.batch(torch.tensor([[0.0, 1 - 2**-24]]))
    samples = training_set(made)
    own = samples.conditions[(samples.labels == torch.tensor([0, 1])).all(1)]
    assert torch.equal(conditions[0], own[[0, -1]])


def test_members_with_data_of_different_sizes_keep_to_their_own():
    small, large = recipe(train={"00": 3}), recipe(train={"00": 50, "10": 50})
    data = TrainingData.of([small, large, small], torch.device("cpu"))
    assert len(data.images) == 103, "equal data sets are stored once"
    keys = torch.stack([random.key(s, "batch") for s in (0, 0, 1)])
    images, _ = data.batch(random.uniform(keys, (500,)))
    own = training_set(small).images
    for member in (0, 2):
        assert all((image == own).flatten(1).all(1).any() for image in images[member][:50])


def test_masking_hides_a_variable_in_a_share_of_a_class():
    masked = training_set(
        recipe(train={"00": 1000, "01": 1000}, masking=(Masking("colour", ("00",), 0.3, -1.0),))
    )
    hidden = (masked.conditions[:, :3] == -1.0).all(1)
    is_00 = (masked.labels == torch.tensor([0, 0])).all(1)
    assert hidden[is_00].float().mean().item() == pytest.approx(0.3, abs=0.05)
    assert not hidden[~is_00].any()
    assert not (masked.conditions[:, 3] == -1.0).any()


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"shares": {"11": 1.0}}, "no training images"),
        ({"masking": (Masking("shape", ("00",), 0.5),)}, "colour, size"),
        ({"masking": (Masking("colour", (), 0.5),)}, "a masking of colour names no class"),
        ({"masking": (Masking("colour", ("09",), 0.5),)}, "unknown value of 'size'"),
    ],
)
def test_what_cannot_be_drawn_is_refused(changes, word):
    with pytest.raises(InputError, match=word):
        TrainingData.of([recipe(**changes)], torch.device("cpu"))
