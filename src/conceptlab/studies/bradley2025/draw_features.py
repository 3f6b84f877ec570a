"""Drawing `features`."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from conceptlab import figures
from conceptlab.figures.style import INK, MUTED, RULE, ink_on
from conceptlab.studies.study import Results, Tables

_KINDS = {
    "nothing": (MUTED, "o", "nothing"),
    "first": ("#0072B2", "s", "c₁"),
    "second": ("#228833", "^", "c₂"),
    "both": (INK, "o", "c₁ and c₂"),
    "composed": ("#D55E00", "o", "composed"),
}


@figures.house()
def draw_features(results: Results, tables: Tables) -> Picture:
    page = figures.figure(columns=2, height=7.6)
    grid = page.add_gridspec(4, 3, height_ratios=(0.8, 1.1, 1.1, 0.85))
    top = page.add_subplot(grid[0, :])
    figures.panel(top, "a", "Light and content: mean images")
    _pictures(top, tables["pictures"])
    below = np.array([[page.add_subplot(grid[row, column]) for column in range(3)] for row in (1, 2)])
    for place, (letter, space) in enumerate(zip("bc", ("pixels", "features"))):
        chosen = tables["scores"]["space"] == space
        score = tables["scores"].loc[chosen, "orthogonality"].mean()
        figures.panel(below[0, place], letter, f"In {space}: {score:.2f}")
        _cosines(below[0, place], tables["cosines"][tables["cosines"]["space"] == space])
    figures.panel(below[0, 2], "d", "Error of adding")
    _errors(below[0, 2], tables["scores"])
    points = tables["points"]
    figures.panel(below[1, 0], "e", "Orthogonal d₁, d₂ …")
    _scatter(below[1, 0], points, ("nothing", "first", "second"), arrows=True)
    figures.panel(below[1, 1], "f", "… yet not composing")
    _scatter(below[1, 1], points[points.groupby("kind").cumcount() < 150], ("composed", "both"))
    figures.panel(below[1, 2], "g", "With a CPC twin")
    _twins(below[1, 2], tables["counterexample"])
    learned = page.add_subplot(grid[3, :])
    figures.panel(learned, "h", "Colour and size in a denoiser that learns them")
    _learned(learned, tables["learned"])
    cases = tables["scores"]["seed"].nunique()
    figures.caption(
        page,
        f"a–d: {cases} seeds of the images. b, c: cosines of the directions $d_i$ and, above, the orthogonality score "
        "1 - mean |cos|, means over seeds. d: root mean square error of the mean image under all conditions, relative "
        f"to assuming none. e–g: {tables['counterexample']['seed'].nunique()} random pairs of conditions whose means "
        "are orthogonal; c₁ also splits the axis of c₂. Points in d and g: single seeds and pairs. h: cosine of the "
        "directions of colour and size, from images of three classes, at the bottleneck of one network that ships "
        "with the package; numbers: noise levels, -log SNR.",
    )
    return page


def _pictures(ax: Axes, table: pd.DataFrame) -> None:
    names = list(dict.fromkeys(table["name"]))
    side = int(table["row"].max()) + 1
    images = np.stack(
        [table.loc[table["name"] == name, "value"].to_numpy().reshape(3, side, side) for name in names]
    )
    eight_bits = np.rint(255 * images.clip(0, 1)).astype(np.uint8)
    figures.strip(ax, eight_bits[None], [""], [name.replace(" ", "\n", 1) for name in names], xlabel="")


def _cosines(ax: Axes, table: pd.DataFrame) -> None:
    names = list(dict.fromkeys(table["first"]))
    square = table.pivot_table(index="first", columns="second", values="cosine").loc[names, names].to_numpy()
    ax.imshow(square, cmap="RdBu_r", vmin=-1, vmax=1, interpolation="nearest")
    for i, row in enumerate(square):
        for j, value in enumerate(row):
            shade = "#b2182b" if abs(value) > 0.75 else "white"
            ax.text(
                j,
                i,
                f"{abs(value) if abs(value) < 0.005 else value:.2f}",
                ha="center",
                va="center",
                fontsize=6.8,
                color=ink_on(shade),
            )
    labels = [name.replace(" ", "\n") for name in names]
    ax.set_xticks(range(len(names)), labels, fontsize=6.2)
    ax.set_yticks(range(len(names)), labels, fontsize=6.2)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def _errors(ax: Axes, scores: pd.DataFrame) -> None:
    for place, space in enumerate(("pixels", "features")):
        values = scores.loc[scores["space"] == space, "error"].to_numpy()
        ax.bar(place, values.mean(), width=0.55, color=("#8a8f98", "#228833")[place])
        ax.plot(np.full(len(values), place), values, "o", ms=2.5, color=INK, alpha=0.5, mew=0)
    ax.set_xticks((0, 1), ("in pixels", "in features"))
    ax.set(ylabel="relative error", ylim=(0, None))


def _scatter(ax: Axes, points: pd.DataFrame, kinds: tuple[str, ...], arrows: bool = False) -> None:
    for kind in kinds:
        colour, marker, name = _KINDS[kind]
        rows = points[points["kind"] == kind]
        if kind == "both":  # the truth as rings, so that neither hides the other
            ax.scatter(rows["x"], rows["y"], s=8, marker=marker, lw=0.5, alpha=0.8, fc="none", ec=colour)
            ax.plot([], [], marker, ms=4, mfc="none", mec=colour, mew=0.7, label=name)
            continue
        ax.scatter(rows["x"], rows["y"], s=4, marker=marker, lw=0, alpha=0.4, color=colour)
        ax.plot([], [], marker, ms=4, color=colour, label=name)
    if arrows:
        base = points.loc[points["kind"] == "nothing", ["x", "y"]].mean().to_numpy()
        for kind in ("first", "second"):
            end = points.loc[points["kind"] == kind, ["x", "y"]].mean().to_numpy()
            ax.annotate(
                "",
                end,
                base,
                arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 1.4, "shrinkA": 0},
                zorder=5,
            )
    every = points[["x", "y"]].to_numpy()
    middle, half = (every.max(0) + every.min(0)) / 2, 0.55 * np.ptp(every, axis=0).max()
    ax.set(xlim=(middle[0] - half, middle[0] + half), ylim=(middle[1] - half, middle[1] + half))
    ax.set_aspect("equal")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set(xlabel="$x_1$", ylabel="$x_2$")
    ax.spines[:].set_visible(True)
    ax.spines[:].set_color(RULE)
    ax.legend(loc="best", handlelength=0.6, labelspacing=0.3, labelcolor=MUTED)


def _learned(ax: Axes, table: pd.DataFrame) -> None:
    """The cosine of two directions at the bottleneck over training, a line for each noise level; dashed in pixels."""
    (still,) = table.loc[table["space"] == "pixels", "cosine"]
    inside = table[table["space"] == "bottleneck"]
    levels, lines = sorted(inside["level"].unique()), []
    ax.axhline(0, color=RULE, lw=0.7, zorder=0)
    ax.axhline(still, color=MUTED, lw=0.9, ls=(0, (3, 2)), zorder=1)
    ax.set_ylim(*_around(table["cosine"].to_numpy()))
    for place, (level, marker) in enumerate(zip(levels, "osD")):
        colour = figures.setting_colour(place, 0, max(1, len(levels) - 1))
        line = figures.Line(colour, f"bottleneck, {level:g}", marker)
        lines.append((inside[inside["level"] == level], line))
    ends = figures.bands(ax, lines, y="cosine")
    figures.name_ends(ax, [*ends, (float(still), figures.Line(MUTED, "pixels"))])
    ax.set(xlabel="training step", ylabel="cosine")


def _around(values: np.ndarray) -> tuple[float, float]:
    """Limits that hold the values and zero, with some room."""
    low, high = min(0.0, values.min()), max(0.0, values.max())
    return low - 0.1 * (high - low), high + 0.1 * (high - low)


def _twins(ax: Axes, table: pd.DataFrame) -> None:
    for place, (name, colour) in enumerate((("composing", "#228833"), ("entangled", "#D55E00"))):
        values = table[f"distance_{name}"].to_numpy()
        ax.plot(np.full(len(values), place), values, "o", ms=3, color=colour, alpha=0.6, mew=0)
        ax.plot([place - 0.2, place + 0.2], [values.mean()] * 2, color=INK, lw=1.4)
    ax.axhline(0, color=RULE, lw=0.7, zorder=0)
    ax.set_xlim(-0.6, 1.6)
    ax.set_xticks((0, 1), ("CPC", "entangled"))
    ax.set_ylabel("energy distance")
