"""Stages of a UUᵀ run, found from its Jacobian alone: which concept grows when, and which minor entry turns.

The paper tells the run as a story of stages (yang2025): many entries grow, one major entry wins, it suppresses
the minor entries that touch it, then the next major entry grows. Here every boundary is a measured crossing.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from conceptlab.errors import InputError
from conceptlab.theory.jacobian import minor_decay_rate, turning_level

Floats = NDArray[np.float64]


class Stage(NamedTuple):
    """A named stretch of time; `concept` is the one that grows or suppresses (-1 for none)."""

    name: str
    concept: int
    start: float
    end: float


class MinorTurn(NamedTuple):
    """What happened to the minor entry w_ij, a_j > a_i, beside what the theory predicts."""

    weak: int
    strong: int
    time: float  # of the largest |w_ij|
    peak: float  # w_ij there, with its sign
    level: float  # w_jj there
    predicted_level: float
    decay: float  # measured d log|w_ij|/dt where w_jj > .99 and w_ii < .01; NaN if that never lasts
    predicted_decay: float


class Stages(NamedTuple):
    """The order in which concepts are learnt, the stages in time order, and every minor entry's turn."""

    order: list[int]
    half_times: Floats  # (s,), infinite where w_pp never reaches ½
    stages: list[Stage]
    minors: list[MinorTurn]


def find_stages(times: Tensor, w: Tensor, strengths: Tensor, s: int | None = None) -> Stages:
    """Stages of one run: times (T,), W (T, d, d); concepts are the first s coordinates (default: a > 0)."""
    if w.ndim != 3 or w.shape[1] != w.shape[2] or len(times) != len(w) or len(times) < 3:
        raise InputError(
            f"times {tuple(times.shape)} and W {tuple(w.shape)} must be (T,) and (T, d, d), T ≥ 3"
        )
    count = int((strengths > 0).sum()) if s is None else s
    t, path, a = times.double().numpy(), w.double().numpy(), strengths.double().numpy()
    majors = path[:, range(count), range(count)]
    start, half, done = (crossing_times(t, majors, level) for level in (0.1, 0.5, 0.9))
    order = sorted(range(count), key=lambda p: half[p])
    learnt = [p for p in order if math.isfinite(half[p])]
    return Stages(order, half, _story(t, learnt, start, done), _minor_turns(t, path, a, count))


def _story(t: Floats, learnt: list[int], start: Floats, done: Floats) -> list[Stage]:
    """Alternate 'growth' and 'suppression'; where two concepts grow at once, no suppression lies between."""
    if not learnt:
        return [Stage("initial growth", -1, float(t[0]), float(t[-1]))]
    stages = []
    if start[learnt[0]] > t[0]:
        stages.append(Stage("initial growth", -1, float(t[0]), float(start[learnt[0]])))
    for place, p in enumerate(learnt):
        end = min(float(done[p]), float(t[-1]))
        stages.append(Stage("growth", p, float(start[p]), end))
        follower = float(start[learnt[place + 1]]) if place + 1 < len(learnt) else float(t[-1])
        if follower > end:
            name = "suppression" if place + 1 < len(learnt) else "convergence"
            stages.append(Stage(name, p, end, follower))
    return stages


def _minor_turns(t: Floats, path: Floats, a: Floats, count: int) -> list[MinorTurn]:
    turns = []
    for i in range(count):
        for j in range(count):
            if not a[j] > a[i]:
                continue
            entry = path[:, i, j]
            top = int(np.argmax(np.abs(entry)))
            # between two samples the peak lies where the slope, linear between them, is zero
            time, level = _peak_between(t, np.abs(entry), path[:, j, j], top)
            turns.append(
                MinorTurn(
                    weak=i,
                    strong=j,
                    time=time,
                    peak=float(entry[top]),
                    level=level,
                    predicted_level=turning_level(float(a[i]), float(a[j])),
                    decay=_decay(t, entry, path[:, i, i], path[:, j, j]),
                    predicted_decay=minor_decay_rate(float(a[i]), float(a[j])),
                )
            )
    return turns


def _peak_between(t: Floats, size: Floats, other: Floats, top: int) -> tuple[float, float]:
    """Time of a sampled peak by a parabola through three samples, and another curve's value there."""
    if top in (0, len(t) - 1):
        return float(t[top]), float(other[top])
    fit = np.polyfit(t[top - 1 : top + 2] - t[top], size[top - 1 : top + 2] / size[top], 2)
    time = float(t[top] if fit[0] == 0 else t[top] - fit[1] / (2 * fit[0]))
    return time, float(np.interp(time, t, other))


def _decay(t: Floats, entry: Floats, weak: Floats, strong: Floats) -> float:
    """Slope of log|w_ij| over the window in which the strong concept is learnt and the weak one is not."""
    window = (strong > 0.99) & (weak < 0.01) & (entry != 0)
    if window.sum() < 3:
        return math.nan
    return float(np.polyfit(t[window], np.log(np.abs(entry[window])), 1)[0])


def crossing_times(t: Floats, curves: Floats, level: float) -> Floats:
    """First time each column reaches `level`, linear between samples; infinite if it never does."""
    result = np.full(curves.shape[1], np.inf)
    for column, curve in enumerate(curves.T):
        above = np.flatnonzero(curve >= level)
        if above.size == 0:
            continue
        k = int(above[0])
        if k == 0:
            result[column] = t[0]
        else:
            share = (level - curve[k - 1]) / (curve[k] - curve[k - 1])
            result[column] = t[k - 1] + share * (t[k] - t[k - 1])
    return result
