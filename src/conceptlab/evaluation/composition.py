"""Sampling by composed scores of single conditions, against a model's own joint sampling.

    s(x | c_1 … c_K) ≈ s(x | nothing) + Σ_j [s(x | c_j) - s(x | nothing)]

(Liu et al., "Compositional visual generation with composable diffusion models", 2022, Eq. 11.) A network's output,
whatever it predicts, is linear in the score at given noise, so outputs are composed in the place of scores.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
import torch
from torch import Tensor

from conceptlab import measures, random
from conceptlab.denoisers import Denoiser
from conceptlab.diffusion import Process, sample
from conceptlab.errors import InputError
from conceptlab.evaluation.locality_rows import is_judged
from conceptlab.evaluation.measurement import Live, Measurement, Row, register
from conceptlab.probes import Detector
from conceptlab.probes.detector import THRESHOLD
from conceptlab.recipe import Recipe
from conceptlab.training.objective import to_image
from conceptlab.worlds import ObjectWorld, derived_seed

_BATCH = 256  # images in one call of the network


def composed_output(denoiser: Denoiser, z: Tensor, time: Tensor, singles: Tensor, nothing: Tensor) -> Tensor:
    """The composed output at noisy images (B, …) for conditions `singles` (B, K, …); `nothing` (…) is no condition."""
    base = denoiser(z, time, nothing.expand(len(z), *nothing.shape)).float()
    k = singles.shape[1]
    if k == 0:
        return base
    each = denoiser(z.repeat_interleave(k, 0), time.repeat_interleave(k, 0), singles.flatten(0, 1)).float()
    return base + (each.unflatten(0, (-1, k)) - base[:, None]).sum(1)


def sample_composed(
    denoiser: Denoiser, process: Process, recipe: Recipe, singles: Tensor, nothing: Tensor, noise: Tensor
) -> Tensor:
    """Images (B, C, H, W) in [0, 1] from noise by composed scores, with DDIM and the recipe's number of steps."""
    return _sampled(
        lambda z, time, part: composed_output(denoiser, z, time, singles[part], nothing),
        process,
        recipe,
        noise,
        max(1, _BATCH // (singles.shape[1] + 1)),
    )


def sample_jointly(
    denoiser: Denoiser, process: Process, recipe: Recipe, conditions: Tensor, noise: Tensor
) -> Tensor:
    """The same with all conditions given at once, (B, …): what the model does by itself."""
    return _sampled(
        lambda z, time, part: denoiser(z, time, conditions[part]).float(), process, recipe, noise, _BATCH
    )


def _sampled(predict, process: Process, recipe: Recipe, noise: Tensor, batch: int) -> Tensor:
    steps, found = recipe.evaluation.sampler_steps, []
    with torch.no_grad():
        for part in torch.arange(len(noise), device=noise.device).split(batch):
            pixels = sample(
                lambda z, time, part=part: predict(z, time, part),
                process,
                recipe.prediction,
                noise[part],
                steps,
            )
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

    def rows(self, live: Live) -> Iterable[Row]:
        world = live.context.world
        if not isinstance(world, ObjectWorld) or "location" not in world.condition_parts:
            raise InputError("measurement 'composition' needs a world of objects told by their location")
        if not is_judged(live):
            return
        for k in self.counts:
            joint, composed, asked = self._draw(live, world, k)
            difference = (joint - composed).square().mean().sqrt()
            yield Row(str(k), "", "composed_difference", float(difference))
            for name, images in (("joint_share", joint), ("composed_share", composed)):
                yield Row(str(k), "", name, share_met(live.context.judge, world, images, asked))

    def _draw(self, live: Live, world: ObjectWorld, k: int) -> tuple[Tensor, Tensor, Tensor]:
        """Images of both ways, and the centres asked for."""
        recipe = live.context.recipe
        n = math.ceil(self.conditions / k)
        factors = world.draw((k,), n, derived_seed(recipe.seed, "evaluation/composition"))
        one = torch.arange(world.most)
        singles = torch.stack([world.grid(factors, (one == j).repeat(n, 1)) for j in range(k)], dim=1)
        device = next(live.denoiser.parameters()).device
        noise = random.normal(random.key(recipe.seed, "composition/noise"), (n, *world.image_shape)).to(
            device
        )
        parts = live.denoiser, live.process, recipe
        composed = sample_composed(
            *parts, singles.to(device), torch.zeros(world.condition_shape, device=device), noise
        )
        joint = sample_jointly(*parts, world.ask(factors).to(device), noise)
        return joint.cpu(), composed.cpu(), factors["centres"][:, :k]


def share_met(judge: object, world: ObjectWorld, images: Tensor, centres: Tensor) -> float:
    """The share of conditions met, objects and conditions matched one to one."""
    if not isinstance(judge, Detector):
        raise InputError("measurement 'composition' needs a detector; set evaluation.probe.name=detector")
    found = [world.cell_of(points).numpy() for points in judge.find(images).above(THRESHOLD)]
    asked = world.cell_of(centres).numpy()
    return float(np.mean([measures.met(a, f) for a, f in zip(asked, found)]) / centres.shape[1])
