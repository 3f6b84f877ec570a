"""All random numbers of a training step, each a function of (seed, purpose, step) alone.

On a CPU a few random numbers cost as much as thousands: nearly all of it is the overhead of hundreds of small
operations. Since nothing depends on what was drawn before, the numbers of the next steps are drawn along.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from conceptlab import random
from conceptlab.recipe import Recipe

# One uniform number for each image: which image it is, its time, whether the network is told its condition.
UNIFORMS = ("batch", "times", "condition")
PURPOSES = (*UNIFORMS, "noise", "dropout")

# Normals drawn at once on a CPU: few enough to stay in its second-level cache through all operations on them.
AT_ONCE = 200_000
MOST_STEPS = 16


class Numbers(NamedTuple):
    """The random numbers of one step, or of several with a leading axis."""

    batch: Tensor  # (E, B) in [0, 1), as the next two
    times: Tensor
    condition: Tensor
    noise: Tensor  # (E, B, C, H, W), normal
    dropout: Tensor  # a key for each layer and member: (layers, E, 2)


class Draws:
    """Numbers for E members, by their seeds; `layers` are the numbers of the layers that drop out."""

    def __init__(
        self,
        recipes: Sequence[Recipe],
        image_shape: Sequence[int],
        layers: Sequence[int],
        device: torch.device,
    ) -> None:
        self.batch, self.image_shape = recipes[0].batch, tuple(image_shape)
        keys = [random.key(recipe.seed, purpose) for purpose in PURPOSES for recipe in recipes]
        self._keys = torch.stack(keys).unflatten(0, (len(PURPOSES), -1)).to(device)
        self.keys = dict(zip(PURPOSES, self._keys))  # (E, 2) for each purpose
        self.layers = torch.tensor(layers, dtype=torch.int32, device=device)
        normals = len(recipes) * self.batch * math.prod(image_shape)
        self.steps_at_once = min(max(AT_ONCE // normals, 1), MOST_STEPS) if device.type == "cpu" else 1
        self._first, self._held = 0, None

    def at(self, step: Tensor) -> Numbers:
        """The numbers of a step, which a GPU counts without the host."""
        if self.steps_at_once == 1:
            return _of(self._of_steps(step[None]), 0)
        now = int(step)
        if self._held is None or not 0 <= now - self._first < self.steps_at_once:
            self._first = now
            self._held = self._of_steps(torch.arange(now, now + self.steps_at_once))
        return _of(self._held, now - self._first)

    def _of_steps(self, steps: Tensor) -> Numbers:
        keys = random.fold(self._keys, steps[:, None, None])  # (steps, purposes, E, 2)
        batch, times, condition = random.uniform(keys[:, : len(UNIFORMS)], (self.batch,)).unbind(1)
        noise = random.normal(keys[:, -2], (self.batch, *self.image_shape))
        dropout = random.fold(keys[:, -1:], self.layers[:, None]) if len(self.layers) else keys[:, :0]
        return Numbers(batch, times, condition, noise, dropout)


def _of(several: Numbers, step: int) -> Numbers:
    return Numbers(*(part[step] for part in several))
