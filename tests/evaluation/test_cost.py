"""What a plan says of passes of the network, against those that are made: counted where every one of them comes by."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest
import torch
from torch import Tensor

from conceptlab import executors
from conceptlab.concepts import Split
from conceptlab.denoisers import Denoiser
from conceptlab.evaluation import Context, Live, build, composition, drawn_images, evaluation_flops
from conceptlab.recipe import Evaluation, Part, Recipe
from conceptlab.store import Store
from conceptlab.training import Cohort
from conceptlab.training.cost import model_flops
from conceptlab.worlds import build as build_world
from tests.tiny import tiny_recipe

WORLD = {"name": "discs", "resolution": 16, "cells": 4, "radius": 2.0, "gap": 2.0, "most": 5}
UNET = {"name": "grid_unet", "channels": [16, 32], "blocks_per_level": 1, "attention": [4, 2], "patch": 4}


class Passes:
    """Images that networks of a class see, whoever shows them; a way back counts as `back` more."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, network: type[Denoiser], back: int) -> None:
        self.seen, denoise = 0, network.denoise

        def counted(denoiser: Denoiser, x: Tensor, *rest: Any) -> Tensor:
            self.seen += len(x)
            found = denoise(denoiser, x, *rest)
            if found.requires_grad:
                found.register_hook(lambda gradient: self._returned(back * len(gradient)))
            return found

        monkeypatch.setattr(network, "denoise", counted)

    def _returned(self, passes: int) -> None:
        self.seen += passes


@pytest.mark.parametrize("ema", [False, True])
@pytest.mark.parametrize(
    "measurement",
    [
        {"name": "accuracy"},
        {"name": "patch", "images": 3},
        {"name": "patch", "images": 2, "classes": ["111"]},
        {"name": "norms", "batch": 6},
        {"name": "norms", "batch": 200},
        {"name": "full_sampling", "images": 3, "evaluations": 2, "steps": 5},
        {"name": "orthogonality", "images": 3},
    ],
)
def test_a_run_makes_the_passes_that_are_planned(tmp_path, monkeypatch, measurement: Part, ema: bool) -> None:
    settings = replace(tiny_recipe().evaluation, ema=ema, measurements=(measurement,))
    # The last checkpoint comes too late to be patched.
    recipe = tiny_recipe(evaluation=settings, keep=(3, 9, 12))
    planned = 3 * recipe.steps * recipe.batch + evaluation_flops(recipe) / model_flops(recipe)
    passes = Passes(monkeypatch, type(Cohort([recipe]).member(0)[0]), back=2)
    executors.run([recipe], Store(tmp_path), torch.device("cpu"), lambda members, steps: None)
    assert passes.seen == planned


LOCALITY = {"name": "locality", "images": 5, "places": 2, "levels": [-2.0, 3.0], "among": 2, "counts": [1, 3]}


@pytest.mark.parametrize("ema", [False, True])
@pytest.mark.parametrize(
    ("measurement", "told"),
    [
        ({"name": "composition", "conditions": 7, "counts": [1, 3]}, "location"),
        ({"name": "composition", "conditions": 300, "counts": [2, 2]}, "both"),  # more than one batch
        (LOCALITY, "location"),
        (LOCALITY, "colour"),  # nothing can be moved
    ],
)
def test_measurements_of_objects_make_the_passes_that_are_planned(
    monkeypatch, measurement: Part, told: str, ema: bool
) -> None:
    evaluation = Evaluation(
        count=2, sampler_steps=3, ema=ema, probe={"name": "detector"}, measurements=(measurement,)
    )
    recipe = Recipe(
        world={**WORLD, "told": told},
        train={"1": 8, "2": 1},
        denoiser=UNET,
        steps=4,
        ema=0.9,
        evaluation=evaluation,
    )
    planned = evaluation_flops(recipe) / model_flops(recipe)
    # What is seen in the drawings makes no difference to how many there are.
    monkeypatch.setattr(composition, "share_met", lambda *_: 0.0)
    world, cohort = build_world(**recipe.world), Cohort([recipe])
    context = Context(recipe, world, Split(world.space, recipe.train), cast(Any, None), None)
    (made,) = build(evaluation.measurements)
    passes = Passes(monkeypatch, type(cohort.member(0)[0]), back=1)
    for step in recipe.evaluation_steps():
        for weights in evaluation.weights:
            list(made.rows(Live(context, step, weights, *cohort.member(0, weights), {}, {})))
    assert passes.seen == planned > 0


def test_what_is_drawn_to_be_shown_is_planned_too() -> None:
    evaluation = Evaluation(probe={"name": "detector"}, measurements=({"name": "length", "most": 3},))
    recipe = Recipe(world=WORLD, train={"1": 8}, denoiser=UNET, evaluation=evaluation)
    few, many = (
        drawn_images(replace(recipe, evaluation=replace(evaluation, shown=shown)), 4) for shown in (1, 4)
    )
    assert many - few == 3 * len(build_world(**WORLD).space.classes)
