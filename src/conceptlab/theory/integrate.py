"""Dormand–Prince 5(4) for thousands of independent systems at once, each with its own step size.

A common step would be set by the stiffest member; here every member carries its own time, step and error
control, so a batch costs what its members cost, and a member's path does not depend on its neighbours.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from conceptlab.errors import InputError

Velocity = Callable[[Tensor], Tensor]

# The Butcher tableau of Dormand and Prince (1980); the last row is the fifth-order solution (FSAL).
_STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
_ERROR = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)
_SAFETY, _SHRINK, _GROW = 0.9, 0.2, 5.0


class Batch:
    """B autonomous systems dy/dt = velocity(y), y (B, …), advanced together by `step`."""

    def __init__(self, velocity: Velocity, y0: Tensor, *, rtol: float, atol: float) -> None:
        if rtol <= 0 or atol <= 0:
            raise InputError(f"tolerances rtol={rtol}, atol={atol} must be positive")
        self.velocity, self.rtol, self.atol = velocity, rtol, atol
        self.y = y0
        self.slope = velocity(y0)
        self.t = torch.zeros(len(y0), dtype=y0.dtype)
        # The first step moves no member by more than 1 % of its own size; error control does the rest.
        self.h = 0.01 * _rms(y0).clamp_min(atol) / _rms(self.slope).clamp_min(1e-300)

    def step(self, until: float) -> None:
        """One attempted step of every member that has not reached `until`; failed ones keep their place."""
        h = torch.minimum(self.h, until - self.t)
        y, slope, error = self._attempt(h)
        scale = self.atol + self.rtol * torch.maximum(self.y.abs(), y.abs())
        ratio = torch.nan_to_num(_rms(error / scale), nan=1e10, posinf=1e10)
        accepted = ratio <= 1
        keep = accepted.reshape(-1, *[1] * (y.ndim - 1))
        self.y = torch.where(keep, y, self.y)
        self.slope = torch.where(keep, slope, self.slope)
        arrived = h >= until - self.t
        t = torch.where(arrived, until, self.t + h)
        self.t = torch.where(accepted, t, self.t)
        factor = (_SAFETY * ratio.clamp_min(1e-10) ** -0.2).clamp(_SHRINK, _GROW)
        # A step cut short to land on `until` says nothing about the next one: never shrink because of it.
        proposed = torch.where(accepted & arrived, torch.maximum(h * factor, self.h), h * factor)
        self.h = torch.where(h > 0, proposed, self.h)

    def select(self, members: Tensor) -> None:
        """Keep only these members (index or mask): what has converged costs no more."""
        self.y, self.slope = self.y[members], self.slope[members]
        self.t, self.h = self.t[members], self.h[members]

    def _attempt(self, h: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        h = h.reshape(-1, *[1] * (self.y.ndim - 1))
        slopes = [self.slope]
        y = self.y
        for row in _STAGES:
            y = self.y + h * _combine(row, slopes)
            slopes.append(self.velocity(y))
        return y, slopes[-1], h * _combine(_ERROR, slopes)


def integrate(
    velocity: Velocity,
    y0: Tensor,
    times: Sequence[float] | Tensor,
    *,
    rtol: float = 1e-9,
    atol: float = 1e-12,
    max_steps: int = 200_000,
) -> Tensor:
    """y (T, B, …) of dy/dt = velocity(y) from y0 (B, …) at increasing times; every time is landed on exactly."""
    moments = [float(t) for t in times]
    if not moments or moments[0] < 0 or any(b <= a for a, b in itertools.pairwise(moments)):
        raise InputError("the times to integrate to must be increasing and start at 0 or later")
    batch = Batch(velocity, y0, rtol=rtol, atol=atol)
    record = []
    taken = 0
    for moment in moments:
        while bool((batch.t < moment).any()):
            batch.step(moment)
            taken += 1
            if taken > max_steps:
                slowest = float(batch.t.min())
                raise InputError(
                    f"integration stood at t={slowest:.3g} of {moment:.3g} after {max_steps} steps; "
                    "loosen rtol or shorten the time"
                )
        record.append(batch.y)
    return torch.stack(record)


def _combine(weights: Sequence[float], slopes: Sequence[Tensor]) -> Tensor:
    total = weights[0] * slopes[0]
    for weight, slope in zip(weights[1:], slopes[1:], strict=True):
        if weight:
            total = total.add(slope, alpha=weight)
    return total


def _rms(y: Tensor) -> Tensor:
    return y.flatten(1).square().mean(dim=1).sqrt()
