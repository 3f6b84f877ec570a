"""Samplers: from noise to images in a given number of network evaluations.

A plain loop of tensor operations without a question to the host, so that it can be captured in a CUDA graph. Images of
many models are sampled at once, with a leading member axis.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from conceptlab.diffusion.prediction import split
from conceptlab.diffusion.process import Process, alpha_sigma
from conceptlab.errors import InputError
from conceptlab.registry import choose

METHODS = ("ddim", "ancestral")


def sample(
    predict: Callable[[Tensor, Tensor], Tensor],
    process: Process,
    prediction: str,
    noise: Tensor,
    steps: int,
    method: str = "ddim",
    draw: Callable[[int], Tensor] | None = None,
) -> Tensor:
    """Images from standard normal `noise` (B, ...).

    `predict(z, time)` evaluates the network, with the network's own time repeated for each of the B images.
    `ddim` is deterministic (Song, Meng, Ermon 2021, Eq. 12 with sigma = 0). `ancestral` draws from
    q(z_s | z_t, x0) (VDM Eq. 34) and takes its noise for step i from `draw(i)`. The last step goes to the
    estimated clean image itself, not to the noise level of t = 0.
    """
    choose("sampling method", method, METHODS)
    if steps < 1:
        raise InputError(f"{steps} sampling steps; at least 1 is needed")
    if method == "ancestral" and draw is None:
        raise InputError("ancestral sampling draws noise at every step: give `draw`, or use method 'ddim'")
    times = process.sampling_times(steps, noise.device)
    gammas = process.gamma(times)
    gammas = torch.cat((gammas, torch.full_like(gammas[:1], -torch.inf)))
    network_times = process.network_time(times)
    z = noise
    for i in range(steps):
        alpha, sigma = alpha_sigma(gammas[i])
        next_alpha, next_sigma = alpha_sigma(gammas[i + 1])
        output = predict(z, network_times[i].expand(z.shape[0]))
        x0, eps = split(prediction, output, z, alpha, sigma)
        if method == "ddim":
            z = next_alpha * x0 + next_sigma * eps
        elif draw is not None:
            renewed = -torch.expm1(gammas[i + 1] - gammas[i])
            z = next_alpha * ((1 - renewed) * z / alpha + renewed * x0)
            if i < steps - 1:
                z = z + next_sigma * renewed.sqrt() * draw(i)
    return z
