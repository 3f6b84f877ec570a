"""Per-seed statistics that many claims share, from tidy tables (seed, step, class, variable, measure, value).

Filter the table first (`frame.query(...)`); each function then gives one value per seed. A seed for which
rows are missing is unknown and counts against the claim; it is never averaged over what happens to be there.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Literal

import numpy as np
import pandas as pd
import scipy

from conceptlab.claims.values import Array, NoData, PerSeed
from conceptlab.errors import InputError

# The reduction as a ufunc and the number it starts from.
_REDUCTIONS: dict[str, tuple[np.ufunc, float]] = {
    "mean": (np.add, 0.0),
    "min": (np.minimum, math.inf),
    "max": (np.maximum, -math.inf),
}
Reduction = Literal["mean", "min", "max"]


def _need(frame: pd.DataFrame, *columns: str) -> None:
    for column in columns:
        if column not in frame.columns:
            raise InputError(f"statistic: the table has no column '{column}'; it has {list(frame.columns)}")
    if frame.empty:
        raise NoData("the table has no rows for this claim")


def accuracy_resolution(accuracy: float, images: int) -> float:
    """Standard error of an accuracy measured on so many images: the `resolution` of an accuracy claim."""
    if not 0 < accuracy < 1 or images < 1:
        raise InputError("resolution: needs an accuracy strictly between 0 and 1 and at least one image")
    return math.sqrt(accuracy * (1 - accuracy) / images)


def value_per_seed(frame: pd.DataFrame, over: Reduction = "mean", value: str = "value") -> PerSeed:
    """Each seed's mean, smallest or largest value over its rows."""
    _need(frame, "seed", value)
    code, seeds = pd.factorize(frame["seed"], sort=True)
    rows = np.bincount(code)
    ufunc, start = _REDUCTIONS[over]
    reduced = np.full(len(seeds), start)
    with np.errstate(invalid="ignore"):  # NaN spreads to its seed, which is then unknown
        ufunc.at(reduced, code, frame[value].to_numpy(float))
    reduced = reduced / rows if over == "mean" else reduced
    reduced[rows < rows.max()] = math.nan
    return PerSeed(tuple(seeds), reduced, reduced)


def final_value(frame: pd.DataFrame, over: Reduction = "mean", value: str = "value") -> PerSeed:
    """`value_per_seed` at the last step; a seed that has not come that far is unknown."""
    _need(frame, "seed", "step", value)
    done = value_per_seed(frame[frame["step"] == frame["step"].max()], over, value)
    return done.among(frame["seed"])


def correlation(frame: pd.DataFrame, x: str, y: str) -> PerSeed:
    """Within each seed Spearman's ρ of two columns over its settings (judge it with `transform="fisher"`).

    A value of +inf is a time never reached, one of -inf the logarithm of a ratio to such a time. ρ then has exact
    bounds, since such settings hold the top or the bottom ranks in an unknown order, some of them perhaps together;
    unless both columns have several, which leaves the seed unknown.
    """
    _need(frame, "seed", x, y)
    bounds, settings = {}, frame.groupby("seed").size().max()
    for seed, rows in frame.groupby("seed"):
        whole = len(rows) == settings  # otherwise not comparable with the others
        pair = rows[x].to_numpy(float), rows[y].to_numpy(float)
        bounds[seed] = _spearman(*pair) if whole else (math.nan, math.nan)
    low, high = np.array(list(bounds.values())).T
    return PerSeed(tuple(bounds), low, high)


def correlation_difference(frame: pd.DataFrame, x: str, other: str, y: str) -> PerSeed:
    """Within each seed how much better `x` ranks `y` than `other` does: the difference of two Spearman correlations
    over the same settings, paired. Where `y` is infinite (never reached) bounds are those of every order, and of ties
    where both `x` and `other` tie; several such in `x` or `other` leave the seed unknown."""
    _need(frame, "seed", x, other, y)
    bounds, settings = {}, frame.groupby("seed").size().max()
    for seed, rows in frame.groupby("seed"):
        whole = len(rows) == settings
        columns = (rows[name].to_numpy(float) for name in (x, other, y))
        bounds[seed] = _spearman_difference(*columns) if whole else (math.nan, math.nan)
    low, high = np.array(list(bounds.values())).T
    return PerSeed(tuple(bounds), low, high)


def _spearman_difference(x: Array, other: Array, y: Array) -> tuple[float, float]:
    if max(_unordered(x), _unordered(other)) > 1 or np.isnan(y).any():
        return math.nan, math.nan
    ranks = [scipy.stats.rankdata(_finite(column)) for column in (x, other)]
    if any(np.ptp(rank) == 0 for rank in ranks):
        return math.nan, math.nan
    # Both correlations have the same ranks of y, so but for how much these vary the difference is linear in them: its
    # ends are where those never reached are sorted by what it weighs them with.
    weight = np.subtract(*((rank - rank.mean()) / rank.std() for rank in ranks))
    ends = []
    for filled in _orders(y, weight):
        first, second = (_pearson(rank, scipy.stats.rankdata(filled)) for rank in ranks)
        ends.append(first - second)
    return min(ends), max(ends)


def _pearson(x: Array, y: Array) -> float:
    usable = len(x) >= 3 and np.isfinite(x).all() and np.isfinite(y).all()
    if not usable or np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    return float(np.corrcoef(x, y)[0, 1])


def _spearman(x: Array, y: Array) -> tuple[float, float]:
    if _unordered(x) > 1:
        x, y = y, x
    if np.isnan(y).any() or _unordered(x) > 1:
        return math.nan, math.nan
    x = _finite(x)
    ends = [_pearson(scipy.stats.rankdata(x), scipy.stats.rankdata(filled)) for filled in _orders(y, x)]
    return min(ends), max(ends)


def _unordered(x: Array) -> int:
    """How many values are infinite on one side: several of them have no order."""
    return int(max(np.isposinf(x).sum(), np.isneginf(x).sum()))


def _finite(x: Array) -> Array:
    """At most one value on either side is infinite: as a number beyond all others."""
    return next(_orders(x, x))


def _orders(y: Array, weight: Array) -> Iterator[Array]:
    """`y` with what is infinite beyond all that is not, sorted against a weight and with it: for ranks any such numbers
    will do. Where the weight ties they may tie as well: then ranks vary less, and a correlation is stronger."""
    known = y[np.isfinite(y)]
    above, below = np.max(known, initial=0.0), np.min(known, initial=0.0) - len(y) - 1
    for sense, ties in itertools.product((-1, 1), ("ordinal", "dense")):
        filled = y.copy()
        for never, end in ((np.isposinf(y), above), (np.isneginf(y), below)):
            filled[never] = end + scipy.stats.rankdata(sense * weight[never], method=ties)
        yield filled


def slope(frame: pd.DataFrame, x: str, y: str) -> PerSeed:
    """Within each seed the least-squares slope of `y` on `x`; unknown where a value is missing or infinite."""
    _need(frame, "seed", x, y)
    slopes = {}
    for seed, rows in frame.groupby("seed"):
        a, b = rows[x].to_numpy(float), rows[y].to_numpy(float)
        sound = len(a) >= 2 and np.isfinite(a).all() and np.isfinite(b).all() and np.ptp(a) > 0
        slopes[seed] = float(np.cov(a, b)[0, 1] / np.var(a, ddof=1)) if sound else math.nan
    return PerSeed.exact(slopes)


def outcome_per_seed(frame: pd.DataFrame, column: str) -> PerSeed:
    """Whether each seed succeeded in all its rows, as 0 or 1 (judge it with `interval="proportion"`)."""
    _need(frame, "seed", column)
    seeds = frame.groupby("seed")[column]
    return PerSeed.exact(seeds.all().astype(float).where(seeds.count() == seeds.size()))


def within_correlation(frame: pd.DataFrame, x: str, y: str, by: str) -> PerSeed:
    """Each seed's share in the correlation of `x` and `y` over seeds, with the means of each setting removed.

    The mean of the shares is the pooled within-setting correlation, free of any trend over settings that both
    columns follow; seeds stay the unit, so the same seed in several settings is not counted as several. Judge
    it against 0 on the plain scale: a share is not itself a correlation and may exceed 1.
    """
    _need(frame, "seed", by, x, y)
    wide = {
        c: frame.pivot_table(index="seed", columns=by, values=c, dropna=False).to_numpy(float) for c in (x, y)
    }
    seeds = tuple(sorted(frame["seed"].unique()))
    whole = np.isfinite(wide[x]).all(axis=1) & np.isfinite(wide[y]).all(axis=1)
    a, b = (
        table[whole] - table[whole].mean(axis=0) if whole.any() else table[whole] for table in wide.values()
    )
    scale = math.sqrt(float((a**2).sum() * (b**2).sum()))
    shares = np.full(len(seeds), math.nan)
    if scale > 0:
        shares[whole] = (a * b).sum(axis=1) * whole.sum() / scale
    return PerSeed(seeds, shares, shares)
