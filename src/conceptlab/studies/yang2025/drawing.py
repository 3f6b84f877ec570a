"""Drawings that several figures of yang2025 share: the plane of two concepts, paths through it, and losses."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.patheffects as effects
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from conceptlab import figures
from conceptlab.figures.style import INK, MUTED, RULE

Colour = str | tuple[float, float, float]
CONCEPTS: tuple[str, ...] = ("#228833", "#AA3377", "#CCBB44", "#4477AA")
"""One colour for each concept, and for its major entry."""
_LEAST = 1e-6  # a loss has a logarithm from here on
_THIN_PATHS = 12  # more seeds than this as single lines make a smear


def concept_plane(ax: Axes, mu: Sequence[float] | None, *, name: bool = True) -> None:
    """Axes of the first two concepts; with `mu`, the training centres (discs) and the composition (star)."""
    ax.set(xlabel="output along concept 1", ylabel="output along concept 2")
    ax.axhline(0, color=RULE, lw=0.6, zorder=0)
    ax.axvline(0, color=RULE, lw=0.6, zorder=0)
    if mu is None:
        return
    centres = np.diag(np.asarray(mu[:2], dtype=float))
    ax.scatter(*centres.T, s=26, color=figures.distance_colour(0), ec="white", lw=0.6, zorder=5)
    star(ax, mu)
    if name:
        ax.annotate("$x_b$", (mu[0], mu[1]), (4, 4), textcoords="offset points", fontsize=7)


def star(ax: Axes, mu: Sequence[float], colour: Colour = INK) -> None:
    """The composition x_b."""
    ax.plot(mu[0], mu[1], "*", ms=9, color=colour, mec="white", mew=0.6, zorder=6)


def path(ax: Axes, table: pd.DataFrame, colour: Colour, *, seeds: bool = True) -> None:
    """The mean path over seeds of columns x1, x2, its start as a ring; a few seeds also as thin lines."""
    if seeds:
        for number, (_, rows) in enumerate(table.groupby("seed", sort=True)):
            if number < _THIN_PATHS:
                ax.plot(rows["x1"], rows["x2"], color=colour, lw=0.5, alpha=0.35, zorder=2)
    mean = table.groupby("epoch")[["x1", "x2"]].mean().to_numpy(float)
    ax.plot(*mean.T, color=colour, lw=1.8, zorder=4, path_effects=outlined())
    ax.plot(*mean[0], "o", ms=3.5, mfc="white", mec=colour, mew=1.0, zorder=4)


def thin_text(seeds: int) -> str:
    """What the lines of `path` are, for a caption."""
    which = f"the first {_THIN_PATHS} seeds" if seeds > _THIN_PATHS else "single seeds"
    return f"thin lines: {which}; thick: mean of all"


def outlined() -> list[effects.AbstractPathEffect]:
    """A thin white edge: crossing paths stay apart."""
    return [effects.Stroke(linewidth=2.8, foreground="white"), effects.Normal()]


def label_at(
    ax: Axes, where: Sequence[float], text: str, colour: Colour, offset: tuple[int, int] = (4, -8)
) -> None:
    """A name beside a point, readable over lines."""
    ax.annotate(
        text,
        (float(where[0]), float(where[1])),
        offset,
        textcoords="offset points",
        color=colour,
        fontsize=6.8,
        zorder=7,
        path_effects=[effects.withStroke(linewidth=2, foreground="white")],
    )


def loss_axes(ax: Axes, ylabel: str, xlabel: str, floor: float = 1e-4) -> None:
    """A log axis that stops where a loss has nothing left to tell."""
    ax.set(yscale="log", ylim=(floor, None), xlabel=xlabel, ylabel=ylabel)


def log_band(ax: Axes, table: pd.DataFrame, x: str, y: str, look: figures.Line) -> None:
    """The median over seeds with the middle 80 % as band, both on a log scale.

    A loss spreads over decades between seeds: an arithmetic band would reach below zero, and a geometric mean hangs on
    how near to zero the quickest seeds have come, far below what is drawn.
    """
    grouped = pd.Series(np.log(table[y].clip(lower=_LEAST))).groupby(table[x])
    moments = grouped.median().index.to_numpy(float)
    low, middle, high = (np.exp(grouped.quantile(share)) for share in (0.1, 0.5, 0.9))
    ax.plot(moments, middle, color=look.colour, ls=look.dashes)
    if table["seed"].nunique() > 1:
        ax.fill_between(moments, low, high, color=look.colour, alpha=0.16, lw=0)


def key(ax: Axes, **options: object) -> None:
    """A legend without a frame, in the house's small size."""
    ax.legend(handlelength=1.5, labelspacing=0.3, borderaxespad=0.2, labelcolor=MUTED, **options)  # pyright: ignore
