"""The figure that okawa2023 and park2024 share: is what is drawn in few steps what full sampling draws?

Its members have the measurement `full_sampling`, which draws with all steps at a few evaluations.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import scipy
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from conceptlab import figures
from conceptlab.claims import DIFFERENCE, Claim, accuracy_resolution, value_per_seed
from conceptlab.figures.style import FIELD
from conceptlab.studies.study import Results, Tables

AGREE = 0.05
"""The difference in accuracy up to which few steps stand for all of them."""
IMAGES = 1200
"""Fully sampled images of a member at paper scale, all classes and evaluations together."""
_SHADES = ("#9ecae1", "#4292c6", "#08519c")


def agreement_claim(study: str) -> Claim:
    """An equivalence: the interval of the mean difference must lie within ± `AGREE`."""
    return Claim(
        id=f"{study}.sampling.agree",
        paper=study,
        figure="sampling",
        statement="Drawing in few steps (50 at paper scale) tells the same accuracies as full sampling.",
        statistic="mean difference in accuracy over classes and evaluations: full sampling minus few steps",
        measure=lambda tables: value_per_seed(tables["sampling"], value="difference"),
        threshold=AGREE,
        side="within",
        # Of a difference of two accuracies at their most uncertain, on as many images.
        resolution=math.sqrt(2) * accuracy_resolution(0.5, IMAGES),
        limits=DIFFERENCE,
    )


def sampling_tables(results: Results) -> dict[str, pd.DataFrame]:
    """`sampling`: for each seed, class and evaluation with full sampling the accuracy of both, and their difference."""
    rows = results.metrics.query("weights == 'raw' and variable == ''")
    keys = ["seed", "step", "class", "distance"]
    wide = rows.pivot_table(index=keys, columns="measure", values="value").reset_index()
    named = wide.rename(columns={"accuracy": "few", "full_accuracy": "full", "full_difference": "difference"})
    return {
        "sampling": named[[*keys, "few", "full", "difference"]]
        .dropna()
        .rename_axis(columns=None)
        .reset_index(drop=True)
    }


@figures.house()
def draw_sampling(results: Results, tables: Tables) -> Picture:
    """(a) accuracy with few steps against full sampling, (b) their difference for every class, with its interval."""
    table, member = tables["sampling"], results.members[0]
    page = figures.figure(columns=2, height=2.9)
    left, right = page.subplots(1, 2, width_ratios=(1, 1.6))
    steps = member.recipe.evaluation.sampler_steps
    figures.panel(left, "a", "Accuracy of every class")
    _against(left, table, steps)
    figures.panel(right, "b", f"Full sampling minus {steps} steps")
    _differences(right, table)
    page.legend(*left.get_legend_handles_labels(), loc="outside upper left", ncols=4, columnspacing=1)
    page.legend(*right.get_legend_handles_labels(), loc="outside upper right", ncols=3)
    figures.caption(
        page,
        f"{figures.seeds_text(table['seed'].nunique(), band='')}. "
        f"Digits: {member.world.space.order}. a: a mark for each seed, class and "
        f"evaluation. b: mean over seeds with its 95 % interval (Student); shaded: ± {AGREE:g}, within which the mean "
        "over classes and evaluations has to lie.",
    )
    return page


def _against(ax: Axes, table: pd.DataFrame, steps: int) -> None:
    ax.plot([0, 1], [0, 1], color="#8a8f98", lw=0.8, ls=(0, (2, 2)), zorder=1)
    for distance, rows in table.groupby("distance"):
        line = figures.distance_line(distance)
        ax.plot(
            rows["few"], rows["full"], line.marker, ms=3.4, alpha=0.6, mec="none", color=line.colour, label=line.label,
            clip_on=False,
        )  # fmt: skip
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    ax.set(xlabel=f"accuracy, {steps} steps", ylabel="accuracy, full sampling")


def _differences(ax: Axes, table: pd.DataFrame) -> None:
    codes, steps = sorted(table["class"].unique()), sorted(table["step"].unique())
    ax.axhspan(-AGREE, AGREE, color=FIELD, lw=0, zorder=0)
    ax.axhline(0, color="#8a8f98", lw=0.8, zorder=1)
    for place, step in enumerate(steps):
        found = figures.over_seeds(table[table["step"] == step], x="class", y="difference")
        at = [codes.index(code) + 0.22 * (place - (len(steps) - 1) / 2) for code in found["class"]]
        # One seed has no interval.
        freedom = np.maximum(found["count"] - 1, 1)
        half = scipy.special.stdtrit(freedom, 0.975) * found["std"].fillna(0) / np.sqrt(found["count"])
        shade = _SHADES[place % len(_SHADES)]
        ax.errorbar(at, found["mean"], half, fmt="o", ms=3.4, lw=1, color=shade, label=f"step {step:,}")
    ax.set_xticks(range(len(codes)), codes)
    low, high = ax.get_ylim()
    ax.set_ylim(max(low, -1.05), min(high, 1.05))  # an interval of few seeds may reach beyond what can be
    ax.set(xlabel="class", ylabel="difference in accuracy")
