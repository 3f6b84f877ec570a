"""The end of concept memorisation (park2024 §3.1): when a trajectory in concept space turns towards its own corner."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

MARGIN = 0.1


def turning_point(steps: ArrayLike, progress: ArrayLike) -> float:
    """The last step at which a coordinate is within `MARGIN` of its smallest value; NaN if it never leaves it.

    `progress` is the coordinate in which the class that is asked for differs from the class it is mistaken for, 0
    at the latter and 1 at the former. While the concept is memorised it falls or stays low; afterwards it rises for
    good. The rule takes the end of the low stretch, not the lowest point, which on a plateau is anywhere. A running
    median of three removes single outliers first. A coordinate that rises from the start turns at the first step.
    """
    at, curve = np.asarray(steps, dtype=float), running_median(progress)
    low = np.flatnonzero(curve <= curve.min() + MARGIN)[-1]
    return float("nan") if low == len(curve) - 1 else float(at[low])


def nearest_approach(path: ArrayLike, corner: ArrayLike) -> float:
    """The smallest distance of a path (steps, variables) from a corner of concept space."""
    offsets = np.asarray(path, dtype=float) - np.asarray(corner, dtype=float)
    return float(np.linalg.norm(offsets, axis=1).min())


def running_median(values: ArrayLike) -> np.ndarray:
    """The median of each value and its two neighbours; the ends stay as they are."""
    curve = np.asarray(values, dtype=float)
    if len(curve) < 3:
        return curve.copy()
    middle = np.median(np.stack([curve[:-2], curve[1:-1], curve[2:]]), axis=0)
    return np.concatenate([curve[:1], middle, curve[-1:]])
