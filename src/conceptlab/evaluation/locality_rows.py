"""Locality of the score while a model trains."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeGuard

import torch
from torch import Tensor

from conceptlab import random
from conceptlab.errors import InputError
from conceptlab.evaluation import locality
from conceptlab.evaluation.measurement import Context, Live, Measurement, Row, register
from conceptlab.evaluation.norms import fixed_batch, fixed_size
from conceptlab.recipe import Recipe
from conceptlab.training.objective import to_model
from conceptlab.worlds import ObjectWorld, World, derived_seed

LEVELS = (-4.0, -2.0, 0.0, 2.0, 4.0)
"""-log SNR: from hardly any noise to hardly any image."""
NEAR = 1.0
"""Cells from a condition's centre within which its own effect is expected; beyond twice this it is far."""


@register("locality")
class Locality(Measurement):
    """Which pixels and conditions the score depends on, at several noise levels, at the last evaluation (`is_judged`);
    nothing is drawn.

    For every denoiser, with the noise level (-log SNR) as the variable, written `4` or `4|radius` and so on:

    | measure | variable | value |
    |---|---|---|
    | `pixel_reach` | level | mean distance of the pixel response over that of a global average: 0 … 1 |
    | `pixel_mass` | level, radius | share of the response within a radius, in pixels |
    | `pixel_map` | level, row, column | mean response by offset, its largest being 1 |
    | `condition_share` | level | how much of the estimate the condition decides, and not the noisy image |

    Where conditions are a grid of locations, each condition of a scene of `among` is taken away in turn, or moved to a
    free place, and all count alike. Distances are those from its place, and where it moves from the nearer of its old
    and its new one:

    | measure | variable | value |
    |---|---|---|
    | `far_near` | level | change of x̂ far from a condition taken away, over the change near it |
    | `removed_change` | level, cells | change of x̂ by distance from it |
    | `removed_mass` | level, cells | share of all that change within a distance |
    | `removed_map` | level, row, column | the change by offset, its largest being 1 |
    | `moved_far_near`, `moved_change`, `moved_mass`, `moved_map` | | the same of a condition that is moved |
    | `beyond_reach` | level | of denoisers with a `reach`: the largest change, removed or moved, out of it |
    | `near_change` | level, K | change of x̂ near a condition that is moved among K |
    | `near_gain` | level | `near_change` at the largest K over that at the smallest |

    There are so many scenes of K that K changes, and what was before them, take about two passes for each of `images`.
    """

    def __init__(
        self,
        images: int = 16,
        places: int = 4,
        levels: Sequence[float] = LEVELS,
        among: int = 3,
        counts: Sequence[int] = (1, 2, 3, 5, 8),
        map_radius: int = 12,
    ) -> None:
        if images < 2 or places < 1 or not levels or not counts or min(among, *counts) < 1 or map_radius < 0:
            raise InputError(
                "measurement 'locality' needs 2 images or more, a place, a level, among and counts of 1 or more, and a "
                "map_radius of 0 or more"
            )
        self.images, self.places, self.levels = images, places, tuple(levels)
        self.among, self.counts, self.radius = among, tuple(counts), map_radius

    def check(self, context: Context) -> None:
        if _tells_places(context.world):
            _check_most(context.world, max(self.among, *self.counts))

    def own_passes(self, context: Context) -> int:
        seen, channels = fixed_size(context.recipe, self.images), context.world.image_shape[0]
        # From every place back to the image once for each channel; for the share of conditions x̂ three times.
        pixels = seen * (self.places * (1 + channels) + 3)
        # Once before, and after: each taken away, each moved, and each moved among each number.
        changes = self._scenes(self.among) * (1 + 2 * self.among)
        changes += sum(self._scenes(k) * (1 + k) for k in self.counts)
        return len(self.levels) * (pixels + (changes if _tells_places(context.world) else 0))

    def _scenes(self, k: int) -> int:
        return math.ceil(2 * self.images / (1 + k))

    def rows(self, live: Live) -> Iterable[Row]:
        recipe, world = live.context.recipe, live.context.world
        if not is_judged(live):
            return
        batch = fixed_batch(recipe, self.images)
        for gamma in self.levels:
            level = locality.Level(live.denoiser, live.process, recipe.prediction, gamma)
            yield from self._pixels(recipe, batch, level, f"{gamma:g}")
            if _tells_places(world):
                yield from self._changed(live, world, level, f"{gamma:g}")
                yield from self._near(live, world, level, f"{gamma:g}")

    def _pixels(
        self, recipe: Recipe, batch: tuple[Tensor, ...], level: locality.Level, name: str
    ) -> Iterable[Row]:
        found = seen_pixels(recipe, batch, level, self.places)
        yield Row("", name, "pixel_reach", locality.pixel_reach(found.response, found.places))
        yield Row("", name, "condition_share", found.condition_share)
        radii = range(max(found.response.shape[1:]) // 2 + 1)
        for radius, share in zip(radii, locality.mass_within(found.response, found.places, radii)):
            yield Row("", f"{name}|{radius}", "pixel_mass", share)
        table = locality.offset_map(found.response, found.places, self.radius)
        yield from map_rows(table, name, "pixel_map")

    def _changed(self, live: Live, world: ObjectWorld, level: locality.Level, name: str) -> Iterable[Row]:
        scene = self._scene(live, world, self.among, level)
        after = (*scene["removed"].unbind(1), *scene["moved"].unbind(1))
        removed, moved = locality.condition_change(level, scene["z"], scene["all"], *after).chunk(2)
        old, both = (_places(scene["centres"], moves=moves) for moves in (False, True))
        yield from self._spread(world, removed, old, name, "removed")
        yield from self._spread(world, moved, both, name, "moved")
        reach = getattr(live.denoiser, "reach", None)
        if reach is not None:
            parts = [_beyond(world, change, at, reach) for change, at in ((removed, old), (moved, both))]
            if len(out_of_reach := torch.cat(parts)):
                yield Row("", name, "beyond_reach", float(out_of_reach.max()))

    def _spread(
        self, world: ObjectWorld, change: Tensor, centres: Tensor, name: str, what: str
    ) -> Iterable[Row]:
        """How far from the nearest of its centres (B, M, 2) in pixels x̂ changes (B, H, W)."""
        away = locality.from_centres(centres, *change.shape[1:]) / world.cell
        near, far = locality.mean_by_distance(change, away, (0, NEAR, 2 * NEAR, world.cells))[::2]
        scalar = "far_near" if what == "removed" else f"{what}_far_near"
        yield Row("", name, scalar, far / near if near else float("nan"))
        edges = [i / 2 for i in range(world.cells + 1)]
        for edge, value in zip(edges, locality.mean_by_distance(change, away, edges)):
            yield Row("", f"{name}|{edge + 0.25:g}", f"{what}_change", value)
        for edge, share in zip(edges[1:], locality.share_within(change, away, edges[1:])):
            yield Row("", f"{name}|{edge:g}", f"{what}_mass", share)
        yield from map_rows(locality.map_from_nearest(change, centres, self.radius), name, f"{what}_map")

    def _near(self, live: Live, world: ObjectWorld, level: locality.Level, name: str) -> Iterable[Row]:
        near = {}
        for k in self.counts:
            scene = self._scene(live, world, k, level)
            change = locality.condition_change(level, scene["z"], scene["all"], *scene["moved"].unbind(1))
            centres = _places(scene["centres"], moves=True)
            away = locality.from_centres(centres, *change.shape[1:]) / world.cell
            (near[k],) = locality.mean_by_distance(change, away, (0, NEAR))
            yield Row("", f"{name}|{k}", "near_change", near[k])
        few = near[min(near)]
        yield Row("", name, "near_gain", near[max(near)] / few if few else float("nan"))

    def _scene(self, live: Live, world: ObjectWorld, k: int, level: locality.Level) -> dict[str, Tensor]:
        recipe = live.context.recipe
        scene = asked_scenes(world, k, self._scenes(k), derived_seed(recipe.seed, "evaluation/locality"))
        held = {name: tensor.to(level.alpha.device) for name, tensor in scene.items()}
        noise = _noise(recipe.seed, held["images"].shape).to(level.alpha.device)
        return held | {"z": level.noisy(to_model(held["images"], recipe.pixels), noise)}


def _places(centres: Tensor, *, moves: bool) -> Tensor:
    """Where each condition of the scenes is that changes, one after another, (K·n, 1, 2), or also where it moves to,
    (K·n, 2, 2); centres (n, K+1, 2) end with that place."""
    last = centres.shape[1] - 1
    return torch.cat([centres[:, [i, last] if moves else [i]] for i in range(last)])


def _beyond(world: ObjectWorld, change: Tensor, centres: Tensor, reach: int) -> Tensor:
    """The changes (B, H, W) in cells further than the reach from the nearest of their centres' cells."""
    return change[locality.cells_between(world.cell_of(centres), world.cells, world.cell) > reach]


def _tells_places(world: World) -> TypeGuard[ObjectWorld]:
    return isinstance(world, ObjectWorld) and "location" in world.condition_parts


def _check_most(world: ObjectWorld, k: int) -> None:
    if k + 1 > world.most:
        raise InputError(
            f"locality: to move one of {k} objects the world must hold {k + 1}; set world.most higher"
        )


def is_judged(live: Live) -> bool:
    """The end of training, and of the weights that a figure judges: the moving average where it is measured too."""
    recipe = live.context.recipe
    return live.step == recipe.steps and live.weights == recipe.evaluation.weights[-1]


def map_rows(table: Tensor, name: str, measure: str) -> Iterator[Row]:
    """A map by offset (2·radius+1, 2·radius+1), relative to its largest."""
    table, radius = table / table.nan_to_num().max().clamp(min=1e-30), len(table) // 2
    for i, row in enumerate(table.tolist()):
        for j, value in enumerate(row):
            if not math.isnan(value):
                yield Row("", f"{name}|{i - radius}|{j - radius}", measure, value)


class SeenPixels(NamedTuple):
    """Responses (n, H, W) at places (n, 2) of training images, and how much their conditions decide."""

    response: Tensor
    places: Tensor
    condition_share: float


def seen_pixels(recipe: Recipe, batch: tuple[Tensor, ...], level: locality.Level, places: int) -> SeenPixels:
    """The pixel part of locality, on a `fixed_batch` of the recipe's training images."""
    device = level.alpha.device
    images, conditions, noise, _ = (part[0].to(device) for part in batch)
    z = level.noisy(to_model(images, recipe.pixels), noise)
    key = random.key(recipe.seed, "locality/places")
    where = [
        locality.drawn_places(random.fold(key, i), len(z), *z.shape[2:]).to(device) for i in range(places)
    ]
    response = torch.cat([locality.pixel_response(level, z, conditions, place) for place in where])
    return SeenPixels(response, torch.cat(where), locality.condition_share(level, z, conditions))


@lru_cache(maxsize=8)
def _noise(seed: int, shape: torch.Size) -> Tensor:
    """The same at every level and for every number of conditions, so that only these make a difference."""
    return random.normal(random.key(seed, "locality/noise"), shape)


@lru_cache(maxsize=64)
def asked_scenes(world: World, k: int, n: int, seed: int) -> dict[str, Tensor]:
    """Scenes of K objects, real images of them, and conditions: `all` of them (n, …); and (n, K, …) `removed`, without
    one of them, and `moved`, that one at a place where another object would fit. `centres` (n, K+1, 2) end with that
    place."""
    assert isinstance(world, ObjectWorld)
    _check_most(world, k)
    factors = world.draw((k + 1,), n, seed)
    number = torch.arange(world.most)
    there, free = number < k, number == k

    def told(which: Tensor) -> Tensor:
        return world.grid(factors, which.repeat(n, 1))

    without = [there & (number != i) for i in range(k)]
    conditions = {
        "all": told(there),
        "removed": torch.stack([told(others) for others in without], 1),
        "moved": torch.stack([told(others | free) for others in without], 1),
    }
    images = world.render(factors | {"count": torch.full((n,), k)})
    return {**conditions, "images": images, "centres": factors["centres"][:, : k + 1]}
