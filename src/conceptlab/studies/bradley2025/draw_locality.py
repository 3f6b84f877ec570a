"""Drawing `locality`."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure as Picture

from conceptlab import figures
from conceptlab.figures.style import MUTED, RULE
from conceptlab.studies.bradley2025.drawing import EXPERIMENT_LINES
from conceptlab.studies.bradley2025.settings import SIZES
from conceptlab.studies.bradley2025.tables import is_main
from conceptlab.studies.study import Results, Tables

_FLOOR = 1e-4
Dashes = str | tuple[float, tuple[float, ...]]
_DOTTED: Dashes = (0, (1, 1.2))
_SHADES = {"cmap": "magma_r", "norm": LogNorm(_FLOOR, 1)}

_HEAT = (
    ("pixel_map", "a", "Pixels it depends on"),
    ("removed_map", "b", "Condition removed"),
    ("moved_map", "c", "Condition moved"),
)
_SCALARS = (
    ("condition_share", "d", "Decided by conditions", "share of the estimate"),
    ("pixel_reach", "e", "Pixel reach", "of a global average"),
    ("near_gain", "f", "Near-response gain", "at most K / at K = 1"),
    ("far_near", "g", "Removed: far and near", "change far / near"),
    ("moved_far_near", "h", "Moved: far and near", "change far / near"),
)


@figures.house()
def draw_locality(results: Results, tables: Tables) -> Picture:
    size = SIZES[results.scale]
    page = figures.figure(columns=2, height=12.4)
    halves = page.add_gridspec(2, 1, height_ratios=(1, 1.8))
    above, below = page.add_subfigure(halves[0]), page.add_subfigure(halves[1])
    heat, curves = above.subplots(3, 6), below.subplots(4, 3)
    levels = sorted(tables["levels"]["level"].unique())
    low, high = levels[0], levels[-1]
    for row, (measure, letter, title) in zip(heat, _HEAT):
        figures.panel(row[0], letter, title)
        _heat_row(row, tables["maps"], measure, {"low": low, "high": high})
    # At the top of what the layout gives them: squares in its middle would move after it made room for their titles.
    place = {"shrink": 0.5, "pad": 0.01, "aspect": 30, "panchor": (0.5, 1.0)}
    bar = above.colorbar(ScalarMappable(**_SHADES), ax=heat, **place)  # pyright: ignore[reportArgumentType]
    bar.set_label("relative to the largest")
    bar.outline.set_visible(False)  # pyright: ignore[reportCallIssue]
    names = ("levels", "mass", "distance", "near", "composition")
    main = {name: tables[name][is_main(tables[name], size)] for name in names}
    for ax, (measure, letter, title, label) in zip(curves.ravel(), _SCALARS):
        figures.panel(ax, letter, title)
        _over(ax, main["levels"][main["levels"]["measure"] == measure], "level")
        ax.set(xlabel="noise level, -log SNR", ylabel=label)
    below.legend(
        *curves[0, 0].get_legend_handles_labels(), loc="outside upper left", ncols=3, labelcolor=MUTED
    )
    distance = main["distance"][main["distance"]["level"] == high]
    figures.panel(curves[1, 2], "i", "Within a distance")
    _shares_within(curves[1, 2], distance)
    for ax, letter, what in ((curves[2, 0], "j", "removed"), (curves[2, 1], "k", "moved")):
        figures.panel(ax, letter, f"{what.capitalize()}: by distance")
        _relative(ax, distance[distance["measure"] == f"{what}_change"], "cells")
        ax.set_xlabel("cells from the condition" if what == "removed" else "cells from the nearer place")
        ax.set(ylabel="change / nearest", yscale="log", ylim=(_FLOOR, 2))
    figures.panel(curves[2, 2], "l", "Near change by K")
    _relative(curves[2, 2], main["near"][main["near"]["level"] == high], "asked")
    curves[2, 2].axhline(1, color=RULE, lw=0.8, zorder=0)
    curves[2, 2].set(xlabel="conditions K", ylabel="change / at K = 1")
    figures.panel(curves[3, 0], "m", "Pixels within a radius")
    _within(curves[3, 0], main["mass"], (low, high))
    figures.panel(curves[3, 1], "n", "Gain and generalisation")
    _kept(curves[3, 1], tables["kept"])
    figures.panel(curves[3, 2], "o", "Joint and composed")
    _composition(curves[3, 2], main["composition"])
    figures.caption(
        page,
        f"Trained on 1–{size.sweep_trained} objects (n: all ranges and reaches); "
        f"{figures.seeds_text(len(results.seeds))}. a: mean squared response of the estimate at the middle to each "
        "other pixel (white: the pixel itself); b: change of the estimate when the condition at the middle is taken "
        "away; c: when it moves to a free place, the middle being the nearer of its old and its new place (white: no "
        f"pixel); means over seeds, at -log SNR {low:g} and {high:g}. i, j, k, l: at {high:g}. i: dotted, removed; "
        "solid, moved. j, k: relative to the nearest, straight down where nothing changes; l: to K = 1. e, m: of other "
        "pixels than the pixel itself. m: dotted, low noise; solid, high. o: dashed, sampled by composed scores of "
        "single conditions; solid, jointly.",
    )
    return page


def _heat_row(row: Sequence[Axes], maps: pd.DataFrame, measure: str, levels: Mapping[str, float]) -> None:
    for ax, (end, name) in zip(row, itertools.product(levels, EXPERIMENT_LINES)):
        chosen = (maps["measure"] == measure) & (maps["level"] == levels[end]) & (maps["experiment"] == name)
        _heat(ax, maps[chosen], f"exp. {name}, {end} noise")


def _heat(ax: Axes, table: pd.DataFrame, title: str) -> None:
    ax.set_xlabel(title, fontsize=6.5)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_color(RULE)
    ax.spines[:].set_visible(True)
    if table.empty:
        return
    square = table.pivot_table(index="first", columns="second", values="value").to_numpy()
    largest = np.nanmax(square)
    ax.imshow(np.clip(square / largest, _FLOOR, None), interpolation="nearest", **_SHADES)


def _over(ax: Axes, table: pd.DataFrame, x: str) -> None:
    for name, line in EXPERIMENT_LINES.items():
        figures.band(ax, table[table["experiment"] == name], line, x=x)
        ax.plot([], [], color=line.colour, marker=line.marker, ms=3, label=line.label)
    ax.set_ylim(bottom=0)


def _experiments(ax: Axes, rows: pd.DataFrame, x: str, dashes: Dashes, *, marked: bool = False) -> None:
    """A line for each experiment, in its colour."""
    for name, line in EXPERIMENT_LINES.items():
        look = figures.Line(line.colour, marker=line.marker if marked else "", dashes=dashes)
        figures.band(ax, rows[rows["experiment"] == name], look, x=x)


def _within(ax: Axes, mass: pd.DataFrame, levels: tuple[float, float]) -> None:
    for level, dashes in zip(levels, (_DOTTED, "-")):
        _experiments(ax, mass[mass["level"] == level], "radius", dashes)
    ax.axvline(float(mass["cell"].iloc[0]), color=RULE, lw=0.8, zorder=0)
    ax.annotate("one cell", (float(mass["cell"].iloc[0]), 0.02), (2, 0), textcoords="offset points", fontsize=6.2,
                color=MUTED)  # fmt: skip
    ax.set(ylim=(0, 1.03), xlabel="radius, pixels", ylabel="share of the response")


def _shares_within(ax: Axes, distance: pd.DataFrame) -> None:
    for measure, dashes in (("removed_mass", _DOTTED), ("moved_mass", "-")):
        _experiments(ax, distance[distance["measure"] == measure], "cells", dashes)
    ax.set(ylim=(0, 1.03), xlim=(0, None), xlabel="cells from the nearer place", ylabel="share of the change")


def _relative(ax: Axes, rows: pd.DataFrame, x: str) -> None:
    """Relative to the value at each member's smallest x."""
    rows = rows.dropna(subset=["value"])
    base = rows[rows[x] == rows[x].min()].set_index(["seed", "experiment"])["value"]
    keys = pd.MultiIndex.from_frame(rows[["seed", "experiment"]])
    _over(ax, rows.assign(value=rows["value"].to_numpy() / base.reindex(keys).to_numpy()), x)


def _kept(ax: Axes, kept: pd.DataFrame) -> None:
    for name, rows in kept.groupby("experiment"):
        line = EXPERIMENT_LINES[str(name)]
        ax.plot(rows["gain"], rows["kept"], line.marker, ms=4, color=line.colour, mec="white", mew=0.5)
    if kept.loc[kept["experiment"] == "3", "reach"].nunique() > 1:
        _name_reaches(ax, kept)
    ax.axhline(1, color=RULE, lw=0.8, zorder=0)
    ax.set(xlabel="near-response gain, high noise", ylabel="kept share")


def _name_reaches(ax: Axes, kept: pd.DataFrame) -> None:
    # Only members that are drawn: what never learned has no kept share, and no place in the mean.
    drawn = kept[(kept["experiment"] == "3") & kept["kept"].notna()]
    means = drawn.groupby(["trained", "reach"]).mean(numeric_only=True).reset_index()
    # By turns above and below their marks, since reaches that keep alike lie close together.
    for place, (_, row) in enumerate(means.sort_values("kept", ascending=False).iterrows()):
        ax.annotate(
            f"k={int(row['reach'])}", (row["gain"], row["kept"]), (5, -8 if place % 2 else 4),
            textcoords="offset points", fontsize=6, color=MUTED,
        )  # fmt: skip


def _composition(ax: Axes, table: pd.DataFrame) -> None:
    for measure, dashes in (("joint_share", "-"), ("composed_share", (0, (3, 1.5)))):
        _experiments(ax, table[table["measure"] == measure], "k", dashes, marked=True)
    ax.set(ylim=(0, 1.03), xlabel="conditions K", ylabel="share of conditions met")
