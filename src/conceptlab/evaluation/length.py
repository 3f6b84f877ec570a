"""What does the model draw when it is asked for more objects than it has seen?"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor

from conceptlab import measures
from conceptlab.errors import InputError
from conceptlab.evaluation.colours import colour_reader, colour_shares
from conceptlab.evaluation.locality_rows import is_judged
from conceptlab.evaluation.measurement import Context, Live, Measurement, Prompt, Row, class_prompt, register
from conceptlab.probes import Detector, Found
from conceptlab.probes.detector import THRESHOLD
from conceptlab.worlds import Factors, ObjectWorld, derived_seed
from conceptlab.worlds import build as build_world
from conceptlab.worlds.objects import check_count, cut

_LEAST_IMAGES = 50  # exact counts need images, not conditions
FURTHEST = 5
"""Distances between conditions, in cells, are told up to this; whatever is further away, or has no other, with it."""
_ROUND = 100  # scenes are drawn in hundreds, so that few different numbers of them are


@register("length")
class Length(Measurement):
    """Prompts of K = 0 … `most` conditions, every image with a layout of its own; at least as many conditions for
    each K as the recipe's evaluation has images. Rows for each K (class):

    | measure | variable | value |
    |---|---|---|
    | `share_met` | | share of conditions met, one to one, within one cell (location recall) |
    | `share_met` | `heat .3` | the same with another threshold of the detector |
    | `share_met` | `nearest 2` | the same of conditions with their nearest other two cells away; `nearest 5`: or more |
    | `conditions` | `nearest 2` | how many conditions those are |
    | `share_error` | | its standard error over images |
    | `share_chance` | | share met under conditions shuffled between images |
    | `share_corrected` | | the share beyond chance |
    | `colour_met`, `…_chance`, `…_corrected` | | the same of colours asked for, anywhere; where colours are told |
    | `both_met`, … | | the same of objects of the right colour at the right place; where both are told |
    | `precision` | | share of the objects found that meet a condition |
    | `exact_count` | | share of images with exactly K objects |
    | `objects` | | objects found on average |
    | `spurious` | | objects that meet no condition, on average |
    | `spurious_expected` | | the same in the training data, where they hold prompts of K conditions |
    | `detector_…` | | shares of the detector on held-out real images of K objects, at the end (`is_judged`) |
    """

    def __init__(
        self, most: int = 12, heats: Sequence[float] = (0.3, 0.7), least_images: int = _LEAST_IMAGES
    ) -> None:
        for name, value in (("most", most), ("least_images", least_images)):
            if value < 1:
                raise InputError(f"measurement 'length': {name} is {value}; it must be at least 1")
        self.most, self.heats, self.least = most, tuple(heats), least_images

    def prompts(self, context: Context, images: int) -> list[Prompt]:
        def conditions(world: ObjectWorld, k: int, n: int) -> Tensor:
            return world.ask(_scenes(world, k, n, _seed(context)))

        return self._prompts(context, images, conditions)

    def outlines(self, context: Context, images: int) -> list[Prompt]:
        # Without laying out a scene.
        return self._prompts(context, images, lambda world, _, n: torch.zeros(n, *world.condition_shape))

    def _prompts(
        self, context: Context, images: int, conditions: Callable[[ObjectWorld, int, int], Tensor]
    ) -> list[Prompt]:
        world, shown = _world(context), context.recipe.evaluation.shown
        # One layout for each K, to be looked at.
        prompts = [class_prompt(context, cls, shown) for cls in world.space] if shown else []
        for k in range(self.most + 1):
            prompts += [
                Prompt(_name(k, i), condition, 1, stream=f"length {i}")
                for i, condition in enumerate(conditions(world, k, self._images(k, images)))
            ]
        return prompts

    def check(self, context: Context) -> None:
        check_count(self.most, _world(context).most)
        check_detector("length", context)

    def rows(self, live: Live) -> Iterable[Row]:
        world, judge = _world(live.context), live.context.judge
        assert isinstance(judge, Detector)
        expected = spurious_expected(live.context)
        for k in range(self.most + 1):
            start = _name(k, "")
            drawn = [images for name, images in live.images.items() if name.startswith(start)]
            yield from self._rows(world, judge, k, drawn, _seed(live.context))
            if k in expected:
                yield Row(str(k), "", "spurious_expected", expected[k])
            if is_judged(live):
                yield from self._real(world, judge, k, len(drawn), _seed(live.context))

    def _rows(
        self, world: ObjectWorld, judge: Detector, k: int, drawn: list[Tensor], seed: int
    ) -> Iterable[Row]:
        asked, pictures = self._asked(world, k, len(drawn), seed), torch.cat(drawn)
        found = judge.find(pictures)
        seen = measures.answer(asked, cells_above(world, found, THRESHOLD))
        for name, value in _named(seen, k).items():
            yield Row(str(k), "", name, value)
        for name, value in self._colours(world, k, pictures, found, seed):
            yield Row(str(k), "", name, value)
        for heat in self.heats if k else ():
            share = float(measures.met(asked, cells_above(world, found, heat)).mean()) / k
            yield Row(str(k), f"heat {heat:g}", "share_met", share)
        if k:
            yield from _by_distance(k, asked, cells_above(world, found, THRESHOLD))

    def _real(self, world: ObjectWorld, judge: Detector, k: int, images: int, seed: int) -> Iterable[Row]:
        """The detector on real images of the very layouts that were asked for, which no training has seen."""
        pictures = _pictures(_unconditioned(world), k, images, seed)
        found = judge.find(pictures)
        seen = measures.answer(self._asked(world, k, images, seed), cells_above(world, found, THRESHOLD))
        colours = dict(self._colours(world, k, pictures, found, seed))
        for name, value in (_named(seen, k) | colours).items():
            if name in ("share_met", "exact_count", "precision", "colour_met", "both_met"):
                yield Row(str(k), "", f"detector_{name}", value)

    def _colours(
        self, world: ObjectWorld, k: int, pictures: Tensor, found: Found, seed: int
    ) -> Iterable[tuple[str, float]]:
        """Shares of the colours asked for, where they are told."""
        if k and world.told != "location":
            told = list(_scenes(world, k, len(pictures), seed)["colour"][:, :k].long().numpy())
            seen = colour_reader(_unconditioned(world)).read(pictures, found.above(THRESHOLD))
            places = cells_above(world, found, THRESHOLD)
            yield from colour_shares(world, self._asked(world, k, len(pictures), seed), told, places, seen)

    def _asked(self, world: ObjectWorld, k: int, images: int, seed: int) -> list[measures.Cells]:
        return list(world.cell_of(_scenes(world, k, images, seed)["centres"][:, :k]).numpy())

    def _images(self, k: int, conditions: int) -> int:
        least = min(self.least, conditions)
        return max(math.ceil(conditions / k), least) if k else least


def _by_distance(k: int, asked: list[measures.Cells], found: list[measures.Cells]) -> Iterable[Row]:
    """Shares by how far the nearest other condition is: is a condition missed for their number, or for a neighbour?"""
    hits, apart = measures.which_met(asked, found), measures.nearest(asked).clip(1, FURTHEST)
    for distance in range(1, FURTHEST + 1):
        if (those := apart == distance).any():
            yield Row(str(k), nearest_name(distance), "share_met", float(hits[those].mean()))
            yield Row(str(k), nearest_name(distance), "conditions", float(those.sum()))


def nearest_name(distance: int) -> str:
    return f"nearest {distance}"


def spurious_expected(context: Context) -> dict[int, float]:
    """Objects that nobody labelled, on average over the training images with K labels, by K."""
    world = _world(context)
    counts = {cls[0]: n for cls, n in context.split.counts.items()}
    if world.labelled == "all":
        return dict.fromkeys(counts, 0.0)
    some = {k: n for k, n in counts.items() if k > 0}
    return {1: sum((k - 1) * n for k, n in some.items()) / sum(some.values())}


def _named(seen: measures.Answer, k: int) -> dict[str, float]:
    """The measures of an answer by name; without conditions there are no shares."""
    counts = {"exact_count": seen.exact, "objects": seen.objects, "spurious": seen.spurious}
    if k == 0:
        return counts
    return {
        "share_met": seen.share,
        "share_error": seen.error,
        "share_chance": seen.chance,
        "share_corrected": seen.corrected,
        "precision": seen.precision,
        **counts,
    }


def check_detector(measurement: str, context: Context) -> None:
    if context.recipe.evaluation.probe["name"] != "detector":
        raise InputError(f"measurement '{measurement}' needs a detector; set evaluation.probe.name=detector")


def _world(context: Context) -> ObjectWorld:
    if not isinstance(context.world, ObjectWorld):
        raise InputError(f"measurement 'length' needs a world of objects, not '{context.world.name}'")
    return context.world


def _seed(context: Context) -> int:
    """The layouts asked for: the same for all members of a seed, and never those of the training data."""
    return derived_seed(context.recipe.seed, "evaluation/length")


def _name(k: int, image: int | str) -> str:
    return f"length {k} image {image}"


def cells_above(world: ObjectWorld, found: Found, heat: float) -> list[measures.Cells]:
    """The cells of each image's objects: its peaks of at least a heat."""
    cells, there = world.cell_of(found.centres).numpy(), (found.heat >= heat).numpy()
    return [mine[kept] for mine, kept in zip(cells, there)]


def _scenes(world: ObjectWorld, k: int, n: int, seed: int) -> Factors:
    """n scenes, cut to K objects."""
    drawn = _drawn(_unconditioned(world), _ROUND * -(-n // _ROUND), seed)
    return {name: part[:n] for name, part in cut(drawn, k).items()}


def _unconditioned(world: ObjectWorld) -> ObjectWorld:
    """The world as it looks, whatever is told of it: members that are told different things share its scenes."""
    looks = {name: part for name, part in world.settings.items() if name not in world.condition_settings}
    plain = build_world(world.name, **looks)
    assert isinstance(plain, ObjectWorld)
    return plain


# Laying scenes out and rendering them takes a while, and every evaluation and every member of a seed asks for the same.


@functools.lru_cache(maxsize=32)
def _drawn(world: ObjectWorld, n: int, seed: int) -> Factors:
    return world.draw((world.most,), n, seed)


@functools.lru_cache(maxsize=64)  # thirteen numbers of objects, a few seeds
def _pictures(world: ObjectWorld, k: int, n: int, seed: int) -> Tensor:
    return world.render(_scenes(world, k, n, seed))
