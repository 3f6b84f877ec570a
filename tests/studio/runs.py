"""A real run folder, trained in a second or two, for the pages to show."""

from __future__ import annotations

from pathlib import Path

import torch

from conceptlab import executors
from conceptlab.recipe import Recipe
from conceptlab.store import FigureRun, Store
from tests.tiny import tiny_recipe


def recipe(seed: int = 0) -> Recipe:
    made = tiny_recipe(seed=seed)
    return made.with_settings({"keep": [made.evaluation_steps()[1]]})


def trained(root: Path, seeds: int = 1) -> FigureRun:
    """A figure's run of real members, as `conceptlab run` leaves it before the figure is drawn."""
    store, recipes = Store(root), [recipe(seed) for seed in range(seeds)]
    executors.prepare_probe(store, recipes[0].world, recipes[0].evaluation.probe, judges=False)
    for one in recipes:
        executors.run_cohort([one], store, torch.device("cpu"), lambda members, steps: None)
    return claimed(store, recipes)


def claimed(store: Store, recipes: list[Recipe], figure: str = "emergence", **more: object) -> FigureRun:
    run = store.figure("quickstart", "tiny", figure)
    run.claim({
        "study": "quickstart", "figure": figure, "title": "From seen to unseen", "shows": "tiny models",
        "paper": "quickstart", "scale": "tiny", "seeds": [one.seed for one in recipes], "settings": {},
        "members": [one.hash for one in recipes], "command": "conceptlab run quickstart --scale tiny", **more,
    })  # fmt: skip
    return run
