"""What bradley2025 trains: the three experiments for every training range, and experiment 3 at every reach.

Trained on one object alone, one label is all labels: experiments 1 and 2 are then the same members.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from conceptlab.recipe import Evaluation, Optimiser, Part, Recipe
from conceptlab.studies.bradley2025.settings import COLOURS, EXPERIMENTS, SIZES, TOLD_TRAINING
from conceptlab.studies.study import Scale
from conceptlab.worlds import build as build_world
from conceptlab.worlds.objects import TOLD

_LOCALITY: dict[Scale, dict[str, Any]] = {
    "tiny": {"images": 4, "places": 1, "levels": [-4.0, 4.0], "among": 2, "counts": [1, 4], "map_radius": 6},
    "small": {"images": 16},
    "paper": {"images": 16, "places": 2, "map_radius": 16},
}
_COMPOSITION: dict[Scale, dict[str, Any]] = {
    "tiny": {"conditions": 4, "counts": [1, 4]},
    "small": {"conditions": 50, "counts": [1, 3, 8]},
    "paper": {"conditions": 200, "counts": [3, 8, 12]},
}


def experiments(scale: Scale, seeds: Sequence[int]) -> list[Recipe]:
    """Experiment × training range × seed, members that two experiments share only once."""
    every = [
        experiment(scale, name, trained, seed)
        for trained in SIZES[scale].trained
        for name in EXPERIMENTS
        for seed in seeds
    ]
    return list({recipe.hash: recipe for recipe in every}.values())


def reach_sweep(scale: Scale, seeds: Sequence[int]) -> list[Recipe]:
    """Experiment 3 at every reach, up to the whole image; beside it experiment 2, which has attention."""
    size = SIZES[scale]
    local = [
        experiment(scale, "3", size.sweep_trained, seed, reach) for reach in size.reaches for seed in seeds
    ]
    return local + [experiment(scale, "2", size.sweep_trained, seed) for seed in seeds]


def told(scale: Scale, seeds: Sequence[int]) -> list[Recipe]:
    """Experiment 1 told where objects are, which colours they have, or both."""
    return [_told(scale, what, seed) for what in TOLD for seed in seeds]


def _told(scale: Scale, what: str, seed: int) -> Recipe:
    size = SIZES[scale]
    plain = experiment(scale, "1", size.sweep_trained, seed)
    coloured = plain.with_settings({"world.colours": COLOURS[scale], **TOLD_TRAINING[scale]})
    if build_world(**coloured.world) == build_world(**plain.world):
        # The world's own colours: then its detector is that of `length`, and, told places, so is the member.
        if what == "location":
            return plain
        coloured = replace(coloured, world=plain.world)
    # Locality and composition ask about places.
    length = _measurements(scale)[:1]
    return replace(
        coloured,
        world={**coloured.world, "told": what},
        evaluation=replace(coloured.evaluation, measurements=length),
    )


def experiment(scale: Scale, name: str, trained: int, seed: int, reach: int | None = None) -> Recipe:
    """One member: an experiment, trained on images of 1 … `trained` objects."""
    size = SIZES[scale]
    world = dict(size.world)
    if name != "1" and trained > 1:
        world["labelled"] = "one"
    local: dict[str, Any] = {**size.cells, "reach": size.reach if reach is None else reach}
    return Recipe(
        world=world,
        train={str(k): size.images // trained for k in range(1, trained + 1)},
        denoiser=local if name == "3" else dict(size.unet),
        process={"name": "cosine"},
        prediction="v",
        evaluation=_evaluation(scale),
        seed=seed,
        **_training(scale),
    )


def _training(scale: Scale) -> dict[str, Any]:
    size = SIZES[scale]
    if scale == "paper":
        optimiser = Optimiser(learning_rate=5e-4, weight_decay=0.01, clip=1.0, warmup=500, decay="cosine")
        return {**size.training, "optimiser": optimiser, "ema": 0.999, "precision": "bfloat16"}
    return {**size.training, "optimiser": Optimiser(learning_rate=1e-3, clip=1.0, decay="cosine")}


def _evaluation(scale: Scale) -> Evaluation:
    size = SIZES[scale]
    return Evaluation(
        count=2 if scale == "paper" else 1,
        images=24 if scale == "paper" else 100,
        final_images=size.conditions,
        sampler_steps={"tiny": 4, "small": 20, "paper": 50}[scale],
        ema=scale == "paper",
        probe=dict(size.detector),
        second_probe=None,
        measurements=_measurements(scale),
        shown=2 if scale == "tiny" else 4,
    )


def _measurements(scale: Scale) -> tuple[Part, ...]:
    """The union of what all figures need, so that they share every member."""
    size = SIZES[scale]
    return (
        {"name": "length", "most": size.most, "least_images": 2 if scale == "tiny" else 50},
        {"name": "locality", **_LOCALITY[scale]},
        {"name": "composition", **_COMPOSITION[scale]},
    )
