"""What is asked of the inside of a network at the end of its training, whichever paper it comes from: which pixels its
score depends on, and whether its concepts are at right angles. `bradley2025.across` compares the answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from conceptlab.recipe import Part, Recipe
from conceptlab.studies.study import Scale

# Maps by offset are not drawn: the smallest are enough.
_LOCALITY: dict[Scale, dict[str, Any]] = {
    "tiny": {"images": 4, "places": 2, "levels": [-4.0, 4.0], "map_radius": 0},
    "small": {"images": 16, "places": 2, "map_radius": 0},
    "paper": {"images": 16, "places": 2, "map_radius": 0},
}
_FEATURE_IMAGES: dict[Scale, int] = {"tiny": 20, "small": 200, "paper": 400}


def looked_into(recipe: Recipe, scale: Scale) -> Recipe:
    """The recipe with these measurements beside its own."""
    inside: tuple[Part, ...] = (
        {"name": "locality", **_LOCALITY[scale]},
        {"name": "orthogonality", "images": _FEATURE_IMAGES[scale]},
    )
    evaluation = recipe.evaluation
    return replace(recipe, evaluation=replace(evaluation, measurements=(*evaluation.measurements, *inside)))
