"""A straight line through times of which some were never reached.

Such a time is known to be at least the last step. Leaving it out would bend the line towards the runs that were
fast, setting it to the last step likewise; here it counts as what it is (Tobin 1958): the likelihood of a point
that was reached is a normal density around the line, of one that was not the chance to lie beyond the last step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class CensoredLine:
    """y = intercept + slope · x, with normal scatter of standard deviation `spread`."""

    intercept: float
    slope: float
    spread: float

    def __call__(self, x: ArrayLike) -> np.ndarray:
        return self.intercept + self.slope * np.asarray(x, dtype=float)


def fit_censored_line(
    x: ArrayLike, y: ArrayLike, never: ArrayLike, *, flat: bool = False
) -> CensoredLine | None:
    """Maximum likelihood; `y` where `never` holds is a lower bound. With `flat` the slope is zero.

    None where fewer than three points were reached or, for a sloped line, all points have one x: no line is then known.
    """
    x, y, never = np.asarray(x, dtype=float), np.asarray(y, dtype=float), np.asarray(never, dtype=bool)
    if (~never).sum() < 3 or (np.ptp(x) == 0 and not flat):
        return None
    # Centred and scaled, so that one tolerance fits all units.
    x_scale, y_scale = max(float(np.ptp(x)), 1e-12), max(float(y.std()), 1e-12)
    u, v = (x - x.mean()) / x_scale, (y - y.mean()) / y_scale
    slope, intercept = (0.0, v.mean()) if flat else np.polyfit(u, v, 1)

    def minus_log_likelihood(parameters: np.ndarray) -> float:
        a, b, log_spread = parameters
        # A floor keeps the likelihood bounded where a line passes through every point.
        spread = np.exp(log_spread) + 1e-6
        residual = (v - a - (0.0 if flat else b) * u) / spread
        reached = -0.5 * (residual[~never] ** 2).sum() - (~never).sum() * np.log(spread)
        return -float(reached + scipy.special.log_ndtr(-residual[never]).sum())

    start = np.array([intercept, slope, np.log(max(float((v - intercept - slope * u).std()), 0.05))])
    found = scipy.optimize.minimize(minus_log_likelihood, start, method="L-BFGS-B").x
    b = 0.0 if flat else found[1] * y_scale / x_scale
    a = y.mean() + found[0] * y_scale - b * x.mean()
    return CensoredLine(float(a), float(b), float(np.exp(found[2]) * y_scale))


def shortfall(predicted: ArrayLike, y: ArrayLike, never: ArrayLike) -> np.ndarray:
    """How far predictions are off; where the time was never reached, how far they fall short of the last step."""
    off = np.asarray(y, dtype=float) - np.asarray(predicted, dtype=float)
    return np.where(np.asarray(never, dtype=bool), np.maximum(0.0, off), off)
