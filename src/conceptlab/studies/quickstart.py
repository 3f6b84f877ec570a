"""quickstart: the first real result, in minutes on two CPU cores.

A three-variable shapes world. The model sees a centre class and its three neighbours, so every variable varies
alone; the question is whether, and in which order, it learns to draw the four classes it never saw.

What the recipe builds in, so that nobody is surprised: the condition embedding is linear, which favours additive
composition; colours are unsaturated and no normalisation is used, because both were found to delay distance 2; the
learning rate decays, because at a constant rate distance 2 comes and goes. What it does not build in is the order.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from conceptlab.claims import PerSeed, accuracy_resolution, final_value
from conceptlab.figures import select
from conceptlab.recipe import Evaluation, Optimiser, Recipe
from conceptlab.studies.emergence_claims import emergence, final_claim, order_claim
from conceptlab.studies.quickstart_figures import draw_emergence
from conceptlab.studies.study import Figure, Results, Scale, Study, Tables
from conceptlab.worlds import QUICKSTART

_STEPS = {"tiny": 30, "small": 1000, "paper": 1000}
_FINAL_IMAGES = {"tiny": 8, "small": 200, "paper": 1000}


def recipes(scale: Scale, seeds: Sequence[int]) -> list[Recipe]:
    recipe = Recipe(
        world={"name": "shapes", **QUICKSTART},
        train=dict.fromkeys(("000", "100", "010", "001"), 500),
        denoiser={"name": "film"},
        process={"name": "continuous", "gamma_min": -6.0, "gamma_max": 8.0},
        prediction="v",
        times="stratified",
        steps=_STEPS[scale],
        optimiser=Optimiser(learning_rate=2e-3, betas=(0.9, 0.99), weight_decay=0.01, decay="cosine"),
        ema=0.99,
        evaluation=Evaluation(
            count=3 if scale == "tiny" else 14,
            spacing="square",
            images=8 if scale == "tiny" else 24,
            final_images=_FINAL_IMAGES[scale],
            sampler_steps=10,
            ema=True,
        ),
    )
    return [recipe.with_seed(seed) for seed in seeds]


def tables(results: Results) -> dict[str, pd.DataFrame]:
    metrics = results.metrics
    shown = metrics[metrics["measure"].isin(["accuracy", "additive", "coordinate", "loss"])]
    return {"curves": shown.drop(columns="member"), "times": emergence(metrics)}


def _held_out(tables: Tables) -> PerSeed:
    joint = select(tables["curves"], "accuracy")
    return final_value(joint[joint["distance"] > 0], over="min")


CLAIMS = (
    order_claim("quickstart", "Classes seen in training emerge first, then distance 1, then distance 2."),
    final_claim(
        "quickstart.held-out",
        "At the end the model draws every class it never saw.",
        "held-out class",
        _held_out,
        resolution=accuracy_resolution(0.9, _FINAL_IMAGES["small"]),
    ),
)

STUDY = Study(
    name="quickstart",
    title="Concepts emerge in the order of their distance",
    paper="quickstart",
    figures=(
        Figure(
            id="emergence",
            title="From seen to unseen combinations",
            shows="accuracy of every class over training, by concept distance; trajectories; samples",
            recipes=recipes,
            tables=tables,
            draw=draw_emergence,
            claims=CLAIMS,
        ),
    ),
    seeds={"tiny": 2, "small": 4, "paper": 5},
)
