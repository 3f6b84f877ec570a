"""One number for each seed: the statistics behind the claims of park2024, from the table of times."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from conceptlab.claims import (
    NoData,
    PerSeed,
    correlation,
    group_times,
    outcome_per_seed,
    ratio,
    value_per_seed,
    within_correlation,
)
from conceptlab.claims.times import censored_times
from conceptlab.measures.censored_line import fit_censored_line, shortfall
from conceptlab.studies.park2024.tables import signal_of
from conceptlab.studies.study import Tables

POWER = 0.9
"""The rank at which the change-point test must put a kink that was put in on purpose."""
SAME = 0.01
"""Losses that differ by less, as a share of what they fall by, are one curve."""


def _unmasked(tables: Tables) -> pd.DataFrame:
    times = tables["times"]
    chosen = times[times["hidden"] == 0]
    if chosen.empty:
        raise NoData("no runs of the sweep in this table")
    return chosen


def later_by(later: str, earlier: str, tables: Tables) -> PerSeed:
    """How many times later one thing comes than another: geometric mean over separations."""
    times = _unmasked(tables)
    long = times.melt(id_vars="seed", value_vars=[later, earlier], var_name="kind", value_name="time")
    found = group_times(long, "kind", first=float(times["first"].min()), last=float(times["last"].max()))
    return ratio(found[later], found[earlier])


def evaluations_between(tables: Tables) -> PerSeed:
    """Evaluations from capability to behaviour, mean over separations; a bound where behaviour never came."""
    times = _unmasked(tables)
    low = value_per_seed(times, value="lead")
    open_ended = set(times.loc[times["behaviour"].isna(), "seed"])
    high = np.where([seed in open_ended for seed in low.seeds], math.inf, low.high)
    return PerSeed(low.seeds, low.low, high)


def _since_drawing(times: pd.DataFrame, *names: str) -> pd.DataFrame:
    """Times counted from when the model begins to draw. Nothing counts before, so that two times which say nothing of
    each other still rank alike where some runs draw later than others."""
    return times.assign(**{name: times[name] - times["drawing"] for name in names})


def over_separations(x: str, y: str, tables: Tables, *, delays: bool = False) -> PerSeed:
    """Within each seed Spearman's rank correlation over separations; times never reached hold the top ranks, a
    distance that is not known makes the seed unknown. `delays`: of times since the model draws."""
    times = _since_drawing(_unmasked(tables), x, y) if delays else _unmasked(tables)
    if x == "signal":
        times = times.assign(signal=times["separation"].map(signal_of(tables["signal"])))
    never = {name: math.inf for name in (x, y) if name not in ("signal", "approach")}
    filled = times.fillna(never)
    return correlation(filled.assign(x=filled[x], y=filled[y]), "x", "y")


def within_separations(x: str, y: str, tables: Tables, *, delays: bool = False) -> PerSeed:
    """The relation over seeds within a separation, on ranks: free of the trend that both times follow.

    Never reached ranks last, tied with others that were never reached. `delays`: of times since the model draws.
    """
    times = _since_drawing(_unmasked(tables), x, y) if delays else _unmasked(tables)
    by_separation = times[[x, y]].fillna(math.inf).groupby(times["separation"])
    ranks = by_separation.rank(method="average").assign(seed=times["seed"], separation=times["separation"])
    return within_correlation(ranks, x, y, by="separation")


def nearest(tables: Tables) -> PerSeed:
    """How near class 11 comes to the corner of 01 at the lowest separation."""
    return value_per_seed(_lowest(tables), value="approach")


def worst_capability(tables: Tables) -> PerSeed:
    return value_per_seed(_unmasked(tables), over="min", value="final_capability")


def gap(tables: Tables) -> PerSeed:
    """Final capability less final behaviour at the lowest separation."""
    low = _lowest(tables)
    return value_per_seed(low.assign(gap=low["final_capability"] - low["final_behaviour"]), value="gap")


def behaves(threshold: float, tables: Tables) -> PerSeed:
    """Does a seed show the behaviour at the end, at the lowest separation?"""
    low = _lowest(tables)
    return outcome_per_seed(low.assign(behaves=low["final_behaviour"] >= threshold), "behaves")


def _lowest(tables: Tables) -> pd.DataFrame:
    times = _unmasked(tables)
    return times[times["separation"] == times["separation"].min()]


def loss_kink(tables: Tables) -> PerSeed:
    """The mean rank of the loss's kink at the capability time, over runs in which the test finds an injected kink.

    A seed in which it finds the injected one in fewer than half of the runs has no value: it proves nothing there.
    Runs whose losses are one and the same curve prove nothing either: their kinks are those of the curve, and ranks
    tell where on it capability happens to fall.
    """
    times, found = _unmasked(tables), {}
    if _alike(tables["curves"]):
        raise NoData(
            "the loss is the same curve in every run, whenever it is capable: it tells nothing of one"
        )
    for seed, runs in times.groupby("seed"):
        tested = runs[runs["kink"].notna()]
        able = tested[tested["kink_control"] >= POWER]
        enough = len(able) > 0 and len(able) * 2 >= len(tested)
        found[seed] = float(able["kink"].mean()) if enough else math.nan
    return PerSeed.exact(found)


def _alike(curves: pd.DataFrame) -> bool:
    """Whether the losses of all runs are one curve: on average over training the largest and the smallest differ by
    less than a hundredth of what each falls by."""
    loss = curves[(curves["measure"] == "loss") & (curves["hidden"] == 0)]
    wide = loss.pivot_table(index="step", columns=["separation", "seed"], values="value").to_numpy(float)
    # As the test for kinks sees them.
    scaled = np.arcsinh(wide)
    return wide.shape[1] > 1 and float(np.ptp(scaled, axis=1).mean()) < SAME * float(np.ptp(scaled))


def spread_ratio(wider: str, narrower: str, tables: Tables) -> PerSeed:
    """How much further a seed lies from the others in one log-time than in another, mean over separations.

    Each seed is compared with the mean of the other seeds at the same separation; bounds where times are censored.
    """
    times = _unmasked(tables)
    return ratio(_deviation(times, wider), _deviation(times, narrower))


def _deviation(times: pd.DataFrame, kind: str) -> PerSeed:
    first, last = float(times["first"].min()), float(times["last"].max())
    # Reached by the first evaluation: within a tenth of it is as near to "at once" as makes no difference.
    bounds = censored_times(times[kind], first=first, last=last).clip(lower=first / 10)
    named = bounds.assign(seed=times["seed"], separation=times["separation"])
    low, high = (
        np.log(named.pivot(index="seed", columns="separation", values=end).to_numpy(float))
        for end in ("low", "high")
    )
    count = len(low)
    if count < 3:
        raise NoData("a spread over seeds needs at least three seeds")
    with np.errstate(invalid="ignore"):
        others_low, others_high = (
            np.stack([np.delete(end, i, axis=0).mean(axis=0) for i in range(count)]) for end in (low, high)
        )
        least = np.maximum(0, np.maximum(low - others_high, others_low - high))
        most = np.maximum(high - others_low, others_high - low)
    seeds = tuple(sorted(times["seed"].unique()))
    return PerSeed(seeds, least.mean(axis=1), most.mean(axis=1))


def predicted_share(x: str, y: str, tables: Tables) -> PerSeed:
    """R² of a line that was fitted to the other seeds: the share of a seed's differences in `y` that `x` tells.

    Times never reached count as censored, in the fit and in the error: a prediction beyond the last step is right.
    A run whose `x` was never reached either is taken at the last step, where the line can only be too early.
    """
    times = _unmasked(tables)
    last = float(times["last"].max())
    filled = times.assign(x=times[x].fillna(last), y=times[y].fillna(last), never=times[y].isna())
    found = {}
    for seed, own in filled.groupby("seed"):
        others = filled[filled["seed"] != seed]
        fits = [
            fit_censored_line(others["x"], others["y"], others["never"], flat=flat) for flat in (False, True)
        ]
        if None in fits:
            found[seed] = math.nan
            continue
        line, level = (float((shortfall(f(own["x"]), own["y"], own["never"]) ** 2).sum()) for f in fits if f)
        found[seed] = 1 - line / level if level > 0 else math.nan
    return PerSeed.exact(found)


def with_hidden_share(y: str, tables: Tables) -> PerSeed:
    """Within each seed Spearman's rank correlation of the hidden share with a final value."""
    return correlation(tables["times"], "hidden", y)
