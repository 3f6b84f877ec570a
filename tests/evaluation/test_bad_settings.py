"""Settings with which nothing can be measured: refused when the measurement is built or checked, before training."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conceptlab.concepts import Split
from conceptlab.errors import InputError
from conceptlab.evaluation import build
from conceptlab.worlds import build as build_world
from tests.evaluation.small import context, recipe


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"name": "over_prompting", "variable": "shade", "values": [[1.0]]}, "shade"),
        ({"name": "over_prompting", "variable": "colour", "values": [[1.0]]}, "takes 3 numbers"),
        (
            {"name": "over_prompting", "variable": "colour", "values": []},
            "'over_prompting' needs at least one",
        ),
        ({"name": "redraws", "images": 1}, "need 2"),
        ({"name": "redraws", "count": 0}, "'redraws': count is 0"),
        ({"name": "prompt_search", "strengths": []}, "'prompt_search' needs at least one"),
        ({"name": "prompt_search", "finer": 0}, "finer above 1"),
        ({"name": "latent", "strength": 3}, "strength"),
        ({"name": "guidance", "weights": []}, "'guidance' needs at least one"),
        ({"name": "patch", "images": 1}, "'patch': images is 1"),
        ({"name": "norms", "batch": 0}, "'norms': batch is 0"),
        ({"name": "locality", "map_radius": -1}, "'locality' needs .* map_radius of 0"),
        ({"name": "locality", "among": 0}, "'locality' needs .* among"),
        ({"name": "length", "least_images": 0}, "'length': least_images is 0"),
    ],
)
def test_bad_settings_are_one_clear_line(part, message):
    with pytest.raises(InputError, match=message):
        build([part])[0].prompts(context(recipe()), 4)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"name": "locality", "among": 3, "counts": [1]}, "to move one of 3 objects the world must hold 4"),
        ({"name": "locality", "among": 1, "counts": [1, 3]}, "to move one of 3 objects"),
        (
            {"name": "composition", "counts": [1, 4]},
            "4 objects are asked for; scenes of this world hold 0 to 3",
        ),
    ],
)
def test_more_objects_than_a_scene_holds_are_refused_before_training(part, message):
    world = build_world("discs", most=3)
    made = replace(context(recipe()), world=world, split=Split(world.space, {"1": 8}))
    with pytest.raises(InputError, match=message):
        build([part])[0].check(made)


def test_a_measurement_may_be_made_twice_but_not_with_the_same_settings():
    build([{"name": "redraws"}, {"name": "redraws", "classes": ["11"]}])
    with pytest.raises(InputError, match="'redraws' is named twice with the same settings"):
        build([{"name": "accuracy"}, {"name": "redraws", "count": 3}, {"count": 3, "name": "redraws"}])
