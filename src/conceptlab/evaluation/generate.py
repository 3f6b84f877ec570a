"""Drawing images from the members of a cohort: all members, classes and prompts in as few batches as fit."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from conceptlab import random
from conceptlab.diffusion import Process, sample
from conceptlab.evaluation.measurement import Prompt
from conceptlab.recipe import Recipe
from conceptlab.training import Cohort, CohortDenoiser, to_image

# Images in one batch, all members together; memory grows with it, speed hardly does beyond this.
BATCH = 512


def generate(cohort: Cohort, weights: str, prompts: Sequence[Sequence[Prompt]]) -> list[dict[str, Tensor]]:
    """Images in [0, 1] on the CPU for each member and prompt.

    `prompts[e]` are the prompts of member e; every member has as many, with as many images each. Noise depends on
    the member's seed, the prompt's stream and the image's number alone: not on the device, the batch, or the step
    of training, so that a picture can be followed through training.
    """
    recipes = cohort.recipes
    conditions = torch.stack([_repeat(asked) for asked in prompts])  # (E, N, …)
    keys = torch.stack([prompt_keys(r.seed, asked) for r, asked in zip(recipes, prompts)])  # (E, N, 2)
    chunk = max(1, BATCH // len(recipes))
    drawing = Drawing(cohort.denoiser, cohort.process, cohort.recipe)
    drawn = []
    for start in range(0, conditions.shape[1], chunk):
        part = slice(start, start + chunk)
        batch = conditions[:, part].to(cohort.device), keys[:, part].to(cohort.device)
        with torch.no_grad():
            drawn.append(cohort.each(weights, drawing, *batch).cpu())
    images = torch.cat(drawn, dim=1)
    sizes = [prompt.images for prompt in prompts[0]]
    return [
        {prompt.name: part for prompt, part in zip(asked, mine.split(sizes))}
        for asked, mine in zip(prompts, images)
    ]


class Drawing(nn.Module):
    """The whole way from noise to images as one module, for all members of a cohort."""

    def __init__(self, denoiser: CohortDenoiser, process: Process, recipe: Recipe) -> None:
        super().__init__()
        self.denoiser, self.process = denoiser, process
        self.recipe = recipe

    def forward(self, conditions: Tensor, keys: Tensor) -> Tensor:
        """Images (E, N, C, H, W) in [0, 1] from conditions (E, N, …) and a key for each image (E, N, 2)."""
        recipe, shape = self.recipe, self.denoiser.image_shape

        def predict(z: Tensor, time: Tensor) -> Tensor:
            return self.denoiser(z, time[:, None].expand(z.shape[:2]), conditions).float()

        pixels = sample(
            predict,
            _Columns(self.process),
            recipe.prediction,
            random.normal(random.fold(keys, 0), shape),
            steps=recipe.evaluation.sampler_steps,
            method=recipe.evaluation.sampler,
            draw=lambda i: random.normal(random.fold(keys, i + 1), shape),
        )
        return to_image(pixels, recipe.pixels)


class _Columns(Process):
    """A process whose parameters are columns (E, 1), at times (S,): noise levels (S, E), one for each member."""

    def __init__(self, process: Process) -> None:
        super().__init__()
        self.process = process

    def gamma(self, t: Tensor) -> Tensor:
        return self.process.gamma(t[None]).mT

    def network_time(self, t: Tensor) -> Tensor:
        return self.process.network_time(t[None]).mT

    def sampling_times(self, steps: int, device: torch.device) -> Tensor:
        return self.process.sampling_times(steps, device)


def _repeat(prompts: Sequence[Prompt]) -> Tensor:
    return torch.cat([prompt.condition.expand(prompt.images, *prompt.condition.shape) for prompt in prompts])


def prompt_keys(seed: int, prompts: Sequence[Prompt]) -> Tensor:
    """A key for each image: seed, then stream, then number."""
    base = random.key(seed, "evaluation")
    return torch.cat(
        [
            random.fold(random.fold(base, zlib.crc32(prompt.stream.encode())), torch.arange(prompt.images))
            for prompt in prompts
        ]
    )
