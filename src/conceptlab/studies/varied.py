"""What `--set` must leave to a figure: what it varies itself, since every member would have it and nothing would be
left to compare; and what it measures, since it draws and judges nothing else.

This is found out from the recipes alone, before anything is planned or trained.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from conceptlab.errors import InputError
from conceptlab.recipe import Recipe

# Of these the whole is what varies: a training set with one class more is another training set.
_WHOLE = ("train", "shares", "masking")
# How members are measured may differ from one to the next without being what a figure is about.
_MEASURING = ("evaluation", "keep")
# Longer lists of values are counted, to keep the message one line.
_LONGEST = 60


def refuse_varied(figure: str, recipes: Sequence[Recipe], settings: Mapping[str, Any]) -> None:
    """Refuse settings in which members differ that a figure compares."""
    for name, value in settings.items():
        found = _seeds(recipes) if name == "seed" else varied(recipes, name)
        if len(found) < 2:
            continue
        remedy = "add --seeds 1" if name == "seed" else "leave it out, or run other figures by their names"
        raise InputError(
            f"{figure} varies {_subject(name)} itself ({_listed(found)}), "
            f"so --set {name}={json.dumps(value)} would spoil its comparison; {remedy}"
        )


def refuse_unmeasured(figure: str, recipe: Recipe, changed: Recipe) -> None:
    """Refuse a recipe that lacks a measurement of the figure's own. Others may join it, and settings may change."""
    kept = [part["name"] for part in changed.evaluation.measurements]
    for part in recipe.evaluation.measurements:
        if part["name"] not in kept:
            raise InputError(
                f"{figure} needs the measurement '{part['name']}', which --set evaluation.measurements leaves out; "
                f"add {json.dumps(dict(part))}"
            )


def varied(recipes: Sequence[Recipe], name: str) -> list[Any]:
    """The values of a setting between which members differ that agree in all other parts of their recipes; none where
    the setting is not what a figure varies."""
    part, _, path = name.partition(".")
    if part in _MEASURING:
        return []
    groups: dict[str, dict[str, Any]] = {}
    for recipe in {recipe.seedless: recipe for recipe in recipes}.values():
        data = recipe.to_dict()
        value = data.pop(part, None)
        for step in path.split(".") if path and part not in _WHOLE else ():
            value = value.get(step) if isinstance(value, Mapping) else None
        rest = {key: other for key, other in data.items() if key not in (*_MEASURING, "seed")}
        group = groups.setdefault(json.dumps(rest, sort_keys=True), {})
        group[json.dumps(value, sort_keys=True)] = value
    return list(max(groups.values(), key=len, default={}).values())


def _seeds(recipes: Sequence[Recipe]) -> list[int]:
    return sorted({recipe.seed for recipe in recipes})


def _subject(name: str) -> str:
    part = name.partition(".")[0]
    return part if part in _WHOLE else name


def _listed(values: Sequence[Any]) -> str:
    """Values as one would set them; one that is not set is the default."""
    text = ", ".join("default" if value is None else json.dumps(value) for value in values)
    return text if len(text) <= _LONGEST else f"{len(values)} values"
