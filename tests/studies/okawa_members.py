"""Members that were never trained: curves of a simulated learner, written as a run would write them.

The learner draws every variable independently. Variable v of class c is right with a probability that rises from
chance around a time T(c, v); `world` says what delays it. With effects on, T grows with the distance of the class and
with the rarity of the value, sample numbers have a critical value, and what was never free in training stays tied.
With effects off, T has nothing to do with any of this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from conceptlab.concepts import Class, ConceptSpace, Split
from conceptlab.recipe import Recipe
from conceptlab.store import Store
from conceptlab.store.files import write_json, write_sheet, write_table
from conceptlab.worlds import World
from conceptlab.worlds import build as build_world

_SLOWNESS = {"shape": 1.3, "size": 1.0, "colour": 1.8, "background": 1.1}
_CRITICAL = {"colour": 10, "shape": 60, "size": 25}
_IMAGES = 400


Curve = Callable[[Split, Class, str, np.ndarray], np.ndarray]
"""How often a variable of a class is drawn right at each of some steps."""


def write_members(
    recipes: Iterable[Recipe],
    root: Path,
    *,
    effects: bool = True,
    tied: bool = True,
    curve: Curve | None = None,
) -> Store:
    """The learner's members, or those of another `curve`."""
    store = Store(root)
    for recipe in recipes:
        if not store.is_done(recipe):
            _write(recipe, store.member_path(recipe), effects, tied, curve)
    return store


def _write(recipe: Recipe, path: Path, effects: bool, tied: bool, own: Curve | None) -> None:
    world = build_world(**recipe.world)
    space = world.space
    rng = np.random.default_rng([recipe.seed, int(recipe.hash, 16) % 2**32])
    path.mkdir(parents=True, exist_ok=True)
    write_json(path / "config.json", recipe.to_dict())
    steps = np.array(recipe.evaluation_steps())
    split = Split(space, recipe.train)
    right = {
        cls: {
            v: own(split, cls, v, steps) if own else _curve(recipe, space, cls, v, steps, rng, effects, tied)
            for v in space.names
        }
        for cls in space
    }
    rows = [row for i, step in enumerate(steps) for row in _rows(space, right, i, int(step))]
    write_table(path / "metrics.parquet", pd.DataFrame(rows))
    for step in steps[[0, -1]]:
        write_sheet(path / "samples" / f"{step:08d}.png", _sheet(world))
    write_json(path / "done.json", {"status": "complete", "step": int(steps[-1])})


@lru_cache
def _sheet(world: World) -> torch.Tensor:
    return torch.stack([world.sample(cls, 2, seed=0).images for cls in world.space])


def _curve(
    recipe: Recipe, space: ConceptSpace, cls: Class, variable: str, steps: np.ndarray,
    rng: np.random.Generator, effects: bool, tied: bool,
) -> np.ndarray:  # fmt: skip
    before = recipe.before or recipe
    split, place = Split(space, before.train), space.variable(variable)
    start = 0.03 * before.steps * float(np.exp(0.05 * rng.standard_normal()))
    low, top = 0.45, 1.0
    if effects:
        share = max(split.frequency(variable, cls[place]), 1e-3)
        if before.shares:
            total = sum(before.shares.values())
            share = sum(s for c, s in before.shares.items() if c[place] == str(cls[place])) / total
        start *= _SLOWNESS[variable] * 2.0 ** split.distance(cls) * max(1.0, (0.75 / share) ** 0.5)
        number = sum(n for c, n in split.counts.items() if c[place] == cls[place])
        if (
            number < _CRITICAL[variable] * (3 if split.distance(cls) else 1)
            if variable in _CRITICAL
            else False
        ):
            top = 0.05
        if tied and variable == "shape" and _ties_size_to_shape(split) and cls[:2] == (0, 1):
            low, top = 0.2, 0.1
    curve = low + (top - low) / (1 + (start / steps) ** 6)
    if recipe.start is not None:
        curve = np.full(len(steps), curve[-1])
    return np.clip(curve + 0.01 * rng.standard_normal(len(steps)), 0, 1)


def _ties_size_to_shape(split: Split) -> bool:
    return all(cls[0] == 1 for cls in split.counts if cls[1] == 1)


def _rows(space: ConceptSpace, right: dict, at: int, step: int) -> Iterable[dict[str, object]]:
    def row(cls: str, variable: str, measure: str, value: float) -> dict[str, object]:
        return {
            "step": step,
            "weights": "raw",
            "class": cls,
            "variable": variable,
            "measure": measure,
            "value": value,
        }

    yield row("", "", "loss", 1.0 / step)
    for cls in space:
        code, singles = space.code(cls), {v: float(right[cls][v][at]) for v in space.names}
        product, mean = float(np.prod(list(singles.values()))), float(np.mean(list(singles.values())))
        # Read off images, as real ones are: exact, its distance from the product would be a matter of the last bit.
        yield row(code, "", "accuracy", round(_IMAGES * product) / _IMAGES)
        yield row(code, "", "probability", 0.98 * product)
        yield row(code, "", "additive", mean)
        yield row(code, "", "disagreement", 0.01)
        for place, (v, value) in enumerate(singles.items()):
            yield row(code, v, "accuracy", value)
            yield row(code, v, "coordinate", value if cls[place] else 1 - value)
        for other in space:
            chances = [p if a == b else 1 - p for p, a, b in zip(singles.values(), cls, other)]
            yield row(code, space.code(other), "drawn", float(np.prod(chances)))
        for other in space.neighbours(cls):
            if cls < other:
                v = next(name for name, a, b in zip(space.names, cls, other) if a != b)
                both = float(right[cls][v][at] * right[other][v][at])
                yield row(f"{code}-{space.code(other)}", v, "edge_capability", both)
