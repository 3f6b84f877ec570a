"""When a curve reaches a level, between the moments at which it was looked at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


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
