"""Locality and composition of live networks: where locality is enforced, the answers are exact."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor

from conceptlab import random
from conceptlab.concepts import Split
from conceptlab.denoisers import Denoiser, Embedding
from conceptlab.errors import InputError
from conceptlab.evaluation import Context, Live, build
from conceptlab.evaluation.composition import Singles, composed_output, sample_composed, sample_jointly
from conceptlab.evaluation.locality import Level
from conceptlab.evaluation.locality_rows import asked_scenes
from conceptlab.probes import train_probe
from conceptlab.probes.learned import Fitting
from conceptlab.recipe import Evaluation, Recipe
from conceptlab.training import Cohort
from conceptlab.worlds import Discs, derived_seed
from conceptlab.worlds import build as build_world
from tests.evaluation import small

WORLD = {"name": "discs", "resolution": 16, "cells": 4, "radius": 2.0, "gap": 2.0, "most": 5}
UNET = {"name": "grid_unet", "channels": [16, 32], "blocks_per_level": 1, "attention": [4, 2], "patch": 4}


CELLS = {"name": "cells", "width": 16, "blocks": 3}


@cache
def live(name: str, reach: int = 0) -> Live:
    """A network after a few steps of training, so that nothing is zero any more: "unet", or "cells" of some reach."""
    denoiser = UNET if name == "unet" else {**CELLS, "reach": reach}
    made = Recipe(
        world=WORLD,
        train={"1": 8, "2": 8},
        denoiser=denoiser,
        prediction="v",
        steps=4,
        batch=8,
        evaluation=Evaluation(count=1, sampler_steps=3, second_probe=None),
    )
    cohort = Cohort([made])
    cohort.advance(4)
    world = build_world(**made.world)
    # Nothing here asks the judge anything, unless a test gives it one that can answer.
    judge = train_probe(build_world("circles", resolution=16), "analytic")
    return Live(
        Context(made, world, Split(world.space, made.train), judge, None), 4, "raw", *cohort.member(0), {}, {}
    )


def rows(now: Live, **settings: Any) -> dict[tuple[str, str], float]:
    chosen = {"images": 6, "places": 2, "levels": [-2.0, 3.0], "among": 2, "counts": [1, 3], "map_radius": 6}
    (made,) = build([{"name": "locality", **chosen, **settings}])
    return {(row.measure, row.variable): row.value for row in made.rows(now)}


def test_enforced_locality_is_measured_as_such() -> None:
    found = rows(live("cells"))
    for level in ("-2", "3"):
        assert found["pixel_mass", f"{level}|3"] == pytest.approx(1), "a cell has four pixels each way"
        assert found["far_near", level] == 0
        assert found["removed_change", f"{level}|0.25"] > 0
        assert found["removed_change", f"{level}|1.75"] == 0
        assert found["moved_far_near", level] == 0
        assert found["moved_change", f"{level}|0.25"] > 0
        assert found["moved_change", f"{level}|1.75"] == 0
        assert found["removed_mass", f"{level}|1"] == pytest.approx(1)
        assert found["moved_mass", f"{level}|1"] == pytest.approx(1)
        # What a cell does with its own condition has nothing to do with how many others there are.
        assert found["near_gain", level] == pytest.approx(
            found["near_change", f"{level}|3"] / found["near_change", f"{level}|1"]
        )
        assert 0 <= found["pixel_reach", level] < 0.5
        assert 0 < found["condition_share", level] < 1


def test_attention_reaches_everywhere() -> None:
    found = rows(live("unet"))
    assert found["pixel_mass", "3|3"] < 1
    assert found["far_near", "3"] > 0
    assert found["moved_far_near", "3"] > 0
    assert found["moved_mass", "3|1"] < found["moved_mass", "3|2"] < 1
    assert max(value for (measure, _), value in found.items() if measure == "pixel_map") == pytest.approx(1)
    assert {("removed_map", "3|0|0"), ("moved_map", "3|0|0")} <= found.keys()
    assert rows(live("unet")) == found, "the same network measures the same"


class Painting(Denoiser):
    """Adds one whole image for each cell that is asked for: x̂ = z-part + Σ cells · images, images (cells², H, W)."""

    def __init__(self, images: Tensor) -> None:
        super().__init__((3, 16, 16), (1, 4, 4))
        self.images = torch.nn.Parameter(images)

    def embed(self, condition: Tensor) -> Embedding:
        return {"grid": condition.flatten(1)}

    def denoise(self, x: Tensor, time: Tensor, embedding: Embedding) -> Tensor:
        return torch.einsum("bn,nhw->bhw", embedding["grid"], self.images)[:, None].expand_as(x)


def test_a_response_everywhere_and_one_anywhere_have_no_place() -> None:
    """A flat image for each condition, and white noise instead: neither knows where the condition is."""
    alike = rows(replace(live("cells"), denoiser=Painting(torch.ones(16, 16, 16))))
    assert alike["far_near", "3"] == pytest.approx(1)
    assert alike["removed_change", "3|0.25"] == pytest.approx(alike["removed_change", "3|1.75"])
    assert math.isnan(alike["moved_far_near", "3"]), "all cells alike: where the condition is changes nothing"
    # Every cell its own shade. Images that change more weigh more, so the ratio is one only nearly.
    shades = torch.arange(1, 17.0)[:, None, None].expand(16, 16, 16)
    flat = rows(replace(live("cells"), denoiser=Painting(shades)), images=64)
    assert flat["moved_far_near", "3"] == pytest.approx(1, abs=0.1)
    # Half a cell around two places: two squares of 4 × 4 pixels of 256.
    assert flat["moved_mass", "3|0.5"] == pytest.approx(32 / 256)
    junk = Painting(random.normal(random.key(2, "test"), (16, 16, 16)))
    anywhere = rows(replace(live("cells"), denoiser=junk), images=64)
    assert anywhere["moved_far_near", "3"] == pytest.approx(1, abs=0.15)
    assert anywhere["far_near", "3"] == pytest.approx(1, abs=0.15)


def test_a_network_that_ignores_its_conditions_has_no_ratio() -> None:
    found = rows(replace(live("cells"), denoiser=Painting(torch.zeros(16, 16, 16))))
    assert found["moved_change", "3|0.25"] == found["removed_change", "3|0.25"] == 0
    assert all(math.isnan(found[name, "3"]) for name in ("far_near", "moved_far_near", "near_gain"))
    assert math.isnan(found["moved_mass", "3|2"])


def test_locality_is_measured_at_the_end_and_of_the_average_where_there_is_one() -> None:
    now = live("cells")
    assert not rows(replace(now, step=1))
    averaged = replace(
        now.context.recipe, evaluation=replace(now.context.recipe.evaluation, ema=True), ema=0.9
    )
    with_average = replace(now, context=replace(now.context, recipe=averaged))
    assert not rows(with_average)
    assert rows(replace(with_average, weights="ema")) == rows(now)


def test_any_denoiser_has_its_pixel_part() -> None:
    made = small.recipe(steps=1)
    cohort = Cohort([made])
    cohort.advance(1)
    found = rows(Live(small.context(made), 1, "raw", *cohort.member(0), {}, {}))
    assert {measure for measure, _ in found} == {"pixel_reach", "pixel_mass", "condition_share", "pixel_map"}
    assert found["pixel_mass", "3|8"] <= 1


def test_asked_scenes_differ_in_one_condition_each_in_turn() -> None:
    world = Discs()
    scene = asked_scenes(world, 3, 5, 0)
    assert scene["all"].sum((1, 2, 3)).tolist() == [3] * 5
    assert scene["moved"].sum((2, 3, 4)).tolist() == [[3] * 3] * 5
    assert scene["removed"].sum((2, 3, 4)).tolist() == [[2] * 3] * 5
    assert scene["centres"].shape == (5, 4, 2)
    cells, at = world.cell_of(scene["centres"]).long(), torch.arange(5)
    free = cells[:, 3]
    for i in range(3):
        own, removed, moved = cells[:, i], scene["removed"][:, i], scene["moved"][:, i]
        assert (scene["all"] - removed)[at, 0, own[:, 1], own[:, 0]].tolist() == [1] * 5
        assert (moved - removed)[at, 0, free[:, 1], free[:, 0]].tolist() == [1] * 5
    with pytest.raises(InputError, match=r"world\.most"):
        asked_scenes(world, 12, 2, 0)


class Second(Painting):
    """Answers one condition alone: that which is furthest down the image, and last in its row."""

    def embed(self, condition: Tensor) -> Embedding:
        asked = condition.flatten(1)
        last = (asked * torch.arange(1, 17.0)).argmax(1)
        return {"grid": torch.nn.functional.one_hot(last, 16).float()}


def test_every_condition_of_a_scene_is_changed_and_not_the_first_alone() -> None:
    """Of a network that answers one condition of three, a third of the conditions change what it draws if removed."""
    shades = torch.arange(1, 17.0)[:, None, None].expand(16, 16, 16)
    now = replace(live("cells"), denoiser=Second(shades))
    found = rows(now, among=3, images=16, levels=[3.0])
    scenes = asked_scenes(
        now.context.world, 3, 8, derived_seed(now.context.recipe.seed, "evaluation/locality")
    )
    order = torch.arange(1, 17.0)
    last = (scenes["all"].flatten(1) * order).amax(1)
    left = (scenes["removed"].flatten(2) * order).amax(2)
    sigma = Level(*Cohort([now.context.recipe]).member(0), "v", 3.0).sigma
    # The same everywhere in an image, so at any distance that all images have.
    assert found["removed_change", "3|0.25"] == pytest.approx(
        float(sigma * (last[:, None] - left).mean()), rel=0.05
    )
    assert ((last[:, None] - left) > 0).sum(1).tolist() == [1] * 8


def test_nothing_changes_out_of_reach_unless_a_network_lies_about_it() -> None:
    one = rows(live("cells", 1))
    for level in ("-2", "3"):
        assert rows(live("cells"))["beyond_reach", level] == 0
        assert one["beyond_reach", level] == 0
        assert one["removed_change", f"{level}|1.75"] > 0, "the next cell is in reach"
    liar = Painting(torch.ones(16, 16, 16))
    liar.reach = 1
    found = rows(replace(live("cells"), denoiser=liar))
    assert found["beyond_reach", "3"] == pytest.approx(found["removed_change", "3|0.25"])
    # One cell further than it says is out of reach, too.
    further = copy.deepcopy(live("cells", 2).denoiser)
    further.reach = 1
    assert rows(replace(live("cells", 2), denoiser=further))["beyond_reach", "3"] > 0
    # A reach is told of no other network, and nothing is out of a reach of the whole image.
    assert ("beyond_reach", "3") not in rows(live("unet"))
    liar.reach = 3
    assert ("beyond_reach", "3") not in rows(replace(live("cells"), denoiser=liar))


def test_a_network_of_single_cells_composes_exactly_and_attention_does_not() -> None:
    for network, exact in (("cells", True), ("unet", False)):
        now = live(network)
        world = now.context.world
        assert isinstance(world, Discs)
        factors = world.draw((3,), 4, 0)
        number = torch.arange(world.most)
        told = torch.stack([world.grid(factors, (number == j).repeat(4, 1)) for j in range(3)], 1)
        singles = Singles(told.flatten(0, 1), torch.arange(4).repeat_interleave(3))
        nothing = torch.zeros(world.condition_shape)
        noise = random.normal(random.key(0, "test"), (4, *world.image_shape))
        parts = now.denoiser, now.process, now.context.recipe
        composed = sample_composed(*parts, singles, nothing, noise)
        joint = sample_jointly(*parts, world.ask(factors), noise)
        assert torch.allclose(composed, joint, atol=1e-4) == exact
        time = torch.full((4,), 0.5)
        none = composed_output(now.denoiser, noise, time, Singles(told[0, :0], singles.owner[:0]), nothing)
        torch.testing.assert_close(none, now.denoiser(noise, time, nothing.expand(4, -1, -1, -1)))


def test_composition_is_measured_by_what_a_detector_finds() -> None:
    now = live("cells")
    judge = train_probe(now.context.world, "detector", images_per_class=8, fitting=Fitting(steps=3))
    setting = replace(now.context, judge=judge)
    (made,) = build([{"name": "composition", "conditions": 12, "counts": [1, 3]}])
    found = {(row.cls, row.measure): row.value for row in made.rows(replace(now, context=setting))}
    assert found["3", "composed_difference"] < 1e-4
    assert found["3", "composed_share"] == found["3", "joint_share"]
    assert not list(made.rows(replace(now, context=setting, step=1)))
    with pytest.raises(InputError, match="needs a detector"):
        made.check(now.context)
    told = build_world(**{**now.context.recipe.world, "told": "colour"})
    with pytest.raises(InputError, match="told by their location"):
        made.check(replace(now.context, world=told))


@pytest.mark.parametrize(
    "part",
    [
        {"name": "locality", "images": 1},
        {"name": "locality", "counts": [0]},
        {"name": "composition", "counts": []},
    ],
)
def test_bad_settings_are_named(part) -> None:
    with pytest.raises(InputError, match=part["name"]):
        build([part])
