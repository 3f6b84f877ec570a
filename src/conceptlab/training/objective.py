"""What a cohort is trained on: the loss of one batch for each member, given all its random numbers."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from conceptlab.diffusion import Process, bound, mse, noisy, spread
from conceptlab.recipe import Recipe
from conceptlab.training.stacked import CohortDenoiser


class Objective(nn.Module):
    """Denoiser and process in one module, so that a learned schedule trains along with the network.

    Parameters have a leading member axis. Those of a process are numbers, and become columns (E, 1) beside times
    (E, B).
    """

    def __init__(self, denoiser: CohortDenoiser, process: Process, recipe: Recipe) -> None:
        super().__init__()
        self.denoiser, self.process = denoiser, process
        self.recipe = recipe

    def forward(self, images: Tensor, conditions: Tensor, noise: Tensor, uniforms: Tensor) -> Tensor:
        """Loss of each member (E,): images (E, B, C, H, W) in [0, 1], uniforms (E, B)."""
        recipe = self.recipe
        x0 = to_model(images, recipe.pixels)
        t = self.process.times(spread(recipe.times, uniforms))
        alpha, sigma = self.process.alpha_sigma(t)
        z = noisy(x0, noise, alpha, sigma)
        output = self.denoiser(z, self.process.network_time(t), conditions).float()
        if recipe.loss == "bound":
            losses = bound(recipe.prediction, output, x0, noise, t, self.process, recipe.data_noise).total
        else:
            losses = mse(recipe.prediction, output, x0, noise, alpha, sigma)
        return losses.mean(1)


def to_model(images: Tensor, pixels: str) -> Tensor:
    """Images as the network sees them; 8-bit images are scaled to [0, 1] first."""
    if images.dtype == torch.uint8:
        images = images.float() / 255
    return images * 2 - 1 if pixels == "symmetric" else images


def to_image(pixels: Tensor, kind: str) -> Tensor:
    """The way back, within [0, 1]."""
    return ((pixels + 1) / 2 if kind == "symmetric" else pixels).clamp(0, 1)
