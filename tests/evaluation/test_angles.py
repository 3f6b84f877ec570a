"""Angles between concepts: a network that passes on what it sees, one that mixes it up, and what cannot be measured."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from conceptlab.concepts import ConceptSpace, Split, Variable
from conceptlab.errors import InputError
from conceptlab.evaluation import Context, Live, build
from conceptlab.evaluation.angles import centre_of
from conceptlab.evaluation.measurement import Row
from conceptlab.recipe import Recipe
from conceptlab.training import Cohort
from conceptlab.worlds import build as build_world
from tests.evaluation import small


def live(made: Recipe, step: int | None = None) -> Live:
    denoiser, process = Cohort([made]).member(0)
    return Live(small.context(made), made.steps if step is None else step, "raw", denoiser, process, {}, {})


def angles(at: Live, **settings: object) -> dict[str, float]:
    rows: list[Row] = list(build([{"name": "orthogonality", "images": 40, **settings}])[0].rows(at))
    assert {row.measure for row in rows} <= {"orthogonality"}
    return {row.variable: row.value for row in rows}


def test_a_module_that_passes_images_on_has_the_angles_of_pixels() -> None:
    """At hardly any noise; and one that keeps a single number, how red it is, has every concept in line."""
    at = live(small.recipe())
    at.denoiser.enter = torch.nn.Identity()  # its output is the noisy image
    at.denoiser.forward = lambda z, time, condition: at.denoiser.enter(z)
    passed = angles(at, level=-9.0, module="enter")
    assert passed["bottleneck"] == pytest.approx(passed["pixels"], abs=0.02)
    at.denoiser.enter.forward = lambda z: z[:, :1].mean((1, 2, 3), keepdim=True)
    at.denoiser.forward = lambda z, time, condition: at.denoiser.enter(z).expand_as(z)
    assert angles(at, level=-9.0, module="enter")["bottleneck"] == pytest.approx(0, abs=1e-6)


def test_it_is_measured_at_the_end_and_the_same_each_time() -> None:
    made = small.recipe()
    assert angles(live(made, step=made.steps - 1)) == {}
    found = angles(live(made))
    assert set(found) == {"pixels", "bottleneck"}
    assert 0 < found["pixels"] < 1
    assert found == angles(live(made))


def test_the_centre_is_what_most_of_training_is_next_to() -> None:
    space = ConceptSpace([Variable(name, ("0", "1")) for name in ("shape", "size", "colour")])
    assert centre_of(Split(space, {"100": 1, "000": 1, "001": 1, "010": 1})) == (0, 0, 0)
    assert centre_of(Split(space, {"110": 1, "011": 1, "111": 1, "101": 1})) == (1, 1, 1)


def without_bottleneck() -> Context:
    made = small.recipe(
        world={"name": "discs", "resolution": 16, "cells": 4, "radius": 2.0, "most": 3},
        train={"1": 4},
        denoiser={"name": "cells", "width": 8, "blocks": 2},
    )
    world = build_world(**made.world)
    return replace(
        small.context(small.recipe()), recipe=made, world=world, split=Split(world.space, made.train)
    )


def test_what_has_no_angles_is_refused_before_training() -> None:
    plain = build([{"name": "orthogonality"}])[0]
    plain.check(small.context(small.recipe()))
    with pytest.raises(InputError, match="two variables or more"):
        plain.check(without_bottleneck())
    two = replace(without_bottleneck(), world=build_world("circles", resolution=16))
    flat = replace(two.recipe, denoiser={"name": "park2024", "channels": [16], "blocks_per_level": 1})
    with pytest.raises(InputError, match=r"no map of .* is coarser than another"):
        plain.check(replace(two, recipe=flat, split=Split(two.world.space, {"00": 8})))
    with pytest.raises(InputError, match="2 images or more, not 1"):
        build([{"name": "orthogonality", "images": 1}])
