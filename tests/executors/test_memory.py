from __future__ import annotations

import pytest
import torch

from conceptlab.errors import InputError
from conceptlab.executors.memory import MOST, SHARE, fitting, halving
from conceptlab.recipe import Recipe
from conceptlab.training.cost import member_bytes

RECIPES = [
    Recipe(world={"name": "circles"}, train={"00": 16}, denoiser={"name": "film"}, seed=seed)
    for seed in range(40)
]


def test_cohorts_are_of_one_size_and_fit():
    room = 12.5 * member_bytes(RECIPES[0]) / SHARE
    groups = fitting(RECIPES, room)
    assert [len(group) for group in groups] == [10, 10, 10, 10]
    assert [recipe for group in groups for recipe in group] == RECIPES
    assert [len(group) for group in fitting(RECIPES[:13], room)] == [7, 6]


def test_memory_without_end_still_has_a_limit_and_none_still_trains_one():
    assert max(map(len, fitting(RECIPES, float("inf")))) <= MOST
    assert [len(group) for group in fitting(RECIPES[:3], 0)] == [1, 1, 1]


def test_larger_batches_and_networks_need_more():
    small = RECIPES[0]
    assert member_bytes(small.with_settings({"batch": 128})) > member_bytes(small)
    assert member_bytes(small.with_settings({"precision": "bfloat16"})) < member_bytes(small)


def test_running_out_of_memory_halves_until_it_fits(caplog):
    trained: list[list[Recipe]] = []

    def train(group: list[Recipe]) -> None:
        if len(group) > 3:
            raise torch.cuda.OutOfMemoryError("no room")
        trained.append(group)

    halving(RECIPES[:10], train)
    assert [recipe for group in trained for recipe in group] == RECIPES[:10]
    assert "10 members" in caplog.text


def test_one_model_that_does_not_fit_is_bad_input():
    def train(group: list[Recipe]) -> None:
        raise torch.cuda.OutOfMemoryError("no room")

    with pytest.raises(InputError, match="batch"):
        halving(RECIPES[:2], train)
