"""A study small enough to train in a second or two, run through the real pipeline."""

from __future__ import annotations

from torch import Tensor

from conceptlab.recipe import Evaluation, Optimiser, Recipe

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


def distance(found: Tensor, expected: Tensor) -> float:
    """How far weights are from others, relative to these."""
    return ((found - expected).norm() / expected.norm()).item()
