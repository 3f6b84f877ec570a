"""The worlds of `predict`: circles and shapes whose concepts differ in how far their values lie apart, the members
trained in them, and the SIM task that stands for each."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

from conceptlab.recipe import Evaluation, Optimiser, Recipe
from conceptlab.studies.study import Scale
from conceptlab.theory import Sim, one_layer
from conceptlab.worlds import RenderedWorld, concept_signal
from conceptlab.worlds import build as build_world

_COLOUR = (0.2, 0.35, 0.55, 0.8)
_SIZE = (0.23, 0.27, 0.31, 0.36)
_BACKGROUND = (0.15, 0.3)
WORLD_SEEDS: dict[str, int] = {"tiny": 2, "small": 3, "paper": 5}
"""Seeds of each world: there are 24 of them."""
_JITTERS = {"colour": "colour_jitter", "size": "size_jitter"}
"""Settings that make a concept's values vary within a class, by variable; 0 takes the variation away."""


@dataclass(frozen=True)
class _Size:
    resolution: int
    every: int  # only every so many of the worlds
    images: int  # of a class
    denoiser: Mapping[str, Any]
    rate: float
    steps: int
    evaluations: int
    shown: int  # images of a class at an evaluation
    precision: Literal["float32", "bfloat16"] = "float32"


_FILM = {"name": "film", "channels": [24, 48], "embedding_kind": "mlp"}
_SIZES: dict[Scale, _Size] = {
    "tiny": _Size(16, 12, 24, {"name": "film", "channels": [8, 16], "embedding_kind": "mlp"}, 2e-3, 12, 3, 4),
    "small": _Size(16, 1, 512, _FILM, 2e-3, 600, 24, 16),
    # Concepts of circles are half learnt between steps 14 and 277: seen in 40 longer runs that a fault ended early.
    "paper": _Size(32, 1, 1740, {"name": "park2024"}, 1e-3, 1000, 40, 32, "bfloat16"),
}


def circles(resolution: int, colour: float, size: float) -> dict[str, Any]:
    separations = {"colour_separation": colour, "size_separation": size}
    return {"name": "circles", "resolution": resolution, **separations}


def shapes(resolution: int, colour: float, size: float, background: float) -> dict[str, Any]:
    """A circle on a grey ground: three concepts, each as far apart as said."""
    high, low, shade = 0.5 + colour / 2, 0.5 - colour / 2, 0.8
    light, dark = shade + background / 2, shade - background / 2
    return {
        "name": "shapes",
        "resolution": resolution,
        "variables": ["size", "colour", "background"],
        "shapes": ["circle"],
        "sizes": [["large", 0.45 + size / 2], ["small", 0.45 - size / 2]],
        "size_jitter": round(size / 8, 6),
        "colours": [["red", [high, low, low]], ["blue", [low, low, high]]],
        "colour_jitter": round(colour / 8, 6),
        "backgrounds": [["light", [light] * 3], ["dark", [dark] * 3]],
    }


def all_worlds(scale: Scale) -> list[dict[str, Any]]:
    """24 worlds: 16 of circles, 8 of shapes with a background."""
    at = _SIZES[scale].resolution
    two = [circles(at, colour, size) for colour in _COLOUR for size in _SIZE]
    three = [shapes(at, c, s, b) for c in _COLOUR[1::2] for s in _SIZE[1::2] for b in _BACKGROUND]
    return [*two, *three][:: _SIZES[scale].every]


def members(scale: Scale, seeds: Sequence[int]) -> list[Recipe]:
    """One member for each world and seed, trained on a centre class and its neighbours: every concept varies alone."""
    return [_recipe(scale, world, seed) for world in all_worlds(scale) for seed in seeds]


def _recipe(scale: Scale, world: dict[str, Any], seed: int) -> Recipe:
    size = _SIZES[scale]
    variables = len(build_world(**world).space.names)
    centre = "0" * variables
    train = [centre, *(centre[:i] + "1" + centre[i + 1 :] for i in range(variables))]
    return Recipe(
        world=world,
        train=dict.fromkeys(train, size.images),
        denoiser=dict(size.denoiser),
        process={"name": "continuous", "gamma_min": -6.0, "gamma_max": 8.0},
        prediction="v",
        steps=size.steps,
        batch=8 if scale == "tiny" else 64,
        optimiser=Optimiser(learning_rate=size.rate, betas=(0.9, 0.99), weight_decay=0.01),
        evaluation=Evaluation(
            count=size.evaluations,
            spacing="square",
            images=size.shown,
            sampler_steps=2 if scale == "tiny" else 10,
            probe={"name": "analytic"},
            second_probe=None,
            shown=0,
        ),
        precision=size.precision,
        seed=seed,
    )


@dataclass(frozen=True)
class Foretold:
    """What is known of a world's concepts before anything is trained; one number for each variable."""

    variables: tuple[str, ...]
    signal: tuple[float, ...]  # mean squared pixel difference when the concept is flipped
    diversity: tuple[float, ...]  # the same when its value varies within the class
    time: tuple[float, ...]  # half-learning time of the SIM task, ln 2 / a_p


@cache
def foretell(world: RenderedWorld, pairs: int = 256) -> Foretold:
    """SIM with mu = √signal, sigma = √diversity and the centre class as its cluster at the origin."""
    centre = world.space.classes[0]
    names = world.space.names
    still = dataclasses.replace(world, **dict.fromkeys(_JITTERS.values(), 0.0))  # pyright: ignore
    signal = [concept_signal(still, name, centre, pairs).value for name in names]
    diversity = [_diversity(world, name, pairs) for name in names]
    sim = Sim(np.sqrt(signal).tolist(), np.sqrt(diversity).tolist(), origin=True)
    times = one_layer.half_learning_time(sim.strengths).tolist()
    return Foretold(names, tuple(signal), tuple(diversity), tuple(times))


def _diversity(world: RenderedWorld, variable: str, pairs: int) -> float:
    """Mean squared pixel difference between images of the centre class with and without a variable's jitter."""
    setting = _JITTERS.get(variable)
    if setting is None:
        return 0.0
    calm = dataclasses.replace(world, **{setting: 0.0})  # pyright: ignore[reportArgumentType]
    centre = world.space.classes[0]
    jittered, plain = (w.render(w.draw(centre, pairs, 0)) for w in (world, calm))
    return float((jittered - plain).square().mean())
