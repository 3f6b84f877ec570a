"""Parts by name: a value that nothing can be made of is one line."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod

import numpy as np
import pytest

from conceptlab.denoisers import _DENOISERS
from conceptlab.denoisers import build as build_denoiser
from conceptlab.diffusion import _PROCESSES
from conceptlab.diffusion import build as build_process
from conceptlab.errors import InputError
from conceptlab.evaluation import Measurement
from conceptlab.evaluation import build as build_measurements
from conceptlab.evaluation.measurement import _MEASUREMENTS
from conceptlab.registry import Registry
from conceptlab.worlds.registry import _WORLDS


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"gamma_min": "x"}, "process 'continuous' cannot be made with gamma_min='x': it takes a number"),
        ({"gamma_min": None}, "gamma_min=None"),
        ({"gamma_max": 1e5}, "gamma_max=100000.0: math range error"),
        ({"learned": 5}, "learned=5: it takes true or false"),
    ],
)
def test_a_value_of_the_wrong_kind_is_told_with_the_part_it_was_meant_for(settings, told):
    with pytest.raises(InputError, match=told):
        build_process("continuous", **settings)


def test_a_network_says_so_too():
    with pytest.raises(InputError, match="denoiser 'film' cannot be made with channels=5: it takes a list"):
        build_denoiser("film", image_shape=(3, 16, 16), condition_shape=(5,), seed=0, channels=5)


@pytest.mark.parametrize(
    ("part", "told"),
    [
        (
            {"name": "redraws", "count": 1.5},
            "'redraws' cannot be made with count=1.5: it takes a whole number",
        ),
        ({"name": "redraws", "images": True}, "images=True: it takes a whole number"),
        ({"name": "redraws", "classes": "110"}, "classes='110': it takes a list"),
        ({"name": "redraws", "classes": [0]}, r"classes=\[0\]: it takes a list, each a word"),
        (
            {"name": "over_prompting", "variable": "colour", "values": [["a"]]},
            "it takes a list, each a list, each a number",
        ),
        ({"name": "over_prompting", "variable": ["colour"], "values": [[1]]}, "it takes a word"),
        ({"name": "over_prompting"}, "'over_prompting' needs variable and values; give them"),
        ({"name": "over_prompting", "variable": "colour"}, "'over_prompting' needs values; give it"),
        ({"name": "guidance", "weights": [None]}, "each a number"),
    ],
)
def test_so_does_a_measurement_before_anything_is_drawn(part, told):
    with pytest.raises(InputError, match=told):
        build_measurements([part])


def test_numbers_and_lists_of_any_kind_will_do():
    values = np.linspace(0, 1, 6).reshape(2, 3)
    build_measurements([{"name": "over_prompting", "variable": "colour", "values": values}])
    build_measurements([{"name": "norms", "batch": np.int64(8)}])
    build_process("continuous", gamma_min=-6, gamma_max=np.float32(8))


def test_what_a_class_lacks_is_told():
    class Part(ABC):
        @abstractmethod
        def size(self) -> int: ...

    parts: Registry[Part] = Registry("part")
    parts.register("mine")(Part)
    with pytest.raises(InputError, match="part 'mine' lacks size"):
        parts.make("mine")


def test_so_is_what_a_measurement_of_one_s_own_lacks(monkeypatch):
    class Blind(Measurement):
        pass

    monkeypatch.setitem(_MEASUREMENTS._makers, "blind", Blind)
    with pytest.raises(InputError, match="measurement 'blind' lacks rows"):
        build_measurements([{"name": "blind"}])


def test_mistakes_of_a_plug_in_are_shown_where_they_are():
    parts: Registry[int] = Registry("part")
    parts.register("mine")(lambda size: len(size))
    with pytest.raises(TypeError):
        parts.make("mine", size=5)


class Part:
    pass


class Own(Part):
    pass


@pytest.mark.parametrize(("made", "what"), [(None, "None"), (5, "a int"), (Registry, "a type")])
def test_what_is_no_part_of_its_kind_is_told_when_it_is_made(made, what):
    registry: Registry[Part] = Registry("gadget", Part)
    registry.register("own")(lambda: Own())
    registry.register("other")(lambda: made)
    assert isinstance(registry.make("own"), Own)
    with pytest.raises(
        InputError, match=rf"^gadget 'other' is {what}; derive it from tests\.test_registry\.Part$"
    ):
        registry.make("other")


def test_a_class_of_another_kind_is_told_before_it_is_given_what_it_does_not_take():
    registry: Registry[Part] = Registry("gadget", Part)
    registry.register("alien")(type("Alien", (), {}))
    with pytest.raises(
        InputError, match=r"^gadget 'alien' is a Alien; derive it from tests\.test_registry\.Part$"
    ):
        registry.make("alien", 1, 2)


class Passing:
    """As one derives from a part that is there: whatever comes is passed on."""

    def __init__(self, *arguments: int, **settings: int) -> None:
        self.given = arguments, settings


def test_a_part_that_passes_on_what_it_is_given_is_given_its_settings():
    registry: Registry[Passing] = Registry("gadget", Passing)
    registry.register("mine")(Passing)
    assert registry.make("mine", 1, 2, size=3).given == ((1, 2), {"size": 3})
    assert registry.make("mine", size=3).given == ((), {"size": 3})


@pytest.mark.parametrize(
    ("registry", "base"),
    [
        (_DENOISERS, "conceptlab.denoisers.Denoiser"),
        (_MEASUREMENTS, "conceptlab.evaluation.Measurement"),
        (_PROCESSES, "conceptlab.diffusion.Process"),
        (_WORLDS, "conceptlab.worlds.World"),
    ],
)
def test_what_a_part_of_one_s_own_derives_from_is_found_where_it_is_said_to_be(monkeypatch, registry, base):
    monkeypatch.setitem(registry._makers, "alien", lambda *_: object())
    with pytest.raises(InputError, match=rf"is a object; derive it from {base}$"):
        registry.make("alien")
    room, _, name = base.rpartition(".")
    assert getattr(importlib.import_module(room), name) is registry.base
