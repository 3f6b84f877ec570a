"""Losses, one number per image; the mean over images is the caller's, who may hold many models' batches."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from conceptlab.diffusion.prediction import noisy, split, target
from conceptlab.diffusion.process import Process


class Bound(NamedTuple):
    """The variational bound on -log p(x) in nats per dimension, in its three parts (VDM Eq. 11), per image."""

    diffusion: Tensor
    prior: Tensor
    reconstruction: Tensor

    @property
    def total(self) -> Tensor:
        return self.diffusion + self.prior + self.reconstruction


def mse(kind: str, output: Tensor, x0: Tensor, eps: Tensor, alpha: Tensor, sigma: Tensor) -> Tensor:
    """Squared error of the network's own target, mean over pixels: images (*leading, C, H, W) → (*leading,)."""
    return _pixel_mean((output - target(kind, x0, eps, alpha, sigma)).square(), max(1, alpha.ndim))


def bound(
    kind: str,
    output: Tensor,
    x0: Tensor,
    eps: Tensor,
    t: Tensor,
    process: Process,
    data_noise: float,
) -> Bound:
    """The continuous-time bound at one time per image; its mean over t ~ U(0, 1) is the bound itself.

    `output` is the network's prediction at z = alpha(t) x0 + sigma(t) eps. `data_noise` is the standard
    deviation of the Gaussian likelihood p(x | z_0) = N(z_0 / alpha_0, data_noise²).
    """
    alpha, sigma = process.alpha_sigma(t)
    z = noisy(x0, eps, alpha, sigma)
    _, predicted = split(kind, output, z, alpha, sigma)
    # VDM Eq. 17: ½ gamma'(t) ‖eps - eps_hat‖²
    diffusion = 0.5 * process.slope(t) * _pixel_mean((eps - predicted).square(), t.ndim)
    ends = process.gamma(torch.stack((torch.zeros_like(t), torch.ones_like(t))))
    # KL(q(z_1 | x) ‖ N(0, 1)) with mean alpha_1 x and variance sigma_1².
    signal, variance = torch.sigmoid(-ends[1]), torch.sigmoid(ends[1])
    log_variance = torch.nn.functional.logsigmoid(ends[1])
    prior = 0.5 * (variance + signal * _pixel_mean(x0.square(), t.ndim) - log_variance - 1)
    # -E log p(x | z_0): z_0 / alpha_0 - x = (sigma_0 / alpha_0) eps, whose square is exp(gamma_0) on average.
    # The expectation is taken exactly; drawing eps here would only add noise.
    spread = torch.exp(ends[0]) / data_noise**2
    reconstruction = 0.5 * (math.log(2 * math.pi * data_noise**2) + spread)
    return Bound(diffusion, prior, reconstruction)


def _pixel_mean(values: Tensor, leading: int) -> Tensor:
    return values.flatten(leading).mean(-1)
