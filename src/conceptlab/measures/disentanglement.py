"""Embedding disentanglement (park2024 §3.4): are the directions of two concepts in the condition embedding apart?"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

SHARE = 0.5


def disentanglement(first: ArrayLike, second: ArrayLike) -> float:
    """1 - |cos| of two directions: 1 at right angles, 0 in line; NaN where a direction is zero."""
    a, b = np.asarray(first, dtype=float).ravel(), np.asarray(second, dtype=float).ravel()
    length = np.linalg.norm(a) * np.linalg.norm(b)
    return float(1 - abs(a @ b) / length) if length > 0 else float("nan")


def corner_disentanglement(corner: ArrayLike, neighbours: Mapping[str, ArrayLike]) -> float:
    """The mean over pairs of variables of 1 - |cos(e' - e, e'' - e)|: e the embedding of a class, e' and e'' those of
    classes with one variable altered, one given for each variable."""
    base = np.asarray(corner, dtype=float)
    pairs = itertools.combinations([np.asarray(e, dtype=float) - base for e in neighbours.values()], 2)
    return float(np.mean([disentanglement(a, b) for a, b in pairs]))


def recovery_time(steps: ArrayLike, values: ArrayLike) -> float:
    """The last upward crossing, after the minimum, of the level at which a `SHARE` of what was lost is regained.

    An untrained embedding is already disentangled (1 - |cos| near .8 for 64 random units), so a fixed level says
    nothing: the curve falls first, and what counts is its way back, measured between its minimum and its initial
    value. Interpolated linearly; NaN if it never comes back, the first step if it never fell.
    """
    at, curve = np.asarray(steps, dtype=float), np.asarray(values, dtype=float)
    if len(curve) < 2 or not np.isfinite(curve).all():
        return float("nan")
    lowest = int(curve.argmin())
    if lowest == 0:
        return float(at[0])
    level = curve[lowest] + SHARE * (curve[0] - curve[lowest])
    upward = [i for i in range(lowest, len(curve) - 1) if curve[i] < level <= curve[i + 1]]
    if not upward or curve[-1] < level:
        return float("nan")
    i = upward[-1]
    return float(at[i] + (level - curve[i]) / (curve[i + 1] - curve[i]) * (at[i + 1] - at[i]))
