"""Drawing `predict`."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from conceptlab import figures
from conceptlab.figures.style import MUTED, RULE
from conceptlab.studies.study import Results, Tables
from conceptlab.studies.yang2025.predict_kinds import named_alike, rank_correlation

_WAYS = {"sim": "By SIM", "baseline": "By signal alone"}
_NEVER = 1.3  # where a ratio without end is put, as a multiple of the largest

_CAPTION = (
    "every point a pair of concepts (a, b) or a concept (c) of one world and seed. a, b: time of the first concept "
    "over that of the second; dashed: as predicted; grey: the other way around; open: one of the two was never learnt; "
    "ρ: rank correlation over worlds, mean over seeds. d: of pairs of all kinds, the slower by SIM over the other: "
    "share in the predicted order, rank correlation of ratios, median factor of error; bars: means over seeds, points: "
    "seeds."
)
_NOTHING = "no concept was learnt in any of them, so that there are no times to compare."


@figures.house()
def draw_predict(results: Results, tables: Tables) -> Picture:
    page = figures.figure(columns=2, height=4.9)
    grid = page.add_gridspec(2, 2)
    for place, (letter, (way, title)) in enumerate(zip("ab", _WAYS.items())):
        ax = page.add_subplot(grid[0, place])
        figures.panel(ax, letter, title)
        _predicted(ax, named_alike(tables["pairs"]), tables["kinds"], way)
    ax = page.add_subplot(grid[1, 0])
    figures.panel(ax, "c", "Signals and times")
    _times(ax, tables["concepts"])
    ax = page.add_subplot(grid[1, 1])
    figures.panel(ax, "d", "How well")
    _how_well(ax, tables["pairs"])
    worlds, seeds = (tables["concepts"][column].nunique() for column in ("world", "seed"))
    learnt = np.isfinite(tables["concepts"]["time"]).any()
    figures.caption(page, f"{worlds} worlds, seeds: {seeds}; {_CAPTION if learnt else _NOTHING}")
    return page


def _predicted(ax: Axes, pairs: pd.DataFrame, kinds: pd.DataFrame, way: str) -> None:
    ax.set(xlabel="predicted ratio of times", ylabel="measured ratio of times")
    if pairs.empty:
        return
    finite = pairs[np.isfinite(pairs["measured"])]
    top = max(float(finite["measured"].abs().max()) if len(finite) else 1.0, 0.5)
    looks = figures.class_colours(sorted(pairs["pair"].unique()))
    follows = kinds.groupby("pair")["rank"].mean()
    for name, rows in pairs.groupby("pair", sort=True):
        reached = np.isfinite(rows["measured"])
        label = f"{name}  ρ {follows[name]:.2f}" if np.isfinite(follows[name]) else str(name)
        ax.plot(np.exp(rows.loc[reached, way]), np.exp(rows.loc[reached, "measured"]), "o", ms=3.5,
                color=looks[name], mec="white", mew=0.4, label=label)  # fmt: skip
        open_ = rows[~reached]
        ax.plot(np.exp(open_[way]), np.exp(np.sign(open_["measured"]) * _NEVER * top), "o", ms=3.5, mfc="white",
                mec=looks[name])  # fmt: skip
    _log_scales(ax, "xy")
    _other_way_around(ax)
    if way == "sim":
        ax.legend(loc="upper left", handlelength=0.6, labelspacing=0.25, fontsize=6.2, labelcolor=MUTED)


def _other_way_around(ax: Axes) -> None:
    """The diagonal, and the quarters in which the concept predicted to be slower is the faster one."""
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    ends = [min(left, bottom), max(right, top)]
    ax.plot(ends, ends, color=MUTED, lw=0.9, ls=(0, (3, 2)), zorder=1)
    ax.fill_between([left, 1], 1, top, color=RULE, alpha=0.35, lw=0, zorder=0)
    ax.fill_between([1, right], bottom, 1, color=RULE, alpha=0.35, lw=0, zorder=0)
    ax.set(xlim=(left, right), ylim=(bottom, top))


def _times(ax: Axes, concepts: pd.DataFrame) -> None:
    looks = figures.variable_colours(sorted(concepts["variable"].unique()))
    for name, rows in concepts.groupby("variable", sort=True):
        reached = rows[np.isfinite(rows["time"])]
        ax.plot(reached["signal"], reached["time"], "o", ms=3.5, color=looks[str(name)], mec="white", mew=0.4,
                label=str(name))  # fmt: skip
    _log_scales(ax, "xy" if np.isfinite(concepts["time"]).any() else "x")
    ax.set(xlabel="concept signal", ylabel="steps until half learnt")
    ax.margins(y=0.2)  # room for the names
    ax.legend(loc="best", handlelength=0.6, labelspacing=0.25, labelcolor=MUTED)


def _log_scales(ax: Axes, axes: str) -> None:
    """Log scales with plain numbers at 1, 2 and 5: ratios near 1 have no power of ten among them."""
    for name in axes:
        getattr(ax, f"set_{name}scale")("log")
        axis = getattr(ax, f"{name}axis")
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_locator(NullLocator())


def _how_well(ax: Axes, pairs: pd.DataFrame) -> None:
    colours = {"sim": "#228833", "baseline": "#8a8f98"}
    ax.set_xticks((0, 1, 2), ("in order", "rank corr.", "factor of error"))
    ax.axhline(1, color=RULE, lw=0.8, zorder=0)
    if pairs.empty:
        return
    for offset, (way, title) in zip((-0.18, 0.18), _WAYS.items()):
        found = pd.DataFrame([_scores(rows, way) for _, rows in pairs.groupby("seed")])
        for place, column in enumerate(found.columns):
            ax.bar(
                place + offset,
                found[column].mean(),
                0.32,
                color=colours[way],
                label=title if not place else "",
            )
            ax.plot(np.full(len(found), place + offset), found[column], "o", ms=3, color=MUTED,
                    mec="white", mew=0.5)  # fmt: skip
    ax.legend(loc="upper left", handlelength=1.0, labelspacing=0.25, labelcolor=MUTED)


def _scores(rows: pd.DataFrame, way: str) -> dict[str, float]:
    """Of one seed; the order by signal is that of the baseline's sign."""
    right = np.sign(rows[way]) == np.sign(rows["measured"])
    error = (rows[way] - rows["measured"]).abs().median()
    factor = np.exp(error) if np.isfinite(error) else np.nan  # half of the pairs without end: nothing to draw
    return {
        "order": float(right.mean()),
        "rank": rank_correlation(rows[way], rows["measured"]),
        "error": float(factor),
    }
