"""How sudden a rise is, and how many samples it takes: numbers read off curves."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from conceptlab.measures.emergence import at_least


def relative_rise(steps: ArrayLike, values: ArrayLike) -> float:
    """The 10–90 % rise of a curve relative to the time of its half-way point: (t90 - t10) / t50.

    Heights are taken from the curve's lowest value before its highest to its highest, so that a mean of accuracies,
    which starts at chance, compares with a product, which starts near 0. Smaller is more sudden. NaN where the curve
    does not rise.
    """
    steps, curve = np.asarray(steps, dtype=float), np.asarray(values, dtype=float)
    if len(curve) < 3 or not np.isfinite(curve).all():
        return float("nan")
    top = int(curve.argmax())
    bottom = int(curve[: top + 1].argmin())
    height = curve[top] - curve[bottom]
    if height <= 0:
        return float("nan")
    share = (curve[bottom : top + 1] - curve[bottom]) / height
    t10, t50, t90 = (_first_crossing(steps[bottom : top + 1], share, level) for level in (0.1, 0.5, 0.9))
    return (t90 - t10) / t50 if t50 > 0 else float("nan")


def _first_crossing(steps: np.ndarray, share: np.ndarray, level: float) -> float:
    after = int(np.argmax(share >= level))
    before = after - 1
    part = (level - share[before]) / (share[after] - share[before])
    return float(steps[before] + part * (steps[after] - steps[before]))


def critical_number(counts: ArrayLike, accuracies: ArrayLike, threshold: float) -> float:
    """The smallest number of samples from which on the accuracy stays at or above the threshold; NaN if it never does.

    Only tried numbers are given: the true one lies between it and the number tried before.
    """
    numbers, reached = np.asarray(counts, dtype=float), at_least(accuracies, threshold)
    order = np.argsort(numbers)
    numbers, reached = numbers[order], reached[order]
    short = np.flatnonzero(~reached)
    first = short[-1] + 1 if len(short) else 0
    return float(numbers[first]) if first < len(numbers) else float("nan")
