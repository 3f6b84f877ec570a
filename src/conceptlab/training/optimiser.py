"""Adam and AdamW on a cohort's weight matrix, with clipping and learning rates that are each member's own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from conceptlab.recipe import Recipe

EPSILON = 1e-8


@dataclass
class Hyperparameters:
    """Columns (E, 1), so that members of a cohort may differ in each of them. None is what no member has: it would
    cost a pass over all weights."""

    learning_rate: Tensor
    penalty: Tensor | None  # weight decay of Adam, L2 in the gradient; zero for AdamW
    decay: Tensor  # decoupled weight decay of AdamW (Loshchilov and Hutter); zero for Adam
    beta1: Tensor
    beta2: Tensor
    clip: Tensor | None  # infinite where the gradient is not clipped
    ema: Tensor

    @classmethod
    def of(cls, recipes: Sequence[Recipe], device: torch.device) -> Hyperparameters:
        def column(values: list[float]) -> Tensor:
            return torch.tensor(values, dtype=torch.float32, device=device)[:, None]

        optimisers = [recipe.optimiser for recipe in recipes]
        penalties = [o.weight_decay if o.name == "adam" else 0.0 for o in optimisers]
        clips = [math.inf if o.clip is None else o.clip for o in optimisers]
        return cls(
            column([o.learning_rate for o in optimisers]),
            column(penalties) if any(penalties) else None,
            column([o.weight_decay if o.name == "adamw" else 0.0 for o in optimisers]),
            column([o.betas[0] for o in optimisers]),
            column([o.betas[1] for o in optimisers]),
            column(clips) if min(clips) < math.inf else None,
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


class Now(NamedTuple):
    """What a step needs of the hyper-parameters, as columns (E, 1): powers of the step count are taken once for a
    member, not once for each of its weights."""

    clip: Tensor | None
    penalty: Tensor | None
    decay: Tensor
    to_mean: Tensor
    to_square: Tensor
    size: Tensor  # learning rate over the bias of the mean
    root: Tensor  # one over the root of the bias of the square
    to_ema: Tensor


def at_step(h: Hyperparameters, step: Tensor, factor: Tensor) -> Now:
    """`step` counts from 0; `factor` multiplies the learning rate."""
    count, rate = step.to(torch.float32) + 1, h.learning_rate * factor
    # Early on the moving average forgets faster, so that the start does not linger.
    ema = torch.minimum(h.ema, count / (9 + count))
    return Now(
        h.clip,
        h.penalty,
        rate * h.decay,
        1 - h.beta1,
        1 - h.beta2,
        rate / (1 - h.beta1**count),
        torch.rsqrt(1 - h.beta2**count),
        1 - ema,
    )


def update(
    weights: Tensor,
    gradient: Tensor,
    mean: Tensor,
    square: Tensor,
    ema: Tensor | None,
    mask: Tensor | None,
    now: Now,
) -> None:
    """Clip, one step of Adam or AdamW, and the moving average: all in place on the matrices of a cohort."""
    gradient = gradient.float()
    if now.clip is not None:
        gradient = clip_by_member(gradient, now.clip)
    adam(weights, gradient, mean, square, mask, now)
    if ema is not None:
        ema.lerp_(weights, now.to_ema)


def adam(
    weights: Tensor, gradient: Tensor, mean: Tensor, square: Tensor, mask: Tensor | None, now: Now
) -> None:
    """One update in place (Kingma and Ba, Algorithm 1; decoupled decay as in Loshchilov and Hutter, Algorithm 2).

    Frozen columns (mask 0) have no gradient and must not decay; no mask means that none is frozen.
    """
    decay = now.decay if mask is None else now.decay * mask
    if now.penalty is not None:
        penalty = now.penalty if mask is None else now.penalty * mask
        gradient = torch.addcmul(gradient, weights, penalty)
    mean.lerp_(gradient, now.to_mean)
    square.lerp_(gradient * gradient, now.to_square)
    # In place: on a CPU most of the time goes into fetching and storing.
    direction = mean / torch.sqrt(square).mul_(now.root).add_(EPSILON)
    weights.mul_(1 - decay).sub_(direction.mul_(now.size))
