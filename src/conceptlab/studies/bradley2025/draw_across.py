"""Drawing `across`."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from conceptlab import figures
from conceptlab.figures.style import FIELD, MUTED, RULE
from conceptlab.studies.study import Results, Tables

_STUDIES = {"okawa2023": "abc", "park2024": "def"}
_MARKERS = "osD^vPX*<>"
_SIZES = {"*": 7.0, "P": 5.0, "X": 5.0}
"""Markers of little area are drawn larger: their white edge would leave nothing of them."""


@figures.house()
def draw_across(results: Results, tables: Tables) -> Picture:
    page = figures.figure(columns=2, height=5.4)
    axes = page.subplots(2, 3)
    for row, (study, letters) in zip(axes, _STUDIES.items()):
        members = tables["members"][tables["members"]["study"] == study]
        levels = tables["levels"][tables["levels"]["study"] == study]
        if members.empty:  # every member of a study failed
            for ax in row:
                ax.axis("off")
            continue
        looks = _looks(study, members)
        figures.panel(row[0], letters[0], f"{study}: reach")
        for setting, line in looks.items():
            figures.band(row[0], levels[levels["setting"] == setting], line, x="level", y="pixel_reach")
        row[0].set(xlabel="noise level, -log SNR", ylabel="pixel reach, of a global average")
        row[0].set_ylim(0, 1.05 * row[0].get_ylim()[1])  # room above, where all lie at one height
        figures.panel(row[1], letters[1], "Reach, time")
        _against_time(row[1], members, "reach", "pixel reach, high noise", looks)
        figures.panel(row[2], letters[2], "Orthogonality, time")
        _against_time(row[2], members, "orthogonality_bottleneck", "orthogonality, bottleneck", looks)
        row[2].legend(
            *row[1].get_legend_handles_labels(), loc="upper left", bbox_to_anchor=(1.0, 1.05), handlelength=0.8,
            labelspacing=0.3, labelcolor=MUTED, fontsize=6.3, borderaxespad=0.2,
        )  # fmt: skip
    figures.caption(
        page,
        f"{_seeds(tables['members'])} (left). Time: steps until held-out classes are drawn with an "
        "accuracy of one half, geometric mean over classes; open, in the grey field: not all of them within training. "
        "Grey across: orthogonality of the same concepts in pixels, from the least to the most. Legends: what differs "
        "between networks (okawa2023), the separation of the colours (park2024).",
    )
    return page


def _seeds(members: pd.DataFrame) -> str:
    """How many seeds and whether there is a band; of each study where they differ: okawa2023 sweeps with fewer."""
    of_study = {study: int(own["seed"].nunique()) for study, own in members.groupby("study")}
    if len(set(of_study.values())) == 1:
        return figures.seeds_text(next(iter(of_study.values())))
    return "; ".join(f"{study}: {figures.seeds_text(seeds)}" for study, seeds in of_study.items())


def _looks(study: str, members: pd.DataFrame) -> dict[Hashable, figures.Line]:
    """A colour and a marker for each setting: classes' colours for names, the scale of settings for numbers."""
    if study == "park2024":
        values = sorted({str(s) for s in members["setting"]}, key=float)
        ends = float(values[0]), float(values[-1])
        return {
            v: figures.Line(figures.setting_colour(float(v), *ends), v, _MARKERS[i % len(_MARKERS)])
            for i, v in enumerate(values)
        }
    names = list(dict.fromkeys(members["setting"]))
    colours = figures.class_colours(names)
    return {
        name: figures.Line(colours[name], str(name), _MARKERS[i % len(_MARKERS)])
        for i, name in enumerate(names)
    }


def _against_time(
    ax: Axes, members: pd.DataFrame, column: str, label: str, looks: dict[Hashable, figures.Line]
) -> None:
    last = float(members["last"].max())
    never = 1.3 * last
    for setting, line in looks.items():
        rows = members[members["setting"] == setting]
        done = np.isfinite(rows["time"])
        size = _SIZES.get(line.marker, 4.0)
        ax.plot(rows.loc[done, "time"], rows.loc[done, column], line.marker, color=line.colour, ms=size,
                mec="white", mew=0.4, label=line.label)  # fmt: skip
        ax.plot(np.full((~done).sum(), never), rows.loc[~done, column], line.marker, mfc="white",
                mec=line.colour, mew=0.8, ms=size)  # fmt: skip
    if column.startswith("orthogonality"):
        pixels = members["orthogonality_pixels"].agg(["min", "max"])
        ax.axhspan(*pixels, color=RULE, lw=1.2, alpha=0.6, zorder=0)
    ax.set(xscale="log", xlim=(0.8 * float(members["time"].fillna(last).clip(upper=last).min()), 1.6 * last))
    ax.axvspan(1.1 * last, 1.6 * last, color=FIELD, lw=0, zorder=0)
    ticks = figures.log_ticks(ax.get_xlim()[0], 0.7 * last, least=2)
    ax.set_xticks([*ticks, never], [*(f"{tick:g}" for tick in ticks), "never"])
    ax.minorticks_off()
    ax.set(xlabel="steps until it generalises", ylabel=label)
