"""Intervals over seeds, and the smallest error level at which each would exclude a threshold.

Every interval is two-sided at level 1 - alpha and is built one end at a time: the lower end from the seeds'
lower bounds, the upper end from their upper bounds, so it holds whatever the censored values really were.

An end is the outer one of two. The first is Student's, mean ± t(alpha/2, n-1) · max(s, resolution)/√n. The
second is a guard from ranks, the exact sign-test bound on the median at a fixed one-sided 5 % (at n ≤ 7 the
most extreme seed): Student's t alone errs on skewed, two-humped or tied values, and the guard keeps the rate
of false ends at or below 5 % for n ≥ 5 (1/32 at 5) whatever the distribution. Where some bound is infinite there is no
mean, and the rank bound alone decides, at level alpha/2.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
import scipy

from conceptlab.claims.values import Array, PerSeed
from conceptlab.errors import InputError

GUARD = 0.05  # one-sided, fixed: ranks of a few seeds cannot follow a Holm-adjusted level
MOST_SEEDS = 100  # what nobody would train is not worth telling
TIE = 1e-12  # relative; values that differ only by rounding are tied

Bound = Literal["lower", "upper"]
# In words, as they stand in a verdict's note.
BOUNDS: dict[Bound, str] = {
    "lower": "value is a lower bound on the median",
    "upper": "value is an upper bound on the median",
}


class Centre(NamedTuple):
    """The number shown for a claim, what is to be said about it, and which bound it is if it is only one."""

    value: float | None
    about: str = ""
    bound: Bound | None = None


def tied(values: Array) -> bool:
    """Whether all values are the same up to rounding."""
    return bool(np.ptp(values) <= TIE * max(1.0, float(np.abs(values).max())))


def undecidable(values: PerSeed, resolution: float) -> bool:
    """Seeds that tie exactly show no spread; without a stated resolution nothing bounds it from below."""
    ends = [end for end in (values.low, values.high) if np.isfinite(end).all()]
    return resolution == 0 and any(tied(end) for end in ends)


def _t_quantile(tail: float, freedom: int) -> float:
    return -float(scipy.special.stdtrit(freedom, tail))


def _standard_error(values: Array, resolution: float) -> float:
    return max(float(np.std(values, ddof=1)), resolution) / math.sqrt(len(values))


def _rank(n: int, tail: float) -> int:
    """The largest k with P(Binomial(n, ½) < k) ≤ tail; 0 if there is none."""
    return int(np.sum(scipy.special.bdtr(np.arange(n), n, 0.5) <= tail))


def _rank_bound(values: Array, tail: float) -> float:
    """The k-th smallest value, with k from `_rank`: below the median but for `tail`."""
    k = _rank(len(values), tail)
    return float(np.sort(values)[k - 1]) if k else -math.inf


def _guard(values: Array) -> float:
    bound = _rank_bound(values, GUARD)
    return bound if math.isfinite(bound) else float(values.min())


def _lower_end(values: Array, resolution: float, alpha: float) -> float:
    if not np.isfinite(values).all():
        return _rank_bound(values, alpha / 2)
    student = float(values.mean()) - _t_quantile(alpha / 2, len(values) - 1) * _standard_error(
        values, resolution
    )
    return min(float(student), _guard(values))


def _lower_p(values: Array, bar: float, resolution: float) -> float:
    """The smallest alpha at which `_lower_end` lies above the bar; 1 if none does."""
    n = len(values)
    if not np.isfinite(values).all():
        return min(1.0, 2 * float(scipy.special.bdtr(int(np.sum(values <= bar)), n, 0.5)))
    error = _standard_error(values, resolution)
    if _guard(values) <= bar or error == 0:
        return 1.0
    return min(1.0, 2 * float(scipy.special.stdtr(n - 1, (bar - values.mean()) / error)))


def student_interval(values: PerSeed, alpha: float, resolution: float = 0.0) -> tuple[float, float]:
    """The interval for a typical seed; an end is infinite where censoring leaves it open."""
    return _lower_end(values.low, resolution, alpha), -_lower_end(-values.high, resolution, alpha)


def student_p(values: PerSeed, bar: float, resolution: float = 0.0) -> tuple[float, float]:
    """Smallest alpha at which the interval lies above the bar, and at which it lies below."""
    return _lower_p(values.low, bar, resolution), _lower_p(-values.high, -bar, resolution)


def seeds_to_decide(
    values: PerSeed, bar: float, alpha: float, resolution: float = 0.0, within: bool = False
) -> int | None:
    """How many seeds like these (of the same mean and spread, with as large a share beyond the bar) would take the
    interval off it, or, of an equivalence, off both its bars; `None` if more than `MOST_SEEDS`."""
    ways = _ways(values, bar, within)
    for n in range(len(values) + 1, MOST_SEEDS + 1):
        if any(all(_would_decide(gap, n, alpha, resolution) for gap in gaps) for gaps in ways):
            return n
    return None


def bounds_decide(values: PerSeed, bar: float, within: bool = False) -> bool:
    """Whether seeds like these could decide if there were enough of them: not where their bounds leave either side of
    the bar possible. Measured values could, unless their mean is the bar."""
    return bool(_ways(values, bar, within))


def _ways(values: PerSeed, bar: float, within: bool) -> list[list[Array]]:
    """The ways to a verdict that seeds lean to: by how much each seed is beyond each bar that a way has to pass."""
    above, below = values.low - bar, bar - values.high
    ways = [[above], [below]]
    if within:
        ways = [[values.low + bar, below], [above], [-bar - values.high]]
    return [gaps for gaps in ways if all(_leans(gap) for gap in gaps)]


def _leans(gap: Array) -> bool:
    return bool(gap.mean() > 0 if np.isfinite(gap).all() else (gap <= 0).mean() < 0.5)


def seeds_to_agree(n: int, bar: float, alpha: float, resolution: float) -> int:
    """From how many seeds on, `n` or more, an interval that the resolution alone sets fits within ± bar."""
    while _t_quantile(alpha / 2, n - 1) * resolution / math.sqrt(n) >= bar:
        n += 1
    return n


def _would_decide(gap: Array, n: int, alpha: float, resolution: float) -> bool:
    """Whether both bounds on n seeds like these lie above zero: Student's, and the guard's, a seed that more lie below
    than contradict. Where some bound is infinite ranks alone decide, as in `_lower_p`."""
    contradict = math.ceil(n * float((gap <= 0).mean()))
    if not np.isfinite(gap).all():
        return 2 * float(scipy.special.bdtr(contradict, n, 0.5)) <= alpha
    spread = max(float(np.std(gap, ddof=1)), resolution)
    beyond = _t_quantile(alpha / 2, n - 1) * spread / math.sqrt(n) < gap.mean()
    return beyond and contradict < max(1, _rank(n, GUARD))


def _successes(values: PerSeed) -> tuple[int, int]:
    """How many seeds succeeded for sure, and how many may have."""
    low, high = np.maximum(values.low, 0), np.minimum(values.high, 1)
    if not (np.isin(low, (0, 1)).all() and np.isin(high, (0, 1)).all()):
        raise InputError("a proportion needs per-seed outcomes that are 0 or 1")
    return int(low.sum()), int(high.sum())


def share_interval(successes: float, n: int, alpha: float) -> tuple[float, float]:
    """Clopper–Pearson: exact for a share, at any number; a mean over ties may be no whole number of successes."""
    low = float(scipy.stats.beta.ppf(alpha / 2, successes, n - successes + 1)) if successes > 0 else 0.0
    high = float(scipy.stats.beta.isf(alpha / 2, successes + 1, n - successes)) if successes < n else 1.0
    return low, high


def proportion_interval(values: PerSeed, alpha: float) -> tuple[float, float]:
    """For the share of seeds, of which some may be unknown."""
    sure, possible = _successes(values)
    return share_interval(sure, len(values), alpha)[0], share_interval(possible, len(values), alpha)[1]


def proportion_p(values: PerSeed, bar: float) -> tuple[float, float]:
    """As `student_p`, for the Clopper–Pearson interval."""
    n, (sure, possible) = len(values), _successes(values)
    above = 2 * float(scipy.stats.binom.sf(sure - 1, n, bar))
    below = 2 * float(scipy.stats.binom.cdf(possible, n, bar))
    return min(1.0, above), min(1.0, below)


def outcomes_to_decide(values: PerSeed, bar: float, alpha: float) -> int | None:
    """As `seeds_to_decide`, for the share of seeds: how many with as large a share of successes."""
    n, (sure, possible) = np.arange(len(values) + 1, MOST_SEEDS + 1), _successes(values)
    above = scipy.special.bdtrc(n * sure // len(values) - 1, n, bar)
    below = scipy.special.bdtr(-(-n * possible // len(values)), n, bar)
    decide = n[2 * np.minimum(above, below) <= alpha]
    return int(decide[0]) if len(decide) else None


def share_centre(values: PerSeed) -> Centre:
    """The share of seeds that succeeded; with unknown seeds, of which none or all may have, the middle between both."""
    if values.unknown == len(values):
        return Centre(None)
    sure, possible = _successes(values)
    about = "" if sure == possible else "value is the middle of bounds on the share"
    return Centre((sure + possible) / (2 * len(values)), about)


def centre(values: PerSeed) -> Centre:
    """The number shown for a claim: the mean, or with censored seeds the median or a bound on it."""
    if not len(values):
        return Centre(None)
    if values.is_exact:
        return Centre(float(values.low.mean()))
    # The median of the bounds bounds the median; unlike the mean it survives a minority of open ends.
    with np.errstate(invalid="ignore"):  # between -inf and inf there is no median: shown as none
        low, high = float(np.median(values.low)), float(np.median(values.high))
    if low == high:
        return Centre(low, "value is the median over seeds")
    if math.isfinite(low) and math.isfinite(high):
        return Centre((low + high) / 2, "value is the middle of bounds on the median")
    if math.isfinite(low):
        return Centre(low, BOUNDS["lower"], "lower")
    return Centre(high, BOUNDS["upper"], "upper") if math.isfinite(high) else Centre(None)
