"""Figure `length`: what experiments 1, 2 and 3 draw when asked for more objects than they have seen."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from conceptlab import figures
from conceptlab.measures.length import KEPT
from conceptlab.studies.bradley2025.claims import LENGTH
from conceptlab.studies.bradley2025.drawing import (
    EXPERIMENT_LINES,
    TRUTH,
    chosen,
    k_axis,
    pictures,
    share_lines,
    trained_text,
    unnamed,
    value_lines,
)
from conceptlab.studies.bradley2025.recipes import experiments
from conceptlab.studies.bradley2025.settings import EXPERIMENTS, SIZES, TRAINED_SEEDS
from conceptlab.studies.bradley2025.tables import first_member, length_tables
from conceptlab.studies.study import Figure, Results, Tables
from conceptlab.worlds import ObjectWorld


@figures.house()
def draw_length(results: Results, tables: Tables) -> Picture:
    """(a) the share of conditions met and (b) objects found against K, a column for each training range; (c) what
    was drawn for one layout of each K."""
    curves, summary = tables["curves"], tables["summary"]
    ranges = sorted(int(value) for value in curves["trained"].unique())
    most = int(curves["k"].max())
    page = figures.figure(columns=2, height=7.4)
    grid = page.add_gridspec(3, len(ranges), height_ratios=(1, 1, 1.75))
    upper, lower = None, None
    for column, trained in enumerate(ranges):
        rows = curves[curves["trained"] == trained]
        named = column == len(ranges) - 1
        looks = {name: line if named else unnamed(line) for name, line in EXPERIMENT_LINES.items()}
        upper = page.add_subplot(grid[0, column], sharey=upper)
        lower = page.add_subplot(grid[1, column], sharey=lower)
        figures.panel(upper, "" if column else "a", trained_text(trained).capitalize())
        share_lines(upper, rows, looks, "experiment")
        _k_max(upper, summary[summary["trained"] == trained])
        k_axis(upper, most, trained)
        k_axis(lower, most, trained)
        _objects(lower, rows, most, named)
        upper.set_xlabel("")
        if column:
            upper.set_ylabel("")
            lower.set_ylabel("")
        else:
            figures.panel(lower, "b", "")
    _samples(page.add_subplot(grid[2, :]), results, most)
    seeds = figures.seeds_text(curves["seed"].nunique())
    figures.caption(
        page,
        f"{seeds}. Grey: numbers of objects in training. (a) Dashed: share met under the conditions of other images; "
        f"triangles: K_max, up to which at least {KEPT:.0%} of the share at the most conditions in training is kept. "
        "(b) Grey line: as many objects as conditions. (c) First seed. Trained on one object, "
        "experiments 1 and 2 are the same.",
    )
    return page


def _k_max(ax: Axes, summary: pd.DataFrame) -> None:
    """K_max of each experiment as a mark on the axis, one above the other; the mean over seeds."""
    for line, (name, rows) in enumerate(summary.groupby("experiment", sort=True)):
        look, height = EXPERIMENT_LINES[str(name)], 0.03 + 0.055 * (len(EXPERIMENTS) - 1 - line)
        place = {"transform": ax.get_xaxis_transform(), "clip_on": False, "zorder": 4}
        ax.plot(rows["k_max"].mean(), height, "<", ms=4.2, color=look.colour, mec="white", mew=0.5, **place)


def _objects(ax: Axes, curves: pd.DataFrame, most: int, named: bool) -> None:
    ax.plot([0, most], [0, most], color=TRUTH, lw=0.8, zorder=1)
    value_lines(ax, chosen(curves, "objects"), EXPERIMENT_LINES, "experiment", named=named)
    ax.set_ylim(bottom=0)
    ax.set_ylabel("objects found")


def _samples(ax: Axes, results: Results, most: int) -> None:
    trained = SIZES[results.scale].sweep_trained
    counts = sorted({round(k) for k in np.linspace(1, most, 8)} | {trained})[-8:]
    members = {name: first_member(results, name, trained) for name in EXPERIMENTS}
    drawn = {name: member for name, member in members.items() if member is not None and member.sample_steps}
    if not drawn:
        ax.axis("off")
        return
    figures.panel(ax, "c", f"What is drawn, trained on 1–{trained} objects")
    sheet = np.concatenate([pictures(member, counts) for member in drawn.values()])
    rows = ["asked for", *(f"experiment {name}" for name in drawn)]
    figures.strip(
        ax, np.concatenate([_paper(sheet), sheet]), rows, [str(k) for k in counts], xlabel="conditions K"
    )
    world = next(iter(drawn.values())).world
    assert isinstance(world, ObjectWorld)
    mark_conditions(ax, world, counts)


def _paper(sheet: np.ndarray) -> np.ndarray:
    """A row of empty tiles, for what was asked for: drawn over the pictures it would hide what it asks for."""
    return np.full_like(sheet[:1], 238 if sheet.dtype == np.uint8 else 238 / 255)


def mark_conditions(ax: Axes, world: ObjectWorld, counts: list[int]) -> None:
    """A ring in the middle of every cell that an object was asked for in, on the first row of a strip."""
    side, gap = world.resolution, max(1, round(world.resolution / 16))
    for column, k in enumerate(counts):
        cells = world.cell_of(world.layouts(k, 1, seed=0)[1][0])
        x = column * (side + gap) + (cells[:, 0] + 0.5) * world.cell - 0.5
        y = (cells[:, 1] + 0.5) * world.cell - 0.5
        ax.plot(x, y, "o", ms=3.6, mfc="none", mec="#D55E00", mew=0.9)


FIGURES = (
    Figure(
        id="length",
        title="Length generalisation",
        shows="share of conditions met, objects found and pictures, for up to twelve conditions, in experiments 1, 2 "
        "and 3 by training range",
        tables=length_tables,
        draw=draw_length,
        recipes=experiments,
        claims=LENGTH,
        seeds=TRAINED_SEEDS,
    ),
)
