from __future__ import annotations

import math

import numpy as np

from conceptlab.theory import crossing_times


def test_each_curve_crosses_where_it_first_reaches_the_level() -> None:
    t = np.array([0.0, 1.0, 3.0])
    rising, there, never, back = [0.0, 0.25, 0.75], [0.6, 0.0, 0.0], [0.0, 0.1, 0.4], [0.0, 1.0, 0.0]
    found = crossing_times(t, np.array([rising, there, never, back]).T, 0.5)
    assert found.tolist() == [2.0, 0.0, math.inf, 0.5]
