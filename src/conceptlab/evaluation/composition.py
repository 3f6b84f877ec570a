"""Sampling by composed scores of single conditions, against a model's own joint sampling.

    s(x | c_1 … c_K) ≈ s(x | nothing) + Σ_j [s(x | c_j) - s(x | nothing)]

(Liu et al., "Compositional visual generation with composable diffusion models", 2022, Eq. 11.) A network's output,
whatever it predicts, is linear in the score at given noise, so outputs are composed in the place of scores.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from conceptlab import measures, random
from conceptlab.denoisers import Denoiser
from conceptlab.diffusion import Process, sample
from conceptlab.errors import InputError
from conceptlab.evaluation.length import cells_above, check_detector
from conceptlab.evaluation.locality_rows import is_judged
from conceptlab.evaluation.measurement import Context, Live, Measurement, Row, register
from conceptlab.probes import Detector
from conceptlab.probes.detector import THRESHOLD
from conceptlab.recipe import Recipe
from conceptlab.training.objective import to_image
from conceptlab.worlds import Factors, ObjectWorld, derived_seed
from conceptlab.worlds.objects import check_count

_BATCH = 256  # images in one call of the network

Predict = Callable[[Tensor, Tensor], Tensor]
"""From noisy images and times to a network's output."""


class Singles(NamedTuple):
    """Single conditions (S, …), and the image (S,) that each belongs to: images may have different numbers of them."""

    conditions: Tensor
    owner: Tensor

    def of(self, images: Tensor) -> Singles:
        """Those of consecutive images, counted from the first of them."""
        mine = (self.owner >= images[0]) & (self.owner <= images[-1])
        return Singles(self.conditions[mine], self.owner[mine] - images[0])


def composed_output(denoiser: Denoiser, z: Tensor, time: Tensor, singles: Singles, nothing: Tensor) -> Tensor:
    """The composed output at noisy images (B, …); `nothing` (…) is no condition."""
    conditions, owner = singles
    asked = torch.cat((nothing.expand(len(z), *nothing.shape), conditions))
    alone = denoiser(torch.cat((z, z[owner])), torch.cat((time, time[owner])), asked).float()
    base, each = alone[: len(z)], alone[len(z) :]
    return base.index_add(0, owner, each - base[owner])


def sample_composed(
    denoiser: Denoiser, process: Process, recipe: Recipe, singles: Singles, nothing: Tensor, noise: Tensor
) -> Tensor:
    """Images (B, C, H, W) in [0, 1] from noise by composed scores, with DDIM and the recipe's number of steps."""
    most = int(singles.owner.bincount().max())

    def of(part: Tensor) -> Predict:
        mine = singles.of(part)
        return lambda z, time: composed_output(denoiser, z, time, mine, nothing)

    return _sampled(of, process, recipe, noise, max(1, _BATCH // (most + 1)))


def sample_jointly(
    denoiser: Denoiser, process: Process, recipe: Recipe, conditions: Tensor, noise: Tensor
) -> Tensor:
    """The same with all conditions given at once, (B, …): what the model does by itself."""

    def of(part: Tensor) -> Predict:
        return lambda z, time: denoiser(z, time, conditions[part]).float()

    return _sampled(of, process, recipe, noise, _BATCH)


def _sampled(
    of: Callable[[Tensor], Predict], process: Process, recipe: Recipe, noise: Tensor, batch: int
) -> Tensor:
    """Images from noise, a batch at a time; `of(part)` predicts for the images of these numbers."""
    steps, found = recipe.evaluation.sampler_steps, []
    with torch.no_grad():
        for part in torch.arange(len(noise), device=noise.device).split(batch):
            pixels = sample(of(part), process, recipe.prediction, noise[part], steps)
            found.append(to_image(pixels, recipe.pixels))
    return torch.cat(found)


@register("composition")
class Composition(Measurement):
    """At the last evaluation (`is_judged`), for every K (class): the same layouts from the same noise, both ways.

    | measure | value |
    |---|---|
    | `composed_share` | share of conditions met by composed single-condition scores |
    | `joint_share` | share met by the model's own joint sampling |
    | `composed_difference` | root mean square difference of the two images |

    No condition is a grid of zeros, which training images do not have unless conditions were dropped.
    """

    def __init__(self, conditions: int = 100, counts: Sequence[int] = (1, 3, 5, 8)) -> None:
        if conditions < 1 or not counts or min(counts) < 1:
            raise InputError(
                "measurement 'composition' needs at least one condition, and counts of 1 or more"
            )
        self.conditions, self.counts = conditions, tuple(counts)

    def check(self, context: Context) -> None:
        world = context.world
        if not isinstance(world, ObjectWorld) or "location" not in world.condition_parts:
            raise InputError("measurement 'composition' needs a world of objects told by their location")
        check_count(max(self.counts), world.most)
        check_detector("composition", context)

    def own_passes(self, context: Context) -> int:
        # Composed, an image is seen with each condition and with none; jointly once more.
        seen = sum(self._images(k) * (k + 2) for k in set(self.counts))
        return seen * context.recipe.evaluation.sampler_steps

    def rows(self, live: Live) -> Iterable[Row]:
        world = live.context.world
        if not is_judged(live):
            return
        assert isinstance(world, ObjectWorld)
        scenes = {k: self._scenes(live.context.recipe, world, k) for k in self.counts}
        joint, composed = _both_ways(live, world, scenes)
        for k, one, other in zip(scenes, joint, composed):
            yield Row(str(k), "", "composed_difference", float((one - other).square().mean().sqrt()))
            asked = scenes[k]["centres"][:, :k]
            for name, images in (("joint_share", one), ("composed_share", other)):
                yield Row(str(k), "", name, share_met(live.context.judge, world, images, asked))

    def _scenes(self, recipe: Recipe, world: ObjectWorld, k: int) -> Factors:
        return world.draw((k,), self._images(k), derived_seed(recipe.seed, "evaluation/composition"))

    def _images(self, k: int) -> int:
        return math.ceil(self.conditions / k)


def _both_ways(
    live: Live, world: ObjectWorld, scenes: Mapping[int, Factors]
) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
    """Images of scenes by K, drawn jointly and composed. All K together: a GPU takes as long for a few images as for a
    hundred."""
    recipe, device = live.context.recipe, next(live.denoiser.parameters()).device
    images = [len(factors["count"]) for factors in scenes.values()]
    key = random.key(recipe.seed, "composition/noise")
    noise = torch.cat([random.normal(key, (n, *world.image_shape)) for n in images]).to(device)
    each = torch.tensor([k for k, n in zip(scenes, images) for _ in range(n)], device=device)
    told = [_one_by_one(world, factors, k) for k, factors in scenes.items()]
    owner = torch.arange(len(noise), device=device).repeat_interleave(each)
    singles = Singles(torch.cat(told).to(device), owner)
    nothing = torch.zeros(world.condition_shape, device=device)
    asked = torch.cat([world.ask(factors) for factors in scenes.values()]).to(device)
    parts = live.denoiser, live.process, recipe
    composed = sample_composed(*parts, singles, nothing, noise)
    joint = sample_jointly(*parts, asked, noise)
    return joint.cpu().split(images), composed.cpu().split(images)


def _one_by_one(world: ObjectWorld, factors: Factors, k: int) -> Tensor:
    """The K conditions of every scene (n · K, …), those of one scene after each other."""
    number = torch.arange(world.most)
    told = [world.grid(factors, (number == j).repeat(len(factors["count"]), 1)) for j in range(k)]
    return torch.stack(told, dim=1).flatten(0, 1)


def share_met(judge: object, world: ObjectWorld, images: Tensor, centres: Tensor) -> float:
    """The share of conditions met, objects and conditions matched one to one."""
    assert isinstance(judge, Detector)
    found = cells_above(world, judge.find(images), THRESHOLD)
    hits = measures.met(list(world.cell_of(centres).numpy()), found)
    return float(hits.mean() / centres.shape[1])
