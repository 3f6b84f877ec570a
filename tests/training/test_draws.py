"""The numbers of a step, drawn along with those of its neighbours, are those drawn for it alone."""

from __future__ import annotations

import pytest
import torch

from conceptlab import random
from conceptlab.recipe import Recipe
from conceptlab.training import draws
from conceptlab.training.draws import Draws

CPU = torch.device("cpu")
IMAGE = (3, 8, 8)
LAYERS = (0, 3)


def made(seeds: tuple[int, ...] = (0, 7), batch: int = 4) -> Draws:
    return Draws([Recipe(train={"0": 1}, seed=s, batch=batch) for s in seeds], IMAGE, LAYERS, CPU)


def expected(seed: int, step: int, batch: int = 4) -> dict[str, torch.Tensor]:
    """Straight from the generator, by (seed, purpose, step)."""
    keys = {p: random.fold(random.key(seed, p), step) for p in draws.PURPOSES}
    return {
        **{purpose: random.uniform(keys[purpose], (batch,)) for purpose in draws.UNIFORMS},
        "noise": random.normal(keys["noise"], (batch, *IMAGE)),
        "dropout": torch.stack([random.fold(keys["dropout"], layer) for layer in LAYERS]),
    }


def test_numbers_follow_from_seed_purpose_and_step_in_any_order_of_steps():
    ours = made()
    assert ours.steps_at_once > 1
    for step in (0, 1, 2, ours.steps_at_once, 5 * ours.steps_at_once + 1, 3, 2**31 - 1):
        drawn = ours.at(torch.tensor(step))
        for member, seed in enumerate((0, 7)):
            own = expected(seed, step)
            assert torch.equal(drawn.dropout[:, member], own.pop("dropout"))
            for purpose, numbers in own.items():
                assert torch.equal(getattr(drawn, purpose)[member], numbers), (purpose, step)


def test_large_images_are_drawn_step_by_step_and_small_ones_are_not_held_without_end(monkeypatch):
    assert made(batch=1).steps_at_once == draws.MOST_STEPS
    assert made(batch=draws.AT_ONCE).steps_at_once == 1
    several = made().at(torch.tensor(5))
    monkeypatch.setattr(draws, "AT_ONCE", 0)
    single = made()
    assert single.steps_at_once == 1
    for ours, theirs in zip(several, single.at(torch.tensor(5))):
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize("purpose", draws.UNIFORMS)
def test_members_of_one_seed_draw_the_same_and_others_do_not(purpose):
    first, second, third = getattr(made((3, 3, 4)).at(torch.tensor(9)), purpose)
    assert torch.equal(first, second)
    assert not torch.equal(first, third)
