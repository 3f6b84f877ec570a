"""`park2024.twins`: how much of when a model behaves is its seed?

Every recipe is trained twice: data, noise and initial weights are the same, and only what is asked at evaluations
differs. On one CPU twins are equal to the bit. On a GPU they lie in cohorts of other sizes, may be trained by other
versions of the kernels, and so are rounded otherwise; what grows out of that is chance that no seed decides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from numpy.typing import ArrayLike
from scipy.special import gammaincinv

from conceptlab import figures
from conceptlab.recipe import Recipe
from conceptlab.studies.park2024 import drawing
from conceptlab.studies.park2024.recipes import SIZES, once_more, sweep
from conceptlab.studies.park2024.tables import curve, curves, drawing_from, reached
from conceptlab.studies.study import Figure, Results, Scale, Tables

LATE = 10
"""Evaluations at the end over which an accuracy is taken: one alone is a snapshot of a network that still moves."""


def recipes(scale: Scale, seeds: Sequence[int]) -> list[Recipe]:
    """The sweep and its twins; where a CPU trains them, and they are equal, of one separation only."""
    every = sweep(scale, seeds)
    if scale != "paper":
        one = SIZES[scale].separations[1]
        every = [recipe for recipe in every if recipe.world["colour_separation"] == one]
    return [*every, *once_more(every, scale)]


def tables(results: Results) -> dict[str, pd.DataFrame]:
    """`runs`: for each member when it behaves (NaN: never) and how it ends; `spread`: how far times lie apart."""
    again = {member.id for member in results.members if _is_looked_into(member.recipe)}
    rows = [
        {
            "separation": float(run["separation"].iloc[0]),
            "seed": int(run["seed"].iloc[0]),
            "twin": "again" if member in again else "once",
            "behaviour": reached(curve(run, "accuracy"), drawing_from(run)),
            "accuracy": float(curve(run, "accuracy").iloc[-LATE:].mean()),
            "end": float(run["step"].max()),
        }
        for member, run in curves(results, "member").groupby("member", sort=True)
    ]
    runs = pd.DataFrame(rows).sort_values(["separation", "seed", "twin"], ignore_index=True)
    return {"runs": runs, "spread": spread(pairs(runs, "behaviour"))}


def _is_looked_into(recipe: Recipe) -> bool:
    """Which of two twins is it? Whatever was set for both."""
    return any(part["name"] == "locality" for part in recipe.evaluation.measurements)


def pairs(runs: pd.DataFrame, column: str) -> pd.DataFrame:
    """`once` and `again`, a row for each separation and seed of which both twins are there."""
    wide = runs.pivot(index=["separation", "seed"], columns="twin", values=column)
    there = runs.pivot(index=["separation", "seed"], columns="twin", values="end").notna().all(axis=1)
    return wide[there].reset_index()


def spread(times: pd.DataFrame) -> pd.DataFrame:
    """The standard deviation of log times by separation: of twins about their mean, and of seeds about theirs. Pairs of
    which one is never reached are left out of both: how far they lie apart is not known."""
    known = times.dropna(subset=["once", "again"])
    rows = []
    for separation, own in known.groupby("separation", sort=True):
        logs = np.log(own[["once", "again"]].to_numpy(dtype=float))
        twins = math.sqrt(np.mean((logs[:, 0] - logs[:, 1]) ** 2) / 2)
        seeds = math.sqrt(np.mean(logs.var(axis=0, ddof=1))) if len(logs) > 1 else math.nan
        rows.append((separation, twins, seeds, len(logs)))
    return pd.DataFrame(rows, columns=["separation", "twins", "seeds", "pairs"])


def interval(deviation: ArrayLike, freedom: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """95 % for a standard deviation with so many degrees of freedom, if what it is of is normal: by chi-squared."""
    deviation, half = np.asarray(deviation), np.asarray(freedom) / 2
    low, high = (deviation * np.sqrt(half / gammaincinv(half, level)) for level in (0.975, 0.025))
    return low, high


def freedom(found: pd.DataFrame, column: str) -> pd.Series:
    """A pair of twins tells once how far they lie apart. Seeds are counted once though there are two of each: where
    twins lie close, the second tells nothing new."""
    return found["pairs"] - (column == "seeds")


def pooled(found: pd.DataFrame, column: str) -> float:
    """One standard deviation of all separations: the root of the mean variance, each counted by its pairs."""
    known = found.dropna(subset=[column])
    return math.sqrt(np.average(known[column] ** 2, weights=known["pairs"])) if len(known) else math.nan


@figures.house()
def draw_twins(results: Results, tables: Tables) -> Picture:
    """(a) when class 11 is drawn by a network and by its twin, (b) how often in the end, (c) how far times of twins and
    of seeds lie apart."""
    runs, apart = tables["runs"], tables["spread"]
    page = figures.figure(columns=2, height=2.6)
    when, end, by_separation = page.subplots(1, 3, width_ratios=(1.25, 1, 1))
    shades = drawing.colours(runs["separation"])
    times, accuracies = pairs(runs, "behaviour"), pairs(runs, "accuracy")
    figures.panel(when, "a", "Step of behaviour")
    _times(when, times, float(runs["end"].max()), shades)
    drawing.colour_bar(page, when, runs["separation"], "colour separation")
    figures.panel(end, "b", "Accuracy at the end")
    end.scatter(accuracies["once"], accuracies["again"], s=14, c=_colours(accuracies, shades), lw=0, zorder=3)
    _diagonal(end, (-0.03, 1.03))
    figures.panel(by_separation, "c", "Spread of log times")
    _spreads(by_separation, apart)
    by_separation.set_xlim(runs["separation"].min() - 0.02, runs["separation"].max() + 0.02)
    figures.caption(page, _caption(times, apart, runs["seed"].nunique()))
    return page


def _spreads(ax: Axes, apart: pd.DataFrame) -> None:
    ax.set(xlabel="colour separation", ylabel="standard deviation")
    for column, line, aside in (("seeds", drawing.TRAINING, -0.003), ("twins", drawing.BEHAVIOUR, 0.003)):
        known = apart[apart[column] > 0]  # none of one pair; of twins that are equal no logarithm
        if known.empty:
            continue
        low, high = interval(known[column], freedom(known, column))
        ends = (known[column] - low, high - known[column])
        looks = {"color": line.colour, "marker": line.marker, "ms": 4, "lw": 1.2, "elinewidth": 0.8}
        ax.errorbar(known["separation"] + aside, known[column], ends, label=f"of {column}", **looks)
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_minor_formatter("")
        ax.legend(loc="best")


def _caption(times: pd.DataFrame, apart: pd.DataFrame, seeds: int) -> str:
    late = " Open: not within the run." if times.isna().any(axis=None) else ""
    of = f"{len(times)} recipes ({figures.seeds_text(seeds, band='')})"
    text = f"{of}, each trained twice. a: class 11, for three evaluations in a row.{late}"
    text = f"{text} b: mean of the last {LATE} evaluations."
    if apart.empty:
        return f"{text} c: nothing was learnt."
    both = ", ".join(f"{_told(apart, column)} of {column}" for column in ("twins", "seeds"))
    count = int(apart["pairs"].sum())
    return f"{text} c: of the {count} pairs that both behave, with 95 % if log times are normal; all together {both}."


def _told(apart: pd.DataFrame, column: str) -> str:
    value, known = pooled(apart, column), apart.dropna(subset=[column])
    if not value > 0:
        return f"{value:.2f}".replace("nan", "–")
    low, high = interval(value, freedom(known, column).sum())
    return f"{value:.2f} ({low:.2f} … {high:.2f})"


def _times(ax: Axes, times: pd.DataFrame, last: float, shades: dict[float, drawing.Colour]) -> None:
    """One twin's time against the other's; what was never reached lies at the edge, as an open mark."""
    edge = 1.15 * last
    reached_both = times[["once", "again"]].notna().all(axis=1)
    for rows, open_ in ((times[reached_both], False), (times[~reached_both], True)):
        at, colours = rows[["once", "again"]].fillna(edge), _colours(rows, shades)
        looks = {"facecolors": "none", "edgecolors": colours, "lw": 1.0} if open_ else {"c": colours, "lw": 0}
        ax.scatter(at["once"], at["again"], s=14, zorder=3, **looks)
    ax.set(xscale="log", yscale="log")
    known = times[["once", "again"]].to_numpy(dtype=float)
    low = 0.8 * float(np.nanmin(known)) if np.isfinite(known).any() else last / 10
    _diagonal(ax, (low, 1.12 * edge))
    ticks = figures.log_ticks(low, last)
    ax.set_xticks(ticks, [f"{step:g}" for step in ticks])
    ax.set_yticks(ticks, [f"{step:g}" for step in ticks])
    ax.minorticks_off()


def _colours(rows: pd.DataFrame, shades: dict[float, drawing.Colour]) -> list[drawing.Colour]:
    return [shades[float(value)] for value in rows["separation"]]


def _diagonal(ax: Axes, limits: tuple[float, float]) -> None:
    """Where twins that are equal lie."""
    ax.plot(limits, limits, color="#c9cdd3", lw=0.8, zorder=1)
    ax.set_xlim(limits)
    ax.set_ylim(limits)
    ax.set(xlabel="one", ylabel="its twin")


FIGURE = Figure(
    "twins",
    "The same recipe twice",
    "when class 11 is drawn and how it ends in networks of one recipe that only rounding tells apart",
    tables,
    draw_twins,
    recipes,
)
