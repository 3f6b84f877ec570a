"""What the figures of the experiments have in common."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from conceptlab import figures
from conceptlab.figures import Line
from conceptlab.figures.style import FIELD
from conceptlab.store import Member

EXPERIMENT_LINES = {
    "1": Line("#0072B2", "1: all labelled", "o"),
    "2": Line("#D55E00", "2: one labelled", "s"),
    "3": Line("#009E73", "3: one labelled, local", "D"),
}
TRUTH = "#8a8f98"


def chosen(curves: pd.DataFrame, measure: str, **settings: object) -> pd.DataFrame:
    """Rows of one measure without variable, with some settings."""
    rows = curves[(curves["measure"] == measure) & (curves["variable"] == "")]
    for name, value in settings.items():
        rows = rows[rows[name] == value]
    return rows


def trained_text(trained: int) -> str:
    return "trained on 1 object" if trained == 1 else f"trained on 1–{trained} objects"


def k_axis(ax: Axes, most: int, trained: int) -> None:
    """Numbers of conditions, with the field that training covers."""
    ax.axvspan(-0.5, trained + 0.5, color=FIELD, lw=0, zorder=0)
    ax.set_xlim(-0.5, most + 0.5)
    ax.set_xticks(range(0, most + 1, 1 if most <= 6 else 2))
    ax.set_xlabel("conditions K")


def unnamed(line: Line) -> Line:
    """A line of a panel that is not the last of its row: names stand at the end of the row."""
    return dataclasses.replace(line, label="")


def value_lines(ax: Axes, rows: pd.DataFrame, looks: Mapping[str, Line], by: str, *, named: bool) -> None:
    """The column `value` against K, a line with a band over seeds for each setting that there is."""
    lines = [(rows[rows[by] == setting], look) for setting, look in looks.items()]
    ends = figures.bands(ax, lines, x="k")
    if named:
        figures.name_ends(ax, ends)


def chance_line(ax: Axes, rows: pd.DataFrame, line: Line) -> None:
    """The mean over seeds of the column `value` against K, thin and dotted."""
    mean = figures.over_seeds(rows, x="k")
    ax.plot(mean["k"], mean["mean"], color=line.colour, lw=0.8, ls=(0, (1.5, 1.5)), zorder=1)


def share_lines(ax: Axes, curves: pd.DataFrame, looks: Mapping[Any, Line], by: str) -> None:
    """The share of met conditions against K, with the share by chance as a thin dotted line, one pair for each
    setting; names stand at the ends."""
    ax.set_ylim(-0.03, 1.05)  # before the names, which are placed by it
    lines = [(chosen(curves, "share_met", **{by: value}), line) for value, line in looks.items()]
    figures.name_ends(ax, figures.bands(ax, lines, x="k"))
    for value, line in looks.items():
        chance_line(ax, chosen(curves, "share_chance", **{by: value}), line)
    ax.set_ylabel("share of conditions met")


def pictures(member: Member, counts: list[int]) -> np.ndarray:
    """What a member drew for one layout of each number of conditions, first image: (1, counts, C, H, W)."""
    return member.samples()[counts, 0][None].numpy()
