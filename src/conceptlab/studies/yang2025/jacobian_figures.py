"""Drawing Figure 4."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.patches import Rectangle

from conceptlab import figures
from conceptlab.figures.style import INK, MUTED, ink_on
from conceptlab.studies.study import Results, Tables
from conceptlab.studies.yang2025 import drawing
from conceptlab.studies.yang2025.settings import LEVEL

_FOOT = 1e-5  # a smaller swing, or none, is drawn here
_ROLES = {"major": "#228833", "minor": "#D55E00", "irrelevant": "#c9cdd3"}


@figures.house()
def draw_jacobian(results: Results, tables: Tables) -> Picture:
    page = figures.figure(columns=2, height=4.9)
    axes = page.subplots(2, 2).ravel()
    figures.panel(axes[0], "a", "Roles of the entries, s = 2, d = 4")
    _matrix(axes[0], tables["roles"])
    figures.panel(axes[1], "b", "Their sizes over training")
    for role, colour in _ROLES.items():
        shade = MUTED if role == "irrelevant" else colour
        drawing.log_band(
            axes[1], tables["entries"].query(f"role == '{role}'"), "time", "value", figures.Line(shade)
        )
        axes[1].plot([], [], color=shade, label=role)
    drawing.loss_axes(axes[1], "mean |entry|", "time (rate × steps)")
    # Below the major entries, above all others.
    drawing.key(axes[1], loc="upper right", bbox_to_anchor=(1.0, 0.9))
    figures.panel(axes[2], "c", "A minor entry turns")
    _turns(axes[2], tables["turns"])
    figures.panel(axes[3], "d", "Swing where predicted")
    _tasks(axes[3], tables["tasks"])
    tasks = tables["tasks"]["seed"].nunique()
    figures.caption(
        page,
        f"UUᵀ flow, µ = (1, 2). b: {len(results.seeds)} Gaussian starts of scale .1; median and the middle "
        f"80 %. c: w₁₂ over its peak; dashed: level of w₂₂ predicted for a vanishing start. d: {tasks} random tasks "
        "(µ₂ from 1.5 to 3, W(0) of size .01 to .1), each from starts that point away from the composition "
        "(correlation below 0) and to it; 10⁻⁵ or less at the foot.",
    )
    return page


def _matrix(ax: Axes, table: pd.DataFrame) -> None:
    for i, j, role in table[["i", "j", "role"]].itertuples(index=False):
        ax.add_patch(Rectangle((j, -i), 0.94, 0.94, fc=_ROLES[role], ec="none"))
        ax.text(
            j + 0.47,
            -i + 0.47,
            f"$w_{{{i}{j}}}$",
            ha="center",
            va="center",
            color=ink_on(_ROLES[role]),
            fontsize=9,
        )
    d = int(table["i"].max())
    ax.set(xlim=(0.9, d + 3.6), ylim=(-d - 0.1, 0.05), aspect="equal")
    ax.axis("off")
    for place, (role, colour) in enumerate(_ROLES.items()):
        ax.add_patch(Rectangle((d + 1.4, -1.3 - 0.8 * place), 0.4, 0.4, fc=colour))
        ax.text(d + 2.0, -1.1 - 0.8 * place, role, va="center")


def _turns(ax: Axes, turns: pd.DataFrame) -> None:
    starts = sorted(turns["start"].unique())
    for start in starts:
        rows = turns[turns["start"] == start]
        colour = figures.setting_colour(np.log(start), np.log(starts[0]), np.log(starts[-1]))
        ax.plot(rows["w22"], rows["w12"], color=colour, label=f"{start:g}")
        top = rows.loc[rows["w12"].idxmax()]
        ax.plot(top["w22"], top["w12"], "o", ms=3.5, color=colour, mec="white", mew=0.5, zorder=4)
    ax.axvline(float(turns["predicted"].iloc[0]), color=INK, lw=0.9, ls=(0, (3, 2)), zorder=1)
    ax.set(xlabel="major entry w₂₂", ylabel="minor entry w₁₂ / its peak")
    drawing.key(ax, title="size of W(0)", title_fontsize=7, loc="lower center")


def _tasks(ax: Axes, tasks: pd.DataFrame) -> None:
    """A dot for each task and start, and the share of tasks that swing above."""
    correlations = sorted(tasks["correlation"].unique())
    for place, correlation in enumerate(correlations):
        swings = tasks.loc[tasks["correlation"] == correlation, "swing"]
        # Side by side within a column, in the order of the tasks: all that do not swing lie on one level.
        x = place + np.linspace(-0.32, 0.32, len(swings))
        colour = "#7A1F4F" if correlation > 0 else figures.distance_colour(0)
        ax.scatter(x, swings.clip(lower=_FOOT), s=3, color=colour, lw=0)
        share = float((swings > LEVEL).mean())
        ax.text(place, 0.55, f"{share:.0%}".replace("%", ""), ha="center", va="center", fontsize=6.5)
    ax.text(-0.45, 1.9, "% of tasks that swing", fontsize=6.5, va="center", color=MUTED)
    ax.axhline(LEVEL, color=MUTED, lw=0.8, ls=(0, (3, 2)))
    ax.annotate(
        "counts as swing above", (-0.45, LEVEL), (0, 3), textcoords="offset points", fontsize=6.5, color=MUTED
    )
    ax.set(yscale="log", ylim=(5e-6, 4))
    ax.set_yticks([10.0**power for power in range(-5, 1)])
    ax.minorticks_off()
    ax.set_xticks(range(len(correlations)), [f"{c:g}".replace("0.", ".") for c in correlations], fontsize=6.5)
    ax.set(xlabel="correlation of the start: away … towards", ylabel="swing / starting loss")
