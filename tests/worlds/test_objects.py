"""Worlds of several objects: exact centres, nested layouts, conditions that say what they should."""

from __future__ import annotations

import json

import pytest
import torch

from conceptlab.concepts import Split
from conceptlab.errors import InputError
from conceptlab.worlds import ObjectWorld, build

SMALL_SCENES = {"resolution": 16, "cells": 8, "most": 4}
WORLDS = {"discs": ("discs", {}), "scenes": ("scenes", SMALL_SCENES)}


def made(name: str, **settings) -> ObjectWorld:
    world = build(name, **settings)
    assert isinstance(world, ObjectWorld)
    return world


@pytest.fixture(params=WORLDS)
def world(request: pytest.FixtureRequest) -> ObjectWorld:
    name, settings = WORLDS[request.param]
    return made(name, **settings)


def test_samples_have_the_promised_shapes(world: ObjectWorld) -> None:
    samples = world.sample((3,), 5, seed=1)
    assert samples.images.shape == (5, *world.image_shape)
    assert samples.images.dtype == samples.conditions.dtype == torch.float32
    assert samples.conditions.shape == (5, *world.condition_shape)
    assert samples.labels.tolist() == [[3]] * 5
    assert 0 <= samples.images.min() < samples.images.max() <= 1
    assert all(len(values) == 5 for values in samples.factors.values())


def test_fewer_images_are_the_first_of_more_and_seeds_differ(world: ObjectWorld) -> None:
    many, few, other = world.sample((2,), 6, 3), world.sample((2,), 3, 3), world.sample((2,), 6, 4)
    assert ((many.images[:3] - few.images).abs() * 255).max() < 1.5
    assert torch.equal(many.conditions[:3], few.conditions)
    assert not torch.equal(many.conditions, other.conditions)


def test_one_more_object_changes_nothing_else(world: ObjectWorld) -> None:
    fewer, more = world.draw((2,), 4, seed=2), world.draw((3,), 4, seed=2)
    assert {name for name in fewer if not torch.equal(fewer[name], more[name])} == {"count", "labelled"}
    one, two = world.layouts(2, 4, 2)[0], world.layouts(3, 4, 2)[0]
    added = two - one
    assert (added >= 0).all()
    assert added.sum((1, 2, 3)).tolist() == [1.0] * 4


def test_no_two_centres_share_a_cell_and_all_lie_in_the_image(world: ObjectWorld) -> None:
    conditions, centres = world.layouts(world.most, 40, seed=0)
    assert conditions.max() == 1
    assert conditions.sum((1, 2, 3)).tolist() == [float(world.most)] * 40
    assert centres.min() > 0
    assert centres.max() < world.resolution


def test_a_condition_is_a_one_in_the_cell_of_the_centre(world: ObjectWorld) -> None:
    conditions, centres = world.layouts(1, 6, seed=0)
    x, y = (centres[:, 0] / world.cell).long().unbind(1)
    assert torch.equal(conditions[torch.arange(6), 0, y, x], torch.ones(6))


def test_an_object_changes_the_image_at_its_centre(world: ObjectWorld) -> None:
    fewer, more = world.draw((2,), 8, seed=2), world.draw((3,), 8, seed=2)
    changed = (world.render(fewer) - world.render(more)).abs().amax(1)
    x, y = more["centres"][:, 2].long().unbind(1)
    assert (changed[torch.arange(8), y, x] > 0.02).all()


def test_one_random_object_is_labelled(world: ObjectWorld) -> None:
    one = build(world.name, **{**world.settings, "labelled": "one"})
    assert isinstance(one, ObjectWorld)
    samples, every = one.sample((3,), 90, seed=0), world.sample((3,), 90, seed=0)
    assert torch.equal(samples.images, every.images)
    assert samples.conditions.sum((1, 2, 3)).tolist() == [1.0] * 90
    assert (samples.conditions <= every.conditions).all()
    # Each of the three has its turn: 30 expected, 4.5 standard deviations allowed.
    assert (samples.factors["labelled"].sum(0)[:3] - 30).abs().max() <= 20
    # Asked for all of them, it says all of them.
    assert torch.equal(one.layouts(3, 4, 1)[0], world.layouts(3, 4, 1)[0])


def test_colours_are_told_with_or_without_locations(world: ObjectWorld) -> None:
    settings = {**world.settings, "colours": 4}
    both = made(world.name, **{**settings, "told": "both"})
    colour = made(world.name, **{**settings, "told": "colour"})
    factors = both.draw((3,), 5, seed=0)
    told = both.ask(factors)
    assert told.shape[1] == 5
    assert torch.equal(told[:, 0], told[:, 1:].sum(1))
    counts = torch.nn.functional.one_hot(factors["colour"][:, :3].long(), 4).sum(1).float()
    assert torch.equal(told[:, 1:].sum((2, 3)), counts)
    everywhere = colour.ask(factors)
    assert torch.equal(everywhere, counts[..., None, None].expand_as(everywhere))


def test_classes_count_objects_and_settings_survive_json(world: ObjectWorld) -> None:
    assert world.space.code(world.space.parse(str(world.most))) == str(world.most)
    data = world.dataset(Split(world.space, {"1": 2, "3": 1}), seed=0)
    assert data.factors["count"].tolist() == [1, 1, 3]
    again = build(world.name, **json.loads(json.dumps(world.settings)))
    assert again == world


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"cells": 7}, "not a multiple of 7 cells"),
        ({"labelled": "some"}, "known: all, one"),
        ({"told": "size"}, "known: location, colour, both"),
        ({"colours": 9}, "palette has 8"),
        ({"most": 0}, "most=0 must be a whole number"),
    ],
)
def test_bad_settings_are_one_line(settings: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        build("discs", **settings)


def test_too_many_objects_are_refused(monkeypatch) -> None:
    monkeypatch.setattr("conceptlab.worlds.placement.ATTEMPTS", 3)
    with pytest.raises(InputError, match="do not fit into one scene"):
        build("discs", resolution=16, cells=4, most=12).sample((1,), 2, 0)


def test_more_objects_than_the_world_holds_are_refused(world: ObjectWorld) -> None:
    beyond = world.most + 1
    message = f"{beyond} objects are asked for; scenes of this world hold 0 to {world.most}"
    for ask in (
        lambda: world.sample((beyond,), 2, seed=0),
        lambda: world.draw((beyond,), 2, seed=0),
        lambda: world.layouts(beyond, 2, seed=0),
        lambda: world.condition((beyond,)),
    ):
        with pytest.raises(InputError, match=message):
            ask()
    with pytest.raises(InputError, match="-1 objects"):
        world.sample((-1,), 2, seed=0)
