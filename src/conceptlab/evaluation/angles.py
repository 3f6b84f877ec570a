"""Angles between concepts, in pixels and inside a trained network."""

from __future__ import annotations

from collections.abc import Iterable

from conceptlab.concepts import Class, Split
from conceptlab.denoisers import Denoiser
from conceptlab.denoisers import build as build_denoiser
from conceptlab.diffusion import Process
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
        shapes = {"image_shape": world.image_shape, "condition_shape": world.condition_shape}
        # It is looked for here: a network without a bottleneck is told before it is trained, not after.
        with one_thread():
            denoiser = build_denoiser(seed=recipe.seed, **shapes, **recipe.denoiser).eval()
            self._bottleneck(context, denoiser, build_process(**recipe.process))

    def own_passes(self, context: Context) -> int:
        return self.images * (1 + len(context.world.space.altered(centre_of(context.split))))

    def rows(self, live: Live) -> Iterable[Row]:
        if not is_judged(live):
            return
        context, world = live.context, live.context.world
        maps = {"pixels": pixels, "bottleneck": self._bottleneck(context, live.denoiser, live.process)}
        for name, feature in maps.items():
            centre, seed = centre_of(context.split), context.recipe.seed
            groups, base = concept_features(world, centre, feature, self.images, seed)
            yield Row("", name, "orthogonality", orthogonality(measured_cosines(groups, base)))

    def _bottleneck(self, context: Context, denoiser: Denoiser, process: Process) -> Bottleneck:
        recipe, condition = context.recipe, context.world.condition(centre_of(context.split))
        level = Level(denoiser, process, recipe.prediction, self.level)
        return Bottleneck(level, condition, recipe.pixels, self.module)


def centre_of(split: Split) -> Class:
    """The training class that has most of the others as neighbours."""
    space, train = split.space, split.train
    return max(train, key=lambda cls: sum(space.distance(cls, other) == 1 for other in train))
