"""The toy model of emergence by multiplication (okawa2023, Figure 7).

Every step an atomic ability is learnt with probability p, independently of the others, and never lost. A task
that needs n of them succeeds with the product of their chances, which is why composite abilities look sudden.
"""

from __future__ import annotations

import math

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from conceptlab.errors import InputError

Floats = NDArray[np.float64]


def success_probability(t: ArrayLike, p: float, n: int) -> Floats:
    """P(n) = (1 - (1-p)^t)^n: the chance that all n abilities have been learnt by step t (okawa2023, Fig 7)."""
    _check_rate(p)
    _check_count(n)
    t = np.asarray(t, dtype=np.float64)
    if (t < 0).any():
        raise InputError("steps of the toy model must not be negative; count from 0")
    if p == 1:
        return (t > 0).astype(np.float64)
    # expm1/log1p keep the digits that 1-(1-p)^t loses at the p ~ 1e-4 of real training runs.
    return (-np.expm1(t * math.log1p(-p))) ** n


def critical_time(p: float, n: int, level: float) -> int:
    """t* = ceil(log(1 - level^(1/n)) / log(1-p)): the first step at which P(n) reaches `level`."""
    _check_rate(p)
    _check_count(n)
    if not 0 < level < 1:
        raise InputError(f"the level to reach is {level}; it must lie strictly between 0 and 1")
    if p == 1:
        return 1
    near = math.ceil(math.log1p(-(level ** (1 / n))) / math.log1p(-p))
    # Where a step meets the level exactly, rounding may put the quotient just behind it.
    return near - 1 if success_probability(near - 1, p, n) >= level else near


def simulate(p: float, n: int, steps: int, runs: int, seed: int) -> Floats:
    """Share of `runs` independent learners that hold all n abilities after 0, 1, …, `steps` steps.

    Every ability is tried step by step; no closed form is used, so this is an independent check of P(n).
    """
    _check_rate(p)
    _check_count(n)
    if steps < 1 or runs < 1:
        raise InputError(f"simulating {runs} runs of {steps} steps; both must be at least 1")
    rng = np.random.default_rng(seed)
    learnt = np.zeros((runs, n), dtype=bool)
    share = np.zeros(steps + 1)
    for step in range(1, steps + 1):
        learnt |= rng.random((runs, n)) < p
        share[step] = learnt.all(axis=1).mean()
    return share


def fit_rate(t: ArrayLike, accuracy: ArrayLike, n: int) -> float:
    """The p whose P(n) is nearest (least squares) to a measured accuracy curve.

    The search runs over log(-log(1-p)), so that a rate per step of 1e-6 is as easy to find as one of .5.
    """
    _check_count(n)
    t, y = np.asarray(t, dtype=np.float64), np.asarray(accuracy, dtype=np.float64)
    if t.shape != y.shape or t.ndim != 1 or t.size < 2:
        raise InputError(f"fitting p needs two equal lists of at least 2 values; got {t.shape} and {y.shape}")
    if (t < 0).any() or not (t > 0).any():
        raise InputError("fitting p needs steps that are not negative and at least one that is positive")
    if not ((y >= 0) & (y <= 1)).all():
        raise InputError("fitting p needs accuracies between 0 and 1; divide percentages by 100")

    def misfit(log_hazard: float) -> float:
        return float(((((-np.expm1(-math.exp(log_hazard) * t)) ** n) - y) ** 2).sum())

    # P(n) is flat at 0 and at 1 far from the answer: a coarse scan finds the valley, then Brent its bottom.
    longest, shortest = t.max(), t[t > 0].min()
    scan = np.linspace(math.log(1e-4 / longest), math.log(50 / shortest), 400)
    best = int(np.argmin([misfit(h) for h in scan]))
    bounds = (scan[max(best - 1, 0)], scan[min(best + 1, scan.size - 1)])
    found = scipy.optimize.minimize_scalar(misfit, bounds=bounds, method="bounded", options={"xatol": 1e-12})
    return -math.expm1(-math.exp(float(found.x)))  # pyright: ignore[reportAttributeAccessIssue]


def _check_rate(p: float) -> None:
    if not 0 < p <= 1:
        raise InputError(f"the learning probability p is {p}; it must lie in (0, 1]")


def _check_count(n: int) -> None:
    if n < 1:
        raise InputError(f"a task of {n} abilities makes no sense; n must be at least 1")
