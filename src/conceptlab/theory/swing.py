"""Swing-by detector: the descents and ascents of a loss curve that are larger than its noise.

A turning point counts once the curve has moved away from it by more than `noise`; smaller wiggles are ignored
whichever way they go. A curve with k descents shows double (k=2), triple (3) or quadruple (4) descent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conceptlab.errors import InputError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_NAMES = {0: "flat", 1: "single descent", 2: "double descent", 3: "triple descent", 4: "quadruple descent"}


@dataclass(frozen=True)
class Swings:
    """Turning points of B curves. `index` and `value` are (B, K), padded with -1 and NaN.

    The first column is the start of a curve's first move, the last used one the end of its last move.
    """

    index: Integers
    value: Floats

    @property
    def moves(self) -> Floats:
        """Signed size of every move between turning points (B, K-1); NaN where there is none."""
        return np.diff(self.value, axis=1)

    @property
    def descents(self) -> Integers:
        """Number of descents (B,)."""
        return (self.moves < 0).sum(axis=1)

    @property
    def largest_ascent(self) -> Floats:
        """Size of the largest ascent (B,); 0 where there is none."""
        return np.nan_to_num(self.moves, nan=0.0).clip(min=0).max(axis=1, initial=0.0)

    @property
    def swings_by(self) -> NDArray[np.bool_]:
        """Does the curve fall, rise and fall again (B,)? A rise at the very start or end is no swing-by."""
        return self.descents >= 2

    def names(self) -> list[str]:
        """'single descent', 'double descent', … for every curve."""
        return [_NAMES.get(int(k), f"{k}-fold descent") for k in self.descents]


def find_swings(curves: ArrayLike, noise: ArrayLike) -> Swings:
    """Turning points of curves (T,) or (B, T), with one noise level for all or one per curve.

    One pass over time with running extremes, vectorised over curves (a hysteresis, or zigzag, filter): exact,
    with no smoothing and no window to choose.
    """
    y = np.atleast_2d(np.asarray(curves, dtype=np.float64))
    if y.ndim != 2 or y.shape[1] < 2:
        raise InputError(f"curves have shape {np.shape(curves)}; they must be (T,) or (B, T) with T ≥ 2")
    if not np.isfinite(y).all():
        raise InputError("the curves hold values that are not finite; cut them where they diverge")
    level = np.asarray(noise, dtype=np.float64)
    if level.shape not in ((), (len(y),)) or not (np.isfinite(level) & (level >= 0)).all():
        raise InputError("the noise level must be one number or one per curve, finite and not negative")
    level = np.broadcast_to(level, len(y))

    rows = np.arange(len(y))
    direction = np.zeros(len(y), dtype=np.int64)  # 0: no move larger than the noise yet
    low, high = np.zeros(len(y), dtype=np.int64), np.zeros(len(y), dtype=np.int64)
    turns: list[Integers] = []
    count = np.zeros(len(y), dtype=np.int64)
    for t in range(1, y.shape[1]):
        now = y[:, t]
        low = np.where(now < y[rows, low], t, low)
        high = np.where(now > y[rows, high], t, high)
        up = (direction <= 0) & (now - y[rows, low] > level)
        down = (direction >= 0) & (y[rows, high] - now > level)
        turned = up | down
        if turned.any():
            count = count + turned
            if count.max() > len(turns):
                turns.append(np.full(len(y), -1, dtype=np.int64))
            for row in np.flatnonzero(turned):
                turns[count[row] - 1][row] = low[row] if up[row] else high[row]
            direction = np.where(up, 1, np.where(down, -1, direction))
            # the extreme on the far side restarts here; the one just left behind is settled
            low, high = np.where(down, t, low), np.where(up, t, high)
    # close every curve with the extreme its last move reached
    turns.append(np.full(len(y), -1, dtype=np.int64))
    moved = np.flatnonzero(count)
    for row in moved:
        turns[count[row]][row] = high[row] if direction[row] > 0 else low[row]
    index = np.stack(turns, axis=1)
    value = np.where(index >= 0, y[rows[:, None], index.clip(min=0)], np.nan)
    return Swings(index, value)


def swing_size(curves: ArrayLike) -> Floats:
    """The largest noise level (B,) at which each curve still shows double descent; 0 if at none.

    At a valley t that level is the smaller of the fall into it and the rise out of it, max over t of
    min(max_{u≤t} y_u, max_{u≥t} y_u) - y_t. Exact for curves that end at their lowest value, as converged OOD
    losses do: then the last descent is never the smallest of the three moves.
    """
    y = np.atleast_2d(np.asarray(curves, dtype=np.float64))
    before = np.maximum.accumulate(y, axis=1)
    after = np.maximum.accumulate(y[:, ::-1], axis=1)[:, ::-1]
    return (np.minimum(before, after) - y).max(axis=1)


def noise_level(curves: ArrayLike) -> Floats:
    """A level (B,) that white noise on a smooth curve passes rarely: 2σ√(2 ln T), σ from second differences.

    Second differences remove the slope of a smooth curve, and their median ignores its few sharp bends. The
    largest of T Gaussian values lies near σ√(2 ln T), so the span of pure noise stays below twice that.
    """
    y = np.atleast_2d(np.asarray(curves, dtype=np.float64))
    if y.shape[1] < 8:
        raise InputError(f"estimating noise needs at least 8 points a curve; got {y.shape[1]}")
    second = np.diff(y, n=2, axis=1)
    # var(y_{t+1} - 2y_t + y_{t-1}) = 6σ²; the median of |N(0,1)| is .6745
    sigma = np.median(np.abs(second), axis=1) / (0.6745 * math.sqrt(6))
    return 2 * sigma * math.sqrt(2 * math.log(y.shape[1]))
