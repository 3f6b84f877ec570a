"""Emergence times as per-seed values: censored, grouped, compared as ratios.

Times are compared by their ratio and judged on the log scale (`transform="log"`, threshold 1 for "later
than"). A time that was never reached is at least the last step; one already reached at the first evaluation
is at most that. Both stay bounds: neither dropped nor set to the step itself.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from conceptlab.claims.values import NoData, PerSeed, ratio, smallest
from conceptlab.errors import InputError


def censored_times(times: pd.Series, *, first: float, last: float) -> pd.DataFrame:
    """Bounds `low`, `high` on each time; NaN or anything past `last` means never reached by `last`."""
    if first <= 0:
        raise InputError(f"times: the first evaluation ({first:g}) must be positive")
    if first >= last:
        raise NoData("times need more than one evaluation")
    step = times.astype(float)
    never, early = step.isna() | (step > last), step <= first
    low = step.mask(never, last).mask(early, 0.0)
    high = step.mask(never, math.inf).mask(early, first)
    return pd.DataFrame({"low": low, "high": high})


def group_times(frame: pd.DataFrame, by: str, *, first: float, last: float) -> dict[Hashable, PerSeed]:
    """Per group (say, distance) and seed the geometric mean of its rows' times, with bounds carried along."""
    missing = {by, "time", "seed"} - set(frame.columns)
    if missing:
        raise InputError(
            f"times: the table has no column '{sorted(missing)[0]}'; it has {list(frame.columns)}"
        )
    if frame.empty:
        raise NoData("no emergence times in the table")
    bounds = censored_times(frame["time"], first=first, last=last)
    group_code, group_names = pd.factorize(frame[by], sort=True)
    seed_code, seed_names = pd.factorize(frame["seed"], sort=True)
    shape = (len(group_names), len(seed_names))
    cell = group_code * shape[1] + seed_code
    rows = np.bincount(cell, minlength=shape[0] * shape[1])
    with np.errstate(divide="ignore", invalid="ignore"):  # log 0 = -inf; 0/0 = NaN: no row, unknown
        low, high = (
            np.exp(np.bincount(cell, np.log(bounds[end]), len(rows)) / rows).reshape(shape) for end in bounds
        )
    # A seed that lacks a row is unknown, too: a mean over fewer classes would be another number.
    counts = rows.reshape(shape)
    whole = counts == counts.max(axis=1, keepdims=True)
    low, high = (np.where(whole, end, np.nan) for end in (low, high))
    return {group: PerSeed(tuple(seed_names), low[i], high[i]) for i, group in enumerate(group_names)}


def ordering(groups: Sequence[PerSeed]) -> PerSeed:
    """The smallest ratio of consecutive times: above 1 only if every group comes after the one before it."""
    if len(groups) < 2:
        raise NoData("an order needs at least two groups of times")
    return smallest([ratio(later, earlier) for earlier, later in pairwise(groups)])
