"""Concept signal (park2024): how much an image changes when one concept is flipped and all else is held.

The factors of both classes come from one seed, so that location, background, jitter and pixel noise are the
same in both images of a pair and cancel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from conceptlab.concepts import Class
from conceptlab.errors import InputError
from conceptlab.worlds.base import RenderedWorld

_CHUNK = 512


@dataclass(frozen=True)
class Signal:
    """A mean squared pixel difference with its standard error over image pairs."""

    value: float
    standard_error: float


def concept_signal(
    world: RenderedWorld, variable: str, base: Class | None = None, n: int = 1024, seed: int = 0
) -> Signal:
    """The signal of a variable from n pairs of images of the base class and its flipped neighbours.

    A variable with more than two values is flipped to each of the others in turn and averaged. Without a base
    the result is averaged over all classes; their pairs share their draws, so the error is that of the mean
    image, not of independent classes.
    """
    if n < 2:
        raise InputError(f"concept signal from {n} pairs of images has no standard error; use 2 or more")
    bases = world.space.classes if base is None else (base,)
    differences = torch.stack([_differences(world, variable, cls, n, seed) for cls in bases]).mean(0)
    return Signal(differences.mean().item(), differences.std().item() / math.sqrt(n))


def _differences(world: RenderedWorld, variable: str, base: Class, n: int, seed: int) -> Tensor:
    """For each draw the squared difference, averaged over pixels and over the values to flip to: (n,)."""
    place = world.space.variable(variable)
    others = [cls for cls in world.space.neighbours(base) if cls[place] != base[place]]
    factors = {cls: world.draw(cls, n, seed) for cls in (base, *others)}
    means = []
    for start in range(0, n, _CHUNK):
        chunk = slice(start, start + _CHUNK)
        images = {cls: world.render({k: v[chunk] for k, v in f.items()}) for cls, f in factors.items()}
        squares = [(images[cls] - images[base]).square().flatten(1).mean(1) for cls in others]
        means.append(torch.stack(squares).mean(0))
    return torch.cat(means).to(torch.float64)
