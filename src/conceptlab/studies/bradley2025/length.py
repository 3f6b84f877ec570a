"""Figure `length`: what experiments 1, 2 and 3 draw when asked for more objects than they have seen."""

from __future__ import annotations

import math
from collections.abc import Callable

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

K_MAX = r"$K_\mathrm{max}$"


@figures.house()
def draw_length(results: Results, tables: Tables) -> Picture:
    """(a) the share of conditions met and (b) objects found against K, a column for each training range; for one of
    them (c) exact counts, (d) objects nobody asked for, (e) precision and (f) what was drawn for one layout of each
    K."""
    curves, summary = tables["curves"], tables["summary"]
    ranges = sorted(int(value) for value in curves["trained"].unique())
    most, shown = int(curves["k"].max()), SIZES[results.scale].sweep_trained
    page = figures.figure(columns=2, height=9.2)
    places = math.lcm(3, len(ranges))
    grid = page.add_gridspec(4, places, height_ratios=(1, 1, 1, 1.85))
    upper, lower = None, None
    for column, trained in enumerate(ranges):
        rows = curves[curves["trained"] == trained]
        named = column == len(ranges) - 1
        looks = {name: line if named else unnamed(line) for name, line in EXPERIMENT_LINES.items()}
        wide = _part(column, len(ranges), places)
        upper = page.add_subplot(grid[0, wide], sharey=upper)
        lower = page.add_subplot(grid[1, wide], sharey=lower)
        figures.panel(upper, "" if column else "a", trained_text(trained).capitalize())
        share_lines(upper, rows, looks, "experiment")
        _k_max(upper, rows, summary[summary["trained"] == trained])
        k_axis(upper, most, trained)
        k_axis(lower, most, trained)
        _objects(lower, rows, most, named)
        upper.set_xlabel("")
        if column:
            upper.set_ylabel("")
            lower.set_ylabel("")
        else:
            figures.panel(lower, "b", "Objects found")
    rows = curves[curves["trained"] == shown]
    for column, (letter, draw) in enumerate(zip("cde", (_exact, _spurious, _precision))):
        ax = page.add_subplot(grid[2, _part(column, 3, places)])
        draw(ax, rows, letter)
        k_axis(ax, most, shown)
    _samples(page.add_subplot(grid[3, :]), results, most)
    seeds = figures.seeds_text(curves["seed"].nunique())
    figures.caption(
        page,
        f"{seeds}. Grey: numbers of objects in training. (a) Dotted: share met under the conditions of other images; "
        f"triangles: {K_MAX}, up to which at least {KEPT:.0%} of the share at the most conditions in training is kept, "
        "mean over seeds; ≥ where a seed keeps all that is asked for. (b) Grey line: as many objects as conditions. "
        f"(c–f) {trained_text(shown).capitalize()}. (c) Grey line: the detector on real images. (d) Objects that meet "
        "no condition. Open marks: expected from training images, which in experiments 2 and 3 hold objects nobody "
        "labelled: there a right model does not count exactly. (f) First seed. Trained on one object, experiments 1 "
        "and 2 are the same.",
    )
    return page


def _part(column: int, columns: int, places: int) -> slice:
    """The places of a grid that one of several equal columns covers."""
    width = places // columns
    return slice(column * width, (column + 1) * width)


def _k_max(ax: Axes, curves: pd.DataFrame, summary: pd.DataFrame) -> None:
    """K_max of each experiment, the mean over seeds, as a mark near the axis below its place on the curve, one above
    the other. Where a seed reaches the most conditions asked for, the mean is a lower bound."""
    for line, (name, rows) in enumerate(summary.groupby("experiment", sort=True)):
        look, height = EXPERIMENT_LINES[str(name)], 0.04 + 0.07 * (len(EXPERIMENTS) - 1 - line)
        at = float(rows["k_max"].mean())
        shares = figures.over_seeds(chosen(curves, "share_met", experiment=name), x="k")
        if at >= 1:
            on_curve = float(np.interp(at, shares["k"], shares["mean"]))
            ax.plot([at, at], [ax.get_ylim()[0], on_curve], color=look.colour, lw=0.6, alpha=0.7, zorder=1)
        ax.plot(at, height, "v", ms=4.4, color=look.colour, mec="white", mew=0.5, clip_on=False, zorder=4)
        if (rows["k_max"] >= rows["most"]).any():
            ax.annotate(
                f"≥ {at:.3g}", (at, height), (-5, 0), textcoords="offset points", ha="right", va="center",
                fontsize=6.5, color=look.colour,
            )  # fmt: skip


def _exact(ax: Axes, curves: pd.DataFrame, letter: str) -> None:
    """How often there are exactly K objects: what experiment 1 should do, and not 2 and 3."""
    figures.panel(ax, letter, "Counted exactly")
    real = figures.over_seeds(chosen(curves, "detector_exact_count"), x="k")
    ax.plot(real["k"], real["mean"], color=TRUTH, lw=0.8, zorder=1)
    value_lines(ax, chosen(curves, "exact_count"), EXPERIMENT_LINES, "experiment", named=False)
    ax.set(ylim=(-0.03, 1.05), ylabel="share of images")


def _spurious(ax: Axes, curves: pd.DataFrame, letter: str) -> None:
    figures.panel(ax, letter, "Spurious objects")
    value_lines(ax, chosen(curves, "spurious"), EXPERIMENT_LINES, "experiment", named=False)
    _expected(ax, curves, lambda rows: rows["value"])
    ax.set(ylim=(min(-0.05, ax.get_ylim()[0]), None), ylabel="objects an image")


def _precision(ax: Axes, curves: pd.DataFrame, letter: str) -> None:
    figures.panel(ax, letter, "Precision")
    ax.set_ylim(-0.03, 1.05)
    value_lines(ax, chosen(curves, "precision"), EXPERIMENT_LINES, "experiment", named=True)
    # All K are met, and beside them there are those that nobody labelled.
    _expected(ax, curves, lambda rows: rows["k"] / (rows["k"] + rows["value"]))
    ax.set_ylabel("of objects found")


def _expected(ax: Axes, curves: pd.DataFrame, value: Callable[[pd.DataFrame], pd.Series]) -> None:
    """What the training images of each experiment hold, as an open mark around where a right model would be."""
    for name, look in EXPERIMENT_LINES.items():
        rows = chosen(curves, "spurious_expected", experiment=name).drop_duplicates("k")
        ax.plot(
            rows["k"], value(rows), look.marker, ms=6.5, mfc="none", mec=look.colour, mew=0.8, zorder=5
        )  # fmt: skip


def _objects(ax: Axes, curves: pd.DataFrame, most: int, named: bool) -> None:
    ax.plot([0, most], [0, most], color=TRUTH, lw=0.8, zorder=1)
    ax.set_ylim(bottom=0)
    value_lines(ax, chosen(curves, "objects"), EXPERIMENT_LINES, "experiment", named=named)
    ax.set_yticks(range(0, most + 1, 1 if most <= 6 else 4))
    ax.set_ylabel("objects found")


def _samples(ax: Axes, results: Results, most: int) -> None:
    trained = SIZES[results.scale].sweep_trained
    counts = sorted({round(k) for k in np.linspace(1, most, 8)} | {trained})[-8:]
    members = {name: first_member(results, name, trained) for name in EXPERIMENTS}
    drawn = {name: member for name, member in members.items() if member is not None and member.sample_steps}
    if not drawn:
        ax.axis("off")
        return
    figures.panel(ax, "f", f"What is drawn, trained on 1–{trained} objects")
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
        shows="share of conditions met, objects found, exact counts, precision and pictures, for up to twelve "
        "conditions, in experiments 1, 2 and 3 by training range",
        tables=length_tables,
        draw=draw_length,
        recipes=experiments,
        claims=LENGTH,
        seeds=TRAINED_SEEDS,
    ),
)
