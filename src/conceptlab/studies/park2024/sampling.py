"""`park2024.sampling`: does drawing in 50 steps, as every other figure does, tell what full sampling tells?

Members of their own, so that those of the sweep stay as they are: one separation, measured in few steps and in full at
three evaluations. The learning rate is constant, so a shorter run is the beginning of the sweep's: it ends where the
held-out class is drawn, having been measured before and while it emerges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from conceptlab.recipe import Recipe
from conceptlab.studies.park2024.recipes import SIZES, sweep
from conceptlab.studies.sampling_check import agreement_claim, draw_sampling, sampling_tables
from conceptlab.studies.study import Figure, Scale

_STEPS = {"tiny": 12, "small": 900, "paper": 6000}
_FULL: dict[Scale, dict[str, Any]] = {
    "tiny": {"images": 4, "steps": 6},
    "small": {"images": 16, "steps": 100},
    "paper": {"images": 100, "steps": 500},
}


def recipes(scale: Scale, seeds: Sequence[int]) -> list[Recipe]:
    """The sweep's training at one separation, cut short and measured three times."""
    chosen = SIZES[scale].elicited[-1]
    found = [r for r in sweep(scale, seeds) if r.world["colour_separation"] == chosen]
    measurements = ({"name": "accuracy"}, {"name": "full_sampling", **_FULL[scale]})
    return [
        replace(
            recipe,
            steps=_STEPS[scale],
            keep=(),
            evaluation=replace(
                recipe.evaluation,
                count=3,
                spacing="linear",
                images=_FULL[scale]["images"],
                final_images=None,
                measurements=measurements,
            ),
        )
        for recipe in found
    ]


FIGURE = Figure(
    "sampling",
    "Few steps against full sampling",
    "accuracy of every class drawn in few steps and in full, and the difference",
    sampling_tables,
    draw_sampling,
    recipes,
    (agreement_claim("park2024"),),
)
