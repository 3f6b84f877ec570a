"""Normalisation by batches, for networks that are published with it.

While a model trains, each channel is normalised by its mean and variance over the batch. To draw with, it needs
statistics of its own: `mean` and `variance`, which are parameters that no gradient reaches, so that they are kept,
averaged, fine-tuned and patched like all others. They are not averaged over training, as is usual, but set from a few
batches of training data for the weights as they are (Wu and Johnson 2021, "Rethinking 'Batch' in BatchNorm", §3):
they follow from weights and data, and a resumed run has nothing more to remember.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

# The names of parameters that hold statistics: they want single precision whatever the network's.
STATISTICS = ("mean", "variance")


class BatchNorm(nn.Module):
    """Images (B, channels, H, W); with `gelu`, that follows, which a cohort on a GPU does on the way."""

    def __init__(self, channels: int, eps: float = 1e-5, gelu: bool = False) -> None:
        super().__init__()
        self.eps, self.gelu = eps, gelu
        self.weight, self.bias = nn.Parameter(torch.ones(channels)), nn.Parameter(torch.zeros(channels))
        self.mean = nn.Parameter(torch.zeros(channels), requires_grad=False)
        self.variance = nn.Parameter(torch.ones(channels), requires_grad=False)

    def forward(self, x: Tensor) -> Tensor:
        mean, variance = moments(x, (0, 2, 3)) if self.training else (self.mean, self.variance)
        y = normalised(x, mean, variance, self.weight, self.bias, self.eps)
        return F.gelu(y) if self.gelu else y


def moments(x: Tensor, axes: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Mean and variance over some axes, in at least single precision."""
    exact = x.to(torch.promote_types(x.dtype, torch.float32))
    variance, mean = torch.var_mean(exact, axes, correction=0)
    return mean, variance


def normalised(x: Tensor, mean: Tensor, variance: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
    """Images (…, C, H, W) by statistics, weight and bias (…, C)."""
    scale, shift = line(mean, variance, weight, bias, eps)
    return (x * scale[..., None, None] + shift[..., None, None]).to(x.dtype)


def line(mean: Tensor, variance: Tensor, weight: Tensor, bias: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """Normalisation as a factor and a level of each channel."""
    scale = weight * torch.rsqrt(variance + eps)
    return scale, bias - mean * scale
