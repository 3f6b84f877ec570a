"""A concept graph by design: from chosen values and counts to a world, a split, what to expect, and how to run it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conceptlab.concepts import Class, Split
from conceptlab.errors import InputError
from conceptlab.worlds import QUICKSTART, World
from conceptlab.worlds import build as build_world

# Values to choose from: all can be drawn, and a probe tells them apart on 16×16 pixels.
CHOICES: dict[str, dict[str, Any]] = {
    "shape": {"circle": None, "triangle": None, "square": None},
    "size": {"large": 0.60, "medium": 0.49, "small": 0.38},
    "colour": {
        "red": [0.6, 0.1, 0.1],
        "blue": [0.1, 0.1, 0.6],
        "green": [0.1, 0.5, 0.1],
        "yellow": [0.65, 0.55, 0.1],
    },
    "background": {"white": [1.0, 1.0, 1.0], "black": [0.0, 0.0, 0.0]},
}
# Three sizes need more room between them than two.
_THREE_SIZES = {"large": 0.68, "medium": 0.49, "small": 0.30}
MOST_CLASSES = 36


@dataclass(frozen=True)
class Expected:
    """One class and what to expect of it. `rarest` is the smallest share of training images that carry one of its
    values; `missing` are values that no training image shows."""

    cls: Class
    code: str
    words: str
    distance: int
    rarest: float
    missing: tuple[str, ...]


def world_settings(chosen: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Settings of the world `shapes` in which the chosen values vary, beyond those of the quickstart."""
    for variable, values in chosen.items():
        if not values:
            raise InputError(f"choose at least one value of {variable}")
    variables = [name for name, values in chosen.items() if len(values) > 1]
    if not variables:
        raise InputError("choose two values or more of at least one variable")
    number = 1
    for name in variables:
        number *= len(chosen[name])
    if number > MOST_CLASSES:
        raise InputError(
            f"these make {number} classes; leave out values until there are {MOST_CLASSES} or fewer"
        )
    sizes = _THREE_SIZES if len(chosen["size"]) > 2 else CHOICES["size"]
    settings: dict[str, Any] = {
        "variables": variables,
        "shapes": list(chosen["shape"]),
        "sizes": [[name, sizes[name]] for name in chosen["size"]],
        "colours": [[name, CHOICES["colour"][name]] for name in chosen["colour"]],
    }
    if len(chosen["size"]) > 2:
        settings["size_jitter"] = 0.05
    if "background" in variables or chosen["background"] != ["white"]:
        settings["backgrounds"] = [[name, CHOICES["background"][name]] for name in chosen["background"]]
    plain = json.loads(json.dumps(QUICKSTART))
    plain["variables"] = ["shape", "size", "colour"]
    return {name: value for name, value in settings.items() if plain.get(name) != value}


def world_of(settings: Mapping[str, Any]) -> World:
    return build_world(name="shapes", **{**QUICKSTART, **settings})


def expectations(split: Split) -> list[Expected]:
    """Every class in the order in which it should emerge: by concept distance (okawa2023), then by how often training
    shows its rarest value; classes with a value that nothing shows come last, if ever."""
    space, found = split.space, []
    for cls in space:
        shares = {name: split.frequency(name, value) for name, value in zip(space.names, cls)}
        missing = tuple(v.values[value] for v, value in zip(space.concepts, cls) if shares[v.name] == 0)
        found.append(
            Expected(
                cls, space.code(cls), space.words(cls), split.distance(cls), min(shares.values()), missing
            )
        )
    return sorted(found, key=lambda e: (bool(e.missing), e.distance, -e.rarest, e.code))


def settings_of(world: Mapping[str, Any], split: Split) -> dict[str, Any]:
    """The design as settings of the quickstart: what `--set` takes."""
    train = {split.space.code(cls): count for cls, count in split.counts.items()}
    return {**{f"world.{name}": value for name, value in world.items()}, "train": train}


def command_of(settings: Mapping[str, Any]) -> str:
    """The command that trains the design and draws it."""
    words = ["conceptlab", "run", "quickstart", "--scale", "small", "--out", "runs-design"]
    for name, value in settings.items():
        words += ["--set", f"{name}={json.dumps(value)}"]
    return shlex.join(words)


def python_of(settings: Mapping[str, Any]) -> str:
    """The same in Python."""
    lines = ",\n    ".join(f"{name!r}: {value!r}" for name, value in settings.items())
    return f"""from conceptlab import executors, studies
from conceptlab.store import Store

settings = {{
    {lines},
}}
study, figures = studies.find("quickstart")
order = studies.Order(study, figures, 'small', seeds=(0, 1, 2, 3), settings=settings)


def tell(members, steps):
    print(members, steps)


if __name__ == "__main__":
    runs = studies.run(order, Store("runs-design"), executors.choose_device("auto"), tell)
    print(runs[0].path, runs[0].verdicts)
"""
