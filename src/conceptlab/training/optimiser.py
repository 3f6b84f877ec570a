"""Adam and AdamW on a cohort's weight matrix, with clipping and learning rates that are each member's own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from conceptlab.recipe import Recipe

EPSILON = 1e-8


@dataclass
class Hyperparameters:
    """Columns (E, 1), so that members of a cohort may differ in each of them."""

    learning_rate: Tensor
    weight_decay: Tensor
    decoupled: Tensor  # 1 for AdamW (Loshchilov and Hutter), 0 for Adam with L2 in the gradient
    beta1: Tensor
    beta2: Tensor
    clip: Tensor  # infinite where the gradient is not clipped
    ema: Tensor

    @classmethod
    def of(cls, recipes: Sequence[Recipe], device: torch.device) -> Hyperparameters:
        def column(values: list[float]) -> Tensor:
            return torch.tensor(values, dtype=torch.float32, device=device)[:, None]

        optimisers = [recipe.optimiser for recipe in recipes]
        return cls(
            column([o.learning_rate for o in optimisers]),
            column([o.weight_decay for o in optimisers]),
            column([float(o.name == "adamw") for o in optimisers]),
            column([o.betas[0] for o in optimisers]),
            column([o.betas[1] for o in optimisers]),
            column([o.clip if o.clip is not None else math.inf for o in optimisers]),
            column([recipe.ema or 0.0 for recipe in recipes]),
        )


def rate_factor(recipe: Recipe, step: Tensor) -> Tensor:
    """What the learning rate is multiplied by at a step (0-based); a tensor, so that a captured step can use it."""
    optimiser = recipe.optimiser
    progress = step.to(torch.float32) / recipe.steps
    if optimiser.decay == "cosine":
        factor = 0.5 * (1 + torch.cos(math.pi * progress))
    elif optimiser.decay == "linear":
        factor = 1 - progress
    else:
        factor = torch.ones_like(progress)
    if optimiser.warmup:
        factor = factor * torch.clamp((step.to(torch.float32) + 1) / optimiser.warmup, max=1.0)
    return factor


def clip_by_member(gradient: Tensor, clip: Tensor) -> Tensor:
    """Scale each member's gradient so that its norm is at most its own limit."""
    norm = torch.linalg.vector_norm(gradient, dim=-1, keepdim=True)
    return gradient * torch.clamp(clip / (norm + 1e-6), max=1.0)


def update(
    weights: Tensor,
    gradient: Tensor,
    mean: Tensor,
    square: Tensor,
    ema: Tensor | None,
    mask: Tensor,
    step: Tensor,
    factor: Tensor,
    h: Hyperparameters,
) -> None:
    """Clip, one step of Adam or AdamW, and the moving average: all in place on the matrices of a cohort."""
    adam(weights, clip_by_member(gradient, h.clip), mean, square, mask, step, factor, h)
    if ema is not None:
        average(ema, weights, step, h.ema)


def adam(
    weights: Tensor,
    gradient: Tensor,
    mean: Tensor,
    square: Tensor,
    mask: Tensor,
    step: Tensor,
    factor: Tensor,
    h: Hyperparameters,
) -> None:
    """One update in place (Kingma and Ba, Algorithm 1; decoupled decay as in Loshchilov and Hutter, Algorithm 2).

    `step` counts from 0. Frozen columns (mask 0) neither move nor decay.
    """
    rate = h.learning_rate * factor
    gradient = (gradient + (1 - h.decoupled) * h.weight_decay * weights) * mask
    mean.lerp_(gradient, 1 - h.beta1)
    square.mul_(h.beta2).add_(gradient * gradient * (1 - h.beta2))
    count = step.to(torch.float32) + 1
    unbiased = torch.sqrt(square / (1 - h.beta2**count)) + EPSILON
    decayed = weights * (1 - rate * h.weight_decay * h.decoupled * mask)
    weights.copy_(decayed - rate / (1 - h.beta1**count) * mean / unbiased)


def average(ema: Tensor, weights: Tensor, step: Tensor, decay: Tensor) -> None:
    """Moving average of the weights, in place; early on it forgets faster, so that the start does not linger."""
    count = step.to(torch.float32)
    decay = torch.minimum(decay, (1 + count) / (10 + count))
    ema.lerp_(weights, 1 - decay)
