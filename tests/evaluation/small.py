"""A small park2024 model of the circles world, as the tests of evaluation need it."""

from __future__ import annotations

from typing import Any

from conceptlab.concepts import Split
from conceptlab.evaluation import Context
from conceptlab.probes import train_probe
from conceptlab.recipe import Evaluation, Recipe
from conceptlab.worlds import build as build_world

NETWORKS: dict[str, dict[str, Any]] = {
    "per block": {"name": "park2024", "channels": [16, 32], "blocks_per_level": 1},
    "shared": {"name": "park2024", "channels": [16, 32], "blocks_per_level": 1, "condition_mlp": "shared"},
}


def recipe(**changes: Any) -> Recipe:
    settings: dict[str, Any] = {
        "world": {"name": "circles", "resolution": 16},
        "train": {"00": 8, "01": 8, "10": 8},
        "denoiser": NETWORKS["per block"],
        "process": {"name": "continuous", "gamma_min": -5.0, "gamma_max": 10.0, "learned": True},
        "loss": "bound",
        "pixels": "unit",
        "steps": 10,
        "batch": 8,
        "evaluation": Evaluation(count=2, images=4, sampler_steps=3, probe={"name": "analytic"}),
    }
    return Recipe(**{**settings, **changes})


def context(made: Recipe) -> Context:
    world = build_world(**made.world)
    return Context(made, world, Split(world.space, made.train), train_probe(world, "analytic"), None)
