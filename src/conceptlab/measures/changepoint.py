"""Does a curve have a kink at a given time? A test that knows what it would find if there were one.

Around a candidate time a parabola in log time is fitted, with and without a hinge at that time; the hinge's
|t| is its kink. Loss curves bend everywhere and their noise is not white, so no table gives the chance of a large
|t|: the kink at the time in question is compared with the kinks at all other times of the same curve.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

HALF_WINDOW = 6
SMALLEST = 4 * HALF_WINDOW
"""A curve with fewer evaluations than this has too few other times to compare with."""
INJECTED = 0.2


def kink_rank(steps: ArrayLike, values: ArrayLike, time: float) -> float:
    """The share of other times with a smaller kink than the one at `time`: 1 is the sharpest, ½ is nothing special.

    NaN where the curve is too short or the time too near its ends. Values may be of any sign: they are taken
    through arcsinh, which is a logarithm for large ones.
    """
    x, y = np.log(np.asarray(steps, dtype=float)), np.arcsinh(np.asarray(values, dtype=float))
    inner = np.arange(HALF_WINDOW, len(x) - HALF_WINDOW)
    if len(x) < SMALLEST or not np.isfinite(time) or not np.isfinite(y).all():
        return float("nan")
    place = int(np.abs(x - np.log(time)).argmin())
    if place not in inner:
        return float("nan")
    kinks = {int(i): _kink(x, y, int(i)) for i in inner}
    others = np.array([kink for i, kink in kinks.items() if i != place])
    # Half of those that tie, so that a curve without any kink ranks in the middle.
    return float((others < kinks[place]).mean() + 0.5 * (others == kinks[place]).mean())


def with_kink(steps: ArrayLike, values: ArrayLike, time: float) -> np.ndarray:
    """The curve with a kink put in at `time`: from there on it falls by a share `INJECTED` of its own range more, on
    the scales of the test. The positive control: a test that misses this says nothing by finding nothing."""
    x, y = np.log(np.asarray(steps, dtype=float)), np.arcsinh(np.asarray(values, dtype=float))
    hinge = np.maximum(0, x - np.log(time))
    largest = hinge.max()
    return np.sinh(y - INJECTED * np.ptp(y) * hinge / largest) if largest > 0 else np.sinh(y)


def _kink(x: np.ndarray, y: np.ndarray, place: int) -> float:
    window = slice(place - HALF_WINDOW, place + HALF_WINDOW + 1)
    own = x[window] - x[place]
    design = np.stack([np.ones_like(own), own, own**2, np.maximum(0, own)], axis=1)
    coefficients = np.linalg.lstsq(design, y[window], rcond=None)[0]
    residual = y[window] - design @ coefficients
    # A floor at rounding keeps exact curves comparable.
    variance = residual @ residual / (len(own) - 4) + 1e-24
    error = np.sqrt(variance * np.linalg.pinv(design.T @ design)[3, 3])
    return float(abs(coefficients[3]) / error)
