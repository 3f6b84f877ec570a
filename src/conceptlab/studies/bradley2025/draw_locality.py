"""Drawing `locality`."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure as Picture

from conceptlab import figures
from conceptlab.figures.style import INK, MUTED, RULE
from conceptlab.studies.bradley2025.drawing import EXPERIMENT_LINES
from conceptlab.studies.bradley2025.settings import SIZES, Size
from conceptlab.studies.bradley2025.tables import WHOLE
from conceptlab.studies.study import Results, Tables

_FLOOR = 1e-4


@figures.house()
def draw_locality(results: Results, tables: Tables) -> Picture:
    size = SIZES[results.scale]
    page = figures.figure(columns=2, height=8.2)
    halves = page.add_gridspec(2, 1, height_ratios=(1, 1.45))
    heat, curves = page.add_subfigure(halves[0]).subplots(2, 6), page.add_subfigure(halves[1]).subplots(2, 3)
    levels = sorted(tables["levels"]["level"].unique())
    maps = tables["maps"]
    for row, (measure, letter, title) in enumerate(
        (("pixel_map", "a", "Pixels it depends on"), ("removed_map", "b", "Condition removed"))
    ):
        for column, (end, name) in enumerate((name, e) for name in ("low", "high") for e in EXPERIMENT_LINES):
            level = levels[0] if end == "low" else levels[-1]
            ax = heat[row, column]
            chosen = (maps["measure"] == measure) & (maps["level"] == level) & (maps["experiment"] == name)
            _heat(ax, maps[chosen], f"exp. {name}, {end} noise")
            if column == 0:
                figures.panel(ax, letter, title)
    main = {name: _main(tables[name], size) for name in ("levels", "near", "composition")}
    scalars = (
        ("condition_share", "c", "Decided by conditions", "share of the estimate"),
        ("pixel_reach", "d", "Pixel reach", "of a global average"),
        ("near_gain", "e", "Near-response gain", "change at most K / at 1"),
    )
    for place, (measure, letter, title, label) in enumerate(scalars):
        ax = curves[0, place]
        figures.panel(ax, letter, title)
        _over(ax, main["levels"][main["levels"]["measure"] == measure], "level", legend=place == 0)
        ax.set_xlabel("noise level, -log SNR")
        ax.set_ylabel(label)
    figures.panel(curves[1, 0], "f", "Near change by K")
    _near(curves[1, 0], main["near"], levels[-1])
    figures.panel(curves[1, 1], "g", "Gain and generalisation")
    _kept(curves[1, 1], tables["kept"])
    figures.panel(curves[1, 2], "h", "Composed scores")
    _composition(curves[1, 2], main["composition"])
    figures.caption(
        page,
        f"Trained on 1–{size.sweep_trained} objects (g: all ranges and reaches); "
        f"{figures.seeds_text(len(results.seeds))}. a: mean squared response of the estimate at the middle to each "
        f"pixel; b: change of the estimate when the condition at the middle is taken away; both relative to their "
        f"largest, means over seeds, at -log SNR {levels[0]:g} and {levels[-1]:g}. f: at {levels[-1]:g}, relative to "
        "K = 1. h: dashed, sampled by composed scores of single conditions; solid, jointly.",
    )
    return page


def _main(table: pd.DataFrame, size: Size) -> pd.DataFrame:
    return table[(table["trained"] == size.sweep_trained) & table["reach"].isin((WHOLE, size.reach))]


def _heat(ax: Axes, table: pd.DataFrame, title: str) -> None:
    ax.set_xlabel(title, fontsize=6.5)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_color(RULE)
    ax.spines[:].set_visible(True)
    if table.empty:
        return
    square = table.pivot_table(index="first", columns="second", values="value").to_numpy()
    ax.imshow(np.clip(square, _FLOOR, None), cmap="magma_r", norm=LogNorm(_FLOOR, 1), interpolation="nearest")


def _over(ax: Axes, table: pd.DataFrame, x: str, *, legend: bool) -> None:
    for name, line in EXPERIMENT_LINES.items():
        figures.band(ax, table[table["experiment"] == name], line, x=x)
        ax.plot([], [], color=line.colour, marker=line.marker, ms=3, label=line.label)
    ax.set_ylim(bottom=0)
    if legend:
        ax.legend(loc="upper left", handlelength=1.3, labelspacing=0.25, labelcolor=MUTED, fontsize=6.3)


def _near(ax: Axes, near: pd.DataFrame, level: float) -> None:
    rows = near[near["level"] == level]
    base = rows[rows["asked"] == rows["asked"].min()].set_index(["seed", "experiment"])["value"]
    keys = pd.MultiIndex.from_frame(rows[["seed", "experiment"]])
    _over(
        ax, rows.assign(value=rows["value"].to_numpy() / base.reindex(keys).to_numpy()), "asked", legend=False
    )
    ax.axhline(1, color=RULE, lw=0.8, zorder=0)
    ax.set_xlabel("conditions K")
    ax.set_ylabel("change near a moved condition")


def _kept(ax: Axes, kept: pd.DataFrame) -> None:
    for name, rows in kept.groupby("experiment"):
        line = EXPERIMENT_LINES[str(name)]
        ax.plot(rows["gain"], rows["kept"], line.marker, ms=4, color=line.colour, mec="white", mew=0.5)
    for _, row in (
        kept[kept["experiment"] == "3"].groupby("reach").mean(numeric_only=True).reset_index().iterrows()
    ):
        ax.annotate(
            f"k={int(row['reach'])}", (row["gain"], row["kept"]), (3, 3), textcoords="offset points",
            fontsize=6, color=MUTED,
        )  # fmt: skip
    ax.axhline(1, color=RULE, lw=0.8, zorder=0)
    ax.set_xlabel("near-response gain, high noise")
    ax.set_ylabel("kept share of conditions met")


def _composition(ax: Axes, table: pd.DataFrame) -> None:
    for measure, dashes in (("joint_share", "-"), ("composed_share", (0, (3, 1.5)))):
        for name, line in EXPERIMENT_LINES.items():
            rows = table[(table["measure"] == measure) & (table["experiment"] == name)]
            figures.band(ax, rows, figures.Line(line.colour, marker=line.marker, dashes=dashes), x="k")
    ax.plot([], [], color=INK, label="joint")
    ax.plot([], [], color=INK, ls=(0, (3, 1.5)), label="composed")
    ax.set_ylim(0, 1.03)
    ax.set_xlabel("conditions K")
    ax.set_ylabel("share of conditions met")
    ax.legend(loc="lower left", handlelength=1.6, labelspacing=0.25, labelcolor=MUTED, fontsize=6.3)
