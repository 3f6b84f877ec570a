"""The designer: what it expects, and that the command it gives runs what was designed."""

from __future__ import annotations

import shlex

import pytest

from conceptlab import cli, studies
from conceptlab.cli.settings import parse_settings
from conceptlab.concepts import Split
from conceptlab.errors import InputError
from conceptlab.studio.design import (
    CHOICES,
    command_of,
    expectations,
    python_of,
    settings_of,
    world_of,
    world_settings,
)

PLAIN = {
    "shape": ["circle", "triangle"],
    "size": ["large", "small"],
    "colour": ["red", "blue"],
    "background": ["white"],
}
RICH = {
    "shape": ["circle", "square"],
    "size": ["large", "medium", "small"],
    "colour": ["red", "green"],
    "background": ["white", "black"],
}


def design(chosen: dict[str, list[str]]) -> tuple[dict, Split]:
    settings = world_settings(chosen)
    world = world_of(settings)
    return settings, Split.around(world.space, world.space.classes[0], 500)


def test_the_quickstart_itself_changes_nothing() -> None:
    assert world_settings(PLAIN) == {}


@pytest.mark.parametrize(
    "chosen", [PLAIN, RICH, PLAIN | {"size": ["small"]}, PLAIN | {"background": ["black"]}]
)
def test_the_command_trains_what_was_designed(chosen: dict[str, list[str]]) -> None:
    settings, split = design(chosen)
    words = shlex.split(command_of(settings_of(settings, split)))
    assert words.pop(0) == "conceptlab"
    options = cli.build_parser().parse_args(words)
    study, figures = studies.find(options.study)
    order = studies.Order(study, figures, options.scale, (0,), parse_settings(options.set))
    (recipe,) = order.all_recipes()
    world = world_of({k: v for k, v in recipe.world.items() if k != "name"})
    assert world.space == split.space
    assert Split(world.space, recipe.train).counts == split.counts
    # The command that the run records says the same again.
    again = cli.build_parser().parse_args(shlex.split(order.command)[1:])
    assert parse_settings(again.set) == order.settings
    for cls in world.space:  # and it can be drawn
        assert world.sample(cls, 1, seed=0).images.shape == (1, *world.image_shape)


def test_the_python_says_the_same() -> None:
    settings = settings_of(*design(RICH))
    scope: dict = {"__name__": "copied"}
    exec(compile(python_of(settings), "copied", "exec"), scope)
    (recipe,) = studies.Order(
        scope["study"], scope["figures"], "small", (0,), scope["settings"]
    ).all_recipes()
    assert scope["order"].all_recipes()[0] == recipe
    assert recipe.train == settings["train"]


def test_classes_are_expected_in_the_order_of_distance_then_rarity() -> None:
    _, split = design(PLAIN)
    found = expectations(split)
    assert [e.distance for e in found] == [0, 0, 0, 0, 1, 1, 1, 2]
    assert found[-1].code == "111"
    rare = Split(split.space, {"000": 500, "100": 500, "010": 50, "001": 500})
    codes = [e.code for e in expectations(rare) if e.distance == 1]
    assert codes == ["101", "011", "110"]  # small is rare, so small ones wait


def test_what_nothing_teaches_comes_last() -> None:
    _, split = design(PLAIN)
    found = expectations(Split(split.space, {"000": 10, "100": 10}))
    assert found[0].missing == ()
    assert {e.code for e in found if e.missing} == {"010", "110", "001", "101", "011", "111"}
    assert found[-1].missing == ("small", "blue")


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        (PLAIN | {"shape": []}, "at least one value of shape"),
        ({name: list(values)[:1] for name, values in CHOICES.items()}, "two values"),
        ({name: list(values) for name, values in CHOICES.items()}, "leave out values"),
    ],
)
def test_designs_that_cannot_be_run_say_why(chosen: dict[str, list[str]], said: str) -> None:
    with pytest.raises(InputError, match=said):
        world_settings(chosen)
