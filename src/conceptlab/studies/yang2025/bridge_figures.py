"""Drawing Figure 6."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from conceptlab import figures
from conceptlab.figures.style import INK, MUTED
from conceptlab.studies.park2024.drawing import colours, space_axes
from conceptlab.studies.study import Results, Tables


@figures.house()
def draw_bridge(results: Results, tables: Tables) -> Picture:
    page = figures.figure(columns=2, height=5.0)
    axes = page.subplots(2, 2).ravel()
    shades = colours(tables["swings"]["separation"])
    paths = _drawn(tables["paths"])
    figures.panel(axes[0], "a", "Class 11 through concept space")
    _paths(axes[0], paths, shades)
    figures.panel(axes[1], "b", "Its concept MSE")
    for separation, shade in shades.items():
        rows = paths[paths["separation"] == separation]
        figures.band(axes[1], rows, figures.Line(shade, marker=""), y="mse")
        axes[0].plot([], [], color=shade, label=f"{separation:g}")
    axes[1].set(xlabel="training step", ylabel="squared distance from 11", ylim=(0, None))
    # Beside the square of a, which leaves room: bands fill b, and the colours are those of all panels.
    axes[0].legend(
        title="separation", title_fontsize=7, handlelength=1.4, labelspacing=0.25, labelcolor=MUTED,
        loc="center left", bbox_to_anchor=(1.02, 0.5),
    )  # fmt: skip
    figures.panel(axes[2], "c", "Rise against noise level")
    _swings(axes[2], tables["swings"], shades)
    figures.panel(axes[3], "d", "Speed against signal")
    for separation, rows in tables["swings"].groupby("separation", sort=True):
        axes[3].plot(1000 * rows["signal"], 1000 * rows["speed"], "o", ms=4, color=shades[float(str(separation))],
                     mec="white", mew=0.5)  # fmt: skip
    axes[3].set(xlabel="colour signal on a small circle, ‰", ylabel="largest |ΔC| per 1,000 steps")
    seeds = tables["paths"]["seed"].nunique()
    figures.caption(
        page,
        f"Members of park2024's sweep; {figures.seeds_text(seeds)} (b). a: means over seeds, start as a ring. "
        "c: for each run the largest rise of its concept MSE after a fall; a cross: the noise level it must "
        "pass, 2σ√(2 ln T) with σ from second differences. d: for each run, over a twentieth of training. All: "
        "since half of the images of every training class are right; runs that hardly get there are left out.",
    )
    return page


def _drawn(paths: pd.DataFrame) -> pd.DataFrame:
    """The steps at which all seeds of a separation draw, so that a mean is one of the same seeds throughout."""
    return paths[paths.groupby(["separation", "step"])["draws"].transform("all")]


def _paths(ax: Axes, paths: pd.DataFrame, shades: dict[float, tuple[float, float, float]]) -> None:
    space_axes(ax)
    for separation, rows in paths.groupby("separation", sort=True):
        mean = rows.groupby("step")[["colour", "size"]].mean().to_numpy()
        shade = shades[float(str(separation))]
        ax.plot(*mean.T, color=shade, lw=1.6)
        ax.plot(*mean[0], "o", ms=3.5, mfc="white", mec=shade)
    ax.plot(1, 1, "*", ms=9, color=INK, mec="white", mew=0.6, zorder=5)


def _swings(ax: Axes, swings: pd.DataFrame, shades: dict[float, tuple[float, float, float]]) -> None:
    rng = np.random.default_rng(0)  # seeds side by side, so that they can be told apart
    order = {separation: place for place, separation in enumerate(sorted(shades))}
    for separation, rows in swings.groupby("separation", sort=True):
        where = order[float(str(separation))] + rng.uniform(-0.18, 0.18, len(rows))
        ax.plot(where, rows["swing"], "o", ms=4, color=shades[float(str(separation))], mec="white", mew=0.5)
        ax.plot(where, rows["noise"], "x", ms=3.5, color=MUTED)
    ax.set_xticks(list(order.values()), [f"{separation:g}" for separation in order])
    ax.set(xlim=(-0.5, len(order) - 0.5), ylim=(0, None))
    ax.set(xlabel="colour separation", ylabel="rise of the concept MSE")
