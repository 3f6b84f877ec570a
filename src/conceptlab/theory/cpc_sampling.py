"""Sampling by composed scores: what single conditions know, put together for many.

    s(x | c_J) ≈ s(x | nothing) + Σ_{j in J} [s(x | c_j) - s(x | nothing)]

(Liu et al., "Compositional visual generation with composable diffusion models", 2022, Eq. 11.) It is exact, at every
noise level, for a CPC distribution whose background is independent between regions; Lemma 1 alone does not give it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from conceptlab.errors import InputError
from conceptlab.theory.mixture import Mixture

Score = Callable[[Tensor, float], Tensor]


def composed_score(nothing: Mixture, singles: Sequence[Mixture]) -> Score:
    """The composed score of p(x | nothing) and of p(x | c_j), one for each condition."""

    def score(x: Tensor, sigma: float) -> Tensor:
        base = nothing.score(x, sigma)
        return base + sum((single.score(x, sigma) - base for single in singles), torch.zeros_like(base))

    return score


def noise_levels(highest: float = 20.0, lowest: float = 0.02, steps: int = 40) -> list[float]:
    """Falling, evenly spaced on a log scale, then 0."""
    if not 0 < lowest < highest or steps < 2:
        raise InputError(
            f"noise levels need 0 < lowest < highest and 2 steps or more; got {lowest}, {highest}, {steps}"
        )
    return [highest * (lowest / highest) ** (i / (steps - 1)) for i in range(steps)] + [0.0]


def flow_samples(score: Score, d: int, n: int, seed: int, levels: Sequence[float] | None = None) -> Tensor:
    """n points (n, d) along the probability flow dx/dsigma = -sigma score(x, sigma), from noise to data.

    Heun's method, its last step Euler's (Karras et al., "Elucidating the design space of diffusion-based generative
    models", 2022, Algorithm 1).
    """
    generator = torch.Generator().manual_seed(seed)
    sigmas = noise_levels() if levels is None else list(levels)
    x = sigmas[0] * torch.randn(n, d, generator=generator, dtype=torch.float64)
    for sigma, lower in itertools.pairwise(sigmas):
        slope = -sigma * score(x, sigma)
        moved = x + (lower - sigma) * slope
        if lower > 0:
            moved = x + (lower - sigma) * (slope - lower * score(moved, lower)) / 2
        x = moved
    return x


def energy_distance(first: Tensor, second: Tensor) -> float:
    """2 E|x - y| - E|x - x'| - E|y - y'|, over E|y - y'|: 0 for equal distributions. Unbiased, so it may fall below 0.

    Székely and Rizzo, "Energy statistics" (2013)."""
    n, m = len(first), len(second)
    if n < 2 or m < 2:
        raise InputError("an energy distance needs two points or more on either side")
    across = torch.cdist(first, second).mean()
    own = torch.cdist(first, first).sum() / (n * (n - 1))
    other = torch.cdist(second, second).sum() / (m * (m - 1))
    return float((2 * across - own - other) / other)
