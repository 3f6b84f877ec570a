"""Curves over training with bands over seeds.

Every function takes a tidy table (`seed`, `step`, `class`, `distance`, `variable`, `measure`, `value`) and axes. Rows
of one seed are averaged first, then seeds: the seed is the unit, whatever number of classes a line stands for.
"""

from __future__ import annotations

import textwrap
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.transforms import ScaledTranslation

from conceptlab.claims import group_times
from conceptlab.errors import InputError
from conceptlab.figures import style

_OWN_WAY = 0.1
"""A class further than this from the mean of its distance is told by its code; what ends this close shares a label."""
_CODES = 14
"""Letters in a line of codes."""


@dataclass(frozen=True)
class Line:
    """How one line looks and what it is called."""

    colour: str | tuple[float, float, float]
    label: str = ""
    marker: str = "o"
    dashes: str | tuple[float, tuple[float, ...]] = "-"


End = tuple[float, Line]
"""Where a line ends, by which `name_ends` places its name."""


def over_seeds(table: pd.DataFrame, x: str = "step", y: str = "value") -> pd.DataFrame:
    """Mean, standard deviation (n - 1) and number of seeds at each x; NaN values are left out."""
    missing = {x, y, "seed"} - set(table.columns)
    if missing:
        raise InputError(f"curve: the table has no column '{min(missing)}'; it has {list(table.columns)}")
    seeds = table.dropna(subset=[y]).groupby([x, "seed"])[y].mean()
    return seeds.groupby(level=0).agg(["mean", "std", "count"]).reset_index()


def band(ax: Axes, table: pd.DataFrame, look: Line, x: str = "step", y: str = "value") -> pd.DataFrame:
    """The mean over seeds with a band of ± 1 standard deviation; where there is one seed there is no band."""
    found = over_seeds(table, x, y)
    line = found[[x, "mean"]].to_numpy(dtype=float)
    # Markers on a dense curve are noise; on a sparse one they show where was measured.
    marker = look.marker if len(found) <= 24 else None
    ax.plot(
        line[:, 0], line[:, 1], color=look.colour, ls=look.dashes, marker=marker, ms=3, mec="white", mew=0.5
    )
    spread = found["std"].to_numpy(dtype=float)
    if np.isfinite(spread).any():
        low, high = line[:, 1] - spread, line[:, 1] + spread
        ax.fill_between(line[:, 0], low, high, color=look.colour, alpha=0.18, lw=0)
    return found


def bands(
    ax: Axes, lines: Iterable[tuple[pd.DataFrame, Line]], x: str = "step", y: str = "value"
) -> list[End]:
    """A band for each table, and where those that have any rows end."""
    found = [(band(ax, rows, line, x, y), line) for rows, line in lines]
    return [(float(means["mean"].iloc[-1]), line) for means, line in found if len(means)]


def name_ends(ax: Axes, ends: Sequence[End]) -> None:
    """The lines' names beside their right ends, moved apart where ends are close: no legend, nothing covered."""
    named = sorted(((y, line) for y, line in ends if line.label and np.isfinite(y)), key=lambda end: end[0])
    if not named:
        return
    # Room for a line of text, as a share of the axes' height.
    size = 6.8
    height = ax.get_position().height * ax.figure.get_figure(root=True).get_figheight() * 72  # pyright: ignore
    room = 1.35 * size / max(height, 30.0)
    # The axes become lower when the page is laid out, which names of several lines would feel.
    rooms = [
        room * (1.2 * lines if lines > 1 else 1)
        for lines in (line.label.count("\n") + 1 for _, line in named)
    ]
    low, high = ax.get_ylim()
    wanted = [(y - low) / (high - low) for y, _ in named]
    beside = ax.transAxes + ScaledTranslation(5 / 72, 0, ax.figure.dpi_scale_trans)
    for place, (_, line) in zip(_apart(wanted, rooms), named):
        ax.text(
            1, place, line.label, transform=beside, color=legible(line.colour), fontsize=size, va="center",
            linespacing=1.0,
        )  # fmt: skip


def _apart(wanted: Sequence[float], rooms: Sequence[float]) -> list[float]:
    """Rising places, each with its room, as near to the wanted ones as one pass up and one down bring them."""
    placed = list(wanted)
    gaps = [0.0, *((before + own) / 2 for before, own in pairwise(rooms))]
    for i in range(1, len(placed)):
        placed[i] = max(placed[i], placed[i - 1] + gaps[i])
    excess = placed[-1] - max(1.0, wanted[-1])
    if excess > 0:
        placed[-1] -= excess
        for i in range(len(placed) - 2, -1, -1):
            placed[i] = min(placed[i], placed[i + 1] - gaps[i + 1])
    return placed


def legible(colour: str | tuple[float, float, float]) -> tuple[float, float, float]:
    """A colour darkened until text in it reads on white (contrast of at least 4.5 : 1)."""
    red, green, blue = to_rgb(colour)
    while 1.05 / (style.luminance((red, green, blue)) + 0.05) < 4.5:
        red, green, blue = 0.95 * red, 0.95 * green, 0.95 * blue
    return red, green, blue


def select(curves: pd.DataFrame, measure: str, variable: str = "", cls: str | None = None) -> pd.DataFrame:
    """Rows of one measure of the raw weights, of one class if one is named."""
    chosen = (curves["measure"] == measure) & (curves["variable"] == variable)
    if "weights" in curves.columns:
        chosen &= curves["weights"] == "raw"
    if cls is not None:
        chosen &= curves["class"] == cls
    return curves[chosen]


def accuracy_axes(ax: Axes, ylabel: str = "accuracy") -> None:
    """Accuracies share one range, so that panels compare; a little room keeps 0 and 1 off the frame."""
    ax.set_ylim(-0.03, 1.03)
    ax.set_yticks(np.linspace(0, 1, 6))
    ax.set(ylabel=ylabel, xlabel="training step")


def veil(ax: Axes, until: float) -> None:
    """Pale the curves before a step, but no marks: until a model draws, a judge takes noise for some class."""
    left, right = ax.get_xlim()
    # Over lines, under the frame.
    ax.axvspan(left, min(right, until), color="white", alpha=0.72, lw=0, zorder=2.4)
    ax.set_xlim(left, right)


def accuracy_by_distance(ax: Axes, curves: pd.DataFrame, measure: str = "accuracy") -> None:
    """Joint accuracy (okawa2023 Eq. 2) of the classes at each distance from training: their mean as a band, behind it a
    thin line for each, with its code where it goes a way of its own. Another measure is named on the axis."""
    accuracy_axes(ax, measure if measure == "accuracy" else f"accuracy, {measure}")
    ends: list[End] = []
    for distance, rows in select(curves, measure).dropna(subset=["distance"]).groupby("distance"):
        line = distance_line(distance)
        ends += _class_lines(ax, rows, line)
        ends += bands(ax, [(rows, line)])
    name_ends(ax, ends)


def _class_lines(ax: Axes, rows: pd.DataFrame, look: Line) -> list[End]:
    """A thin line for each class, mean over seeds; the ends that want a code. Where all end together, the class that
    went furthest from the others on the way has its code there, on its line."""
    wide = rows.groupby(["step", "class"])["value"].mean().unstack()
    if wide.shape[1] < 2:
        return []
    mean = wide.mean(axis=1)
    # Three evaluations in a row, and not while the judge takes noise for some class.
    apart = wide.sub(mean, axis=0).abs().where(mean >= 0.5, 0.0, axis=0).rolling(3, center=True).min()
    groups: dict[int, dict[str, float]] = {}
    for cls in wide.columns:
        ax.plot(wide.index, wide[cls], color=look.colour, lw=0.6, alpha=0.65, zorder=1.5)
        end = float(wide[cls].iloc[-1])
        if abs(end - mean.iloc[-1]) > _OWN_WAY:
            groups.setdefault(round(end / _OWN_WAY), {})[str(cls)] = end
    furthest = apart.max()
    if not groups and furthest.max() > _OWN_WAY:
        cls = furthest.idxmax()
        step = wide.index[int(np.nanargmax(apart[cls].to_numpy(dtype=float)))]
        ax.annotate(
            str(cls), (float(str(step)), float(wide[cls][step])), (2, -2), textcoords="offset points",
            fontsize=5.8, color=legible(look.colour), va="top",
        )  # fmt: skip
    return [
        (float(np.mean(list(ends.values()))), replace(look, label=_codes(list(ends))))
        for ends in groups.values()
    ]


def _codes(classes: Sequence[str]) -> str:
    """Codes in short lines; of many only how many they are."""
    text = textwrap.fill(" ".join(classes), _CODES)
    return text if text.count("\n") < 3 else f"{len(classes)} classes"


def distance_line(distance: Hashable) -> Line:
    """How classes at a distance look; a column of distances with gaps is one of floating point numbers."""
    number = int(float(str(distance)))
    return Line(style.distance_colour(number), style.distance_name(number), style.distance_marker(number))


def emergence_marks(ax: Axes, times: pd.DataFrame, threshold: float, first: float) -> list[Hashable]:
    """On the threshold, for each distance the median over seeds of the emergence time, with its range; the distances
    that have one.

    A seed's time is the geometric mean over classes, as the claims take it. Where half the seeds or more never
    reach the threshold there is no median, and no mark.
    """
    ax.axhline(threshold, color=style.MUTED, lw=0.7, ls=(0, (2, 2)), zorder=1)
    last = float(times["last"].max()) if len(times) else first
    marked: list[Hashable] = []
    if first >= last:
        return marked
    for distance, group in group_times(times, by="distance", first=first, last=last).items():
        median = float(np.median(group.high))
        if not np.isfinite(median):
            continue
        line = distance_line(distance)
        reached = np.isfinite(group.high)
        ends = [float(group.low[reached].min()), last if not reached.all() else float(group.high.max())]
        ax.plot(ends, [threshold] * 2, color=line.colour, lw=1.2, solid_capstyle="butt", zorder=3)
        ax.plot(
            median,
            threshold,
            line.marker,
            color=line.colour,
            ms=6.5,
            mec="white",
            mew=0.9,
            zorder=4,
            clip_on=False,
        )
        marked.append(distance)
    return marked


def additive_or_multiplicative(ax: Axes, curves: pd.DataFrame, cls: str) -> None:
    """What single accuracies predict for a class, and what it does (okawa2023, Sec. 4.1).

    Were the variables drawn independently, the joint accuracy would be the product of the single accuracies;
    their mean is the additive picture, in which nothing emerges suddenly.
    """
    accuracy_axes(ax, f"accuracy of {cls}")
    measured, additive = select(curves, "accuracy", cls=cls), select(curves, "additive", cls=cls)
    looks = [
        (additive, Line("#8a8f98", "mean", "s", (0, (1, 1.2)))),
        (
            product_of_variables(curves, cls),
            Line("#56B4E9", "product of\nthe single\naccuracies", "^", (0, (4, 1.5))),
        ),
        (measured, Line(style.INK, "all right\n(Eq. 2)", "o")),
    ]
    name_ends(ax, bands(ax, looks))


def product_of_variables(curves: pd.DataFrame, cls: str) -> pd.DataFrame:
    """The product over variables of a class's single accuracies, for each seed and step."""
    single = curves[(curves["measure"] == "accuracy") & (curves["variable"] != "") & (curves["class"] == cls)]
    if "weights" in single.columns:
        single = single[single["weights"] == "raw"]
    return single.groupby(["seed", "step"])["value"].prod(min_count=1).reset_index()


def accuracy_per_variable(ax: Axes, curves: pd.DataFrame, cls: str, names: Sequence[str]) -> None:
    """How well each variable of a class is drawn, by itself."""
    accuracy_axes(ax, "accuracy of the variable")
    colours: Mapping[str, str] = style.variable_colours(names)
    lines = [
        (select(curves, "accuracy", name, cls), Line(colours[name], style.plain(name, most=20)))
        for name in names
    ]
    name_ends(ax, bands(ax, lines))
