"""What a network costs, counted against torch's own counter."""

from __future__ import annotations

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from conceptlab.denoisers import build
from conceptlab.training.cost import member_bytes, model_flops, world_of
from tests.tiny import tiny_recipe


@pytest.mark.parametrize(
    "part",
    [
        {"name": "film"},
        {"name": "okawa2023", "features": 16, "condition_groups": [2, 3, 1], "attention": True},
    ],
)
def test_arithmetic_is_what_torch_counts(part):
    recipe = tiny_recipe(denoiser=part)
    world = world_of(recipe)
    denoiser = build(image_shape=world.image_shape, condition_shape=world.condition_shape, seed=0, **part)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        denoiser.eval()(torch.zeros(1, *world.image_shape), torch.zeros(1), torch.zeros(1, 6))
    assert model_flops(recipe) == counter.get_total_flops() > 0


def test_a_plan_leaves_threads_and_random_numbers_as_they_were():
    before = torch.get_num_threads(), torch.random.get_rng_state()
    member_bytes(tiny_recipe(denoiser={"name": "film", "channels": [16, 24]}))
    assert torch.get_num_threads() == before[0]
    assert torch.equal(torch.random.get_rng_state(), before[1])
