"""A study small enough to train in a second or two, run through the real pipeline."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
from matplotlib.figure import Figure as Picture
from torch import Tensor

from conceptlab.recipe import Evaluation, Optimiser, Recipe
from conceptlab.studies import Figure

WORLD = {"name": "shapes", "resolution": 8, "shapes": ["circle", "triangle"], "angle": 0.0, "location": 0.05}


def tiny_recipe(**changes) -> Recipe:
    settings = {
        "world": WORLD,
        "train": {"000": 20, "100": 20, "010": 20, "001": 20},
        "denoiser": {"name": "film", "channels": [8, 16]},
        "prediction": "v",
        "steps": 12,
        "batch": 4,
        "optimiser": Optimiser(learning_rate=2e-3),
        "ema": 0.9,
        # The analytic probe needs no training; whether it may judge is decided on real images all the same.
        "evaluation": Evaluation(
            count=4,
            images=4,
            sampler_steps=2,
            ema=True,
            probe={"name": "analytic"},
            second_probe=None,
            shown=2,
        ),
    }
    return Recipe(**{**settings, **changes})


def blank_figure(recipes: Callable[..., list[Recipe]]) -> Figure:
    """A figure with members, but with nothing on it."""
    return Figure(
        "f",
        "title",
        "shows",
        tables=lambda results: {"t": pd.DataFrame()},
        draw=lambda results, tables: Picture(),
        recipes=recipes,
    )


def distance(found: Tensor, expected: Tensor) -> float:
    """How far weights are from others, relative to these."""
    return ((found - expected).norm() / expected.norm()).item()
