"""A member of a cohort is the model it would be alone; a resumed run is the run it would have been."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn

from conceptlab.denoisers import _DENOISERS
from conceptlab.denoisers.film import Film
from conceptlab.errors import InputError
from conceptlab.evaluation import Prompt, generate
from conceptlab.recipe import Optimiser, Recipe
from conceptlab.training import Cohort, cohort_key
from tests.tiny import distance

WORLD = {"name": "shapes", "resolution": 8, "shapes": ["circle", "triangle"]}
CIRCLES = {"name": "circles", "resolution": 16}
DISCS = {"name": "discs", "resolution": 16, "cells": 8, "radius": 2.0, "gap": 2.0, "most": 3}
ADVICE = pytest.mark.filterwarnings("ignore::UserWarning")
"""Of torch's compiler, which warns where it could do better."""


def recipe(**changes) -> Recipe:
    settings = {
        "world": WORLD,
        "train": {"000": 20, "100": 20},
        "denoiser": {"name": "film", "channels": [8, 16]},
        "prediction": "v",
        "steps": 100,
        "batch": 4,
        "optimiser": Optimiser(learning_rate=2e-3, weight_decay=0.01, clip=0.5, decay="cosine", warmup=5),
        "ema": 0.9,
    }
    return Recipe(**{**settings, **changes})


COHORTS = {
    "seeds": [recipe(seed=s) for s in range(3)],
    "data": [
        recipe(train={"000": 20, "100": 20}),
        recipe(train={"000": 5, "111": 30}),
        recipe(world={**WORLD, "colour_jitter": 0.02}),
    ],
    "scalars": [
        recipe(optimiser=Optimiser(learning_rate=1e-3, clip=0.01, betas=(0.9, 0.99))),
        recipe(optimiser=Optimiser(learning_rate=3e-3, weight_decay=0.1)),
        recipe(optimiser=Optimiser(name="adam", weight_decay=0.01)),
    ],
    "frozen": [
        recipe(denoiser={"name": "film", "channels": [8, 16], "embedding": "frozen"}, seed=s) for s in (0, 5)
    ],
    "park2024, learned schedule, dropout, attention": [
        recipe(
            world={**CIRCLES, "colour_separation": d},
            train={"00": 10, "01": 10, "10": 10},
            denoiser={"name": "park2024", "channels": [16, 32], "blocks_per_level": 1, "dropout": 0.1},
            process={"name": "continuous", "gamma_min": -5.0, "gamma_max": 10.0, "learned": True},
            prediction="eps",
            loss="bound",
            times="antithetic",
            seed=s,
        )
        for d, s in ((0.2, 0), (0.4, 0), (0.2, 1))
    ],
    "okawa2023, discrete": [
        recipe(
            denoiser={"name": "okawa2023", "features": 16, "attention": True},
            process={"name": "discrete", "steps": 500},
            prediction="eps",
            pixels="unit",
            # The study's own: with a much larger rate, pooling and ReLU turn rounding into differences of a thousandth.
            optimiser=Optimiser(name="adam", learning_rate=1e-4, decay="linear"),
            seed=s,
        )
        for s in (0, 1)
    ],
    **{
        f"grid conditions, {denoiser['name']}": [
            recipe(world=DISCS, train={"1": 20, "2": 20}, denoiser=denoiser, seed=s) for s in (0, 1)
        ]
        for denoiser in (
            {"name": "grid_unet", "channels": [16, 32], "blocks_per_level": 1, "attention": [4], "patch": 2},
            {"name": "cells", "reach": 2, "width": 32},
        )
    },
}


@pytest.mark.parametrize("name", COHORTS)
def test_a_member_equals_its_solo_run(name):
    recipes = COHORTS[name]
    together = Cohort(recipes)
    start = together.weights.clone()
    together.advance(50)
    for index, alone in enumerate(recipes):
        solo = Cohort([alone])
        assert torch.equal(solo.weights[0], start[index])
        solo.advance(50)
        assert distance(together.weights[index], solo.weights[0]) <= 1e-4
        assert together.ema is not None
        assert solo.ema is not None
        assert distance(together.ema[index], solo.ema[0]) <= 1e-4
        assert distance(solo.weights[0], start[index]) > 1e-3, "it must have learned something"


def test_members_of_one_seed_see_the_same_noise_and_others_do_not():
    cohort = Cohort([recipe(seed=3), recipe(seed=3, train={"000": 20}), recipe(seed=4)])
    noise = cohort.draws.keys["noise"]
    assert torch.equal(noise[0], noise[1])
    assert not torch.equal(noise[0], noise[2])


def test_a_frozen_embedding_stays_and_the_rest_moves():
    cohort = Cohort([COHORTS["frozen"][0]])
    before = {name: view.clone() for name, view in cohort.layout.views(cohort.weights[0]).items()}
    cohort.advance(5)
    after = cohort.layout.views(cohort.weights[0])
    frozen = [name for name in before if "condition_embedding." in name]
    assert frozen
    assert all(torch.equal(before[name], after[name]) for name in frozen)
    assert any(not torch.equal(before[name], after[name]) for name in before if name not in frozen)


class Spare(Film):
    """It has layers that it does not use: one that would be stacked, and one that would not."""

    def __init__(self, *shapes, **settings) -> None:
        super().__init__(*shapes, **settings)
        self.spare, self.spare_too = nn.Linear(3, 3), nn.ConvTranspose2d(3, 3, 1)


@pytest.mark.parametrize("members", [1, 2])
def test_layers_that_are_not_used_take_nothing_from_what_the_others_learn(monkeypatch, members):
    monkeypatch.setitem(_DENOISERS._makers, "spare", Spare)
    views = []
    for name in ("film", "spare"):
        part = {"name": name, "channels": [8, 16]}
        cohort = Cohort([recipe(denoiser=part, seed=seed) for seed in range(members)])
        cohort.advance(3)
        views.append(cohort.layout.views(cohort.weights[-1]))
    plain, spare = views
    assert len(spare) == len(plain) + 4
    assert all(torch.allclose(plain[name], spare[name], atol=1e-6) for name in plain)


def test_going_on_from_a_state_is_bit_identical():
    straight, broken = Cohort([recipe()]), Cohort([recipe()])
    straight.advance(20)
    broken.advance(7)
    resumed = Cohort([recipe()])
    resumed.restore(0, broken.state(0))
    resumed.advance(13)
    assert torch.equal(resumed.weights, straight.weights)
    assert torch.equal(resumed.square, straight.square)


def test_going_back_to_a_state_repeats_the_steps_after_it():
    """What a step holds between calls (views of the weights, numbers drawn ahead) must follow."""
    cohort = Cohort([recipe()])
    cohort.advance(6)
    state = cohort.state(0)
    cohort.advance(9)
    first = cohort.weights.clone()
    cohort.restore(0, state)
    cohort.advance(9)
    assert torch.equal(cohort.weights, first)
    cohort.begin_from(0, Cohort([recipe()]).checkpoint(0))
    assert cohort.ema is not None
    assert torch.equal(cohort.ema, cohort.weights), "the average begins anew, too"
    cohort.mean.zero_()
    cohort.square.zero_()
    cohort.step.zero_()
    cohort.advance(6)
    assert torch.equal(cohort.weights[0], state["weights"])


def test_drawing_between_steps_leaves_training_as_it_was():
    """Dropout is off while images are drawn, and on again afterwards."""
    made = COHORTS["park2024, learned schedule, dropout, attention"][0]
    straight, looked_at = Cohort([made]), Cohort([made])
    straight.advance(4)
    looked_at.advance(2)
    network = looked_at.member(0)[0]
    assert not network.training
    prompt = Prompt("any", torch.zeros(network.condition_shape), 1, stream="any")
    first, second = (generate(looked_at, "raw", [[prompt]])[0]["any"] for _ in range(2))
    assert torch.equal(first, second)
    looked_at.advance(2)
    assert torch.equal(looked_at.weights, straight.weights)


def test_a_state_of_another_network_is_refused():
    other = Cohort([recipe(denoiser={"name": "film", "channels": [16, 32]})])
    with pytest.raises(InputError, match=f"of member {recipe().hash} does not fit its network"):
        Cohort([recipe()]).restore(0, other.state(0))


def test_only_what_fits_trains_together():
    assert cohort_key(recipe(seed=1)) == cohort_key(recipe(train={"111": 1}))
    assert cohort_key(recipe()) != cohort_key(recipe(batch=8))
    with pytest.raises(InputError, match="cannot train together"):
        Cohort([recipe(), recipe(batch=8)])


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=[pytest.mark.gpu, ADVICE])])
def test_a_diverging_member_does_not_touch_the_others(device):
    wild = recipe(optimiser=replace(recipe().optimiser, learning_rate=1e30), seed=1)
    cohort, alone = Cohort([recipe(), wild], device), Cohort([recipe()], device)
    cohort.advance(10)
    alone.advance(10)
    assert not torch.isfinite(cohort.weights[1]).all()
    assert distance(cohort.weights[0], alone.weights[0]) <= 1e-4


@pytest.mark.gpu
@ADVICE
@pytest.mark.parametrize("name", COHORTS)
def test_a_member_equals_its_solo_run_on_cuda(name):
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    recipes = COHORTS[name]
    together = Cohort(recipes, "cuda")
    together.advance(50)
    for index, alone in enumerate(recipes):
        solo = Cohort([alone], "cuda")
        solo.advance(50)
        assert distance(together.weights[index], solo.weights[0]) <= 1e-4


@pytest.mark.gpu
@ADVICE
@pytest.mark.parametrize("name", COHORTS)
def test_half_precision_on_cuda_learns_what_single_precision_on_a_cpu_does(name):
    """The kernels are for half precision alone, so this is where they meet whole networks."""
    exact, rough = (
        Cohort(COHORTS[name]),
        Cohort([replace(one, precision="bfloat16") for one in COHORTS[name]], "cuda"),
    )
    for _ in range(4):
        for cohort in (exact, rough):
            cohort.advance(25)
        for ours, theirs in zip(rough.take_losses(), exact.take_losses()):
            assert ours == pytest.approx(theirs, rel=0.05)


@pytest.mark.gpu
@ADVICE
def test_going_on_from_a_state_on_cuda_repeats_data_and_noise():
    straight, broken = Cohort([recipe(), recipe(seed=1)], "cuda"), Cohort([recipe(), recipe(seed=1)], "cuda")
    straight.advance(20)
    broken.advance(7)
    resumed = Cohort([recipe(), recipe(seed=1)], "cuda")
    for index in range(2):
        resumed.restore(index, broken.state(index))
    resumed.advance(12)
    assert int(resumed.step) == 19
    for ours, theirs in zip(resumed._draw(), _at_step(straight, 19)):
        assert torch.equal(ours, theirs), "data order and noise of a step must not depend on the interruption"
    straight.step.fill_(20)
    resumed.advance(1)
    assert distance(resumed.weights, straight.weights) <= 1e-4


def _at_step(cohort: Cohort, step: int) -> tuple[torch.Tensor, ...]:
    cohort.step.fill_(step)
    return cohort._draw()
