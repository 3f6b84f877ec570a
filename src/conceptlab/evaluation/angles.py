"""Angles between concepts, in pixels and inside a trained network."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache

import torch

from conceptlab.concepts import Class, Split
from conceptlab.denoisers import build as build_denoiser
from conceptlab.diffusion import build as build_process
from conceptlab.errors import InputError
from conceptlab.evaluation.feature_maps import Bottleneck, concept_features, pixels
from conceptlab.evaluation.locality import Level
from conceptlab.evaluation.locality_rows import is_judged
from conceptlab.evaluation.measurement import Context, Live, Measurement, Row, register
from conceptlab.measures import measured_cosines, orthogonality
from conceptlab.training.threads import one_thread


@register("orthogonality")
class Orthogonality(Measurement):
    """How nearly at right angles the directions of all variables are, as seen from the centre of the training set, at
    the last evaluation (`is_judged`); nothing is drawn, real images are looked at.

    | measure | variable | value |
    |---|---|---|
    | `orthogonality` | `pixels` | of the images themselves |
    | `orthogonality` | `bottleneck` | of what the denoiser makes of them at a `level` of noise, where it is coarsest |

    A network whose maps are all equally coarse has no bottleneck; a `module` of it has to be named.
    """

    def __init__(self, images: int = 200, level: float = -2.0, module: str | None = None) -> None:
        if images < 2:
            raise InputError(f"measurement 'orthogonality' needs 2 images or more, not {images}")
        self.images, self.level, self.module = images, level, module

    def check(self, context: Context) -> None:
        recipe, world = context.recipe, context.world
        if len(world.space.names) < 2:
            raise InputError("measurement 'orthogonality' needs a world of two variables or more")
        parts = (json.dumps(dict(part), sort_keys=True) for part in (recipe.denoiser, recipe.process))
        _seek_bottleneck(world.image_shape, world.condition_shape, *parts, recipe.prediction, self.module)

    def own_passes(self, context: Context) -> int:
        sought = 1 if self.module is None else 0
        return sought + self.images * (1 + len(context.world.space.altered(centre_of(context.split))))

    def rows(self, live: Live) -> Iterable[Row]:
        if not is_judged(live):
            return
        context, world = live.context, live.context.world
        centre, seed = centre_of(context.split), context.recipe.seed
        level = Level(live.denoiser, live.process, context.recipe.prediction, self.level)
        bottleneck = Bottleneck(level, world.condition(centre), context.recipe.pixels, self.module)
        for name, feature in {"pixels": pixels, "bottleneck": bottleneck}.items():
            groups, base = concept_features(world, centre, feature, self.images, seed)
            yield Row("", name, "orthogonality", orthogonality(measured_cosines(groups, base)))


@lru_cache(maxsize=64)
def _seek_bottleneck(
    image_shape: tuple[int, int, int],
    condition_shape: tuple[int, ...],
    denoiser: str,
    process: str,
    prediction: str,
    module: str | None,
) -> None:
    """Refuse a network without a bottleneck before it is trained; once for all recipes that share it."""
    with one_thread():
        network = build_denoiser(
            image_shape=image_shape, condition_shape=condition_shape, seed=0, **json.loads(denoiser)
        )
        level = Level(network.eval(), build_process(**json.loads(process)), prediction, 0.0)
        Bottleneck(level, torch.zeros(condition_shape), "unit", module)


def centre_of(split: Split) -> Class:
    """The training class that has most of the others as neighbours."""
    space, train = split.space, split.train
    return max(train, key=lambda cls: sum(space.distance(cls, other) == 1 for other in train))
