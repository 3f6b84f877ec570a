"""Figures 8 and 9 and `finetune`: how many samples a concept needs, and what fine-tuning repairs."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from conceptlab import figures
from conceptlab.concepts import Split
from conceptlab.figures import Line
from conceptlab.studies.okawa2023.draw_order import graph_with_paths, seeds_of
from conceptlab.studies.okawa2023.recipes import ADDED, SERIES
from conceptlab.studies.okawa2023.settings import MINIMAL, THRESHOLD
from conceptlab.studies.quickstart_figures import samples_over_training
from conceptlab.studies.study import Results, Tables

_MODES = {"before": "#8a8f98", "old data kept": "#009E73", "new class alone": "#D55E00"}
_APART = 2.1
"""Numbers whose ratio is smaller are not both labelled."""
_MARKERS = {"before": "o", "old data kept": "s", "new class alone": "^"}


# --- Figure 8 ---


@figures.house()
def draw_samples(results: Results, tables: Tables) -> Picture:
    """Final accuracy against the number of samples (a) of 001, colour, and (b) of 100, shape."""
    member = results.members[0]
    space = member.world.space
    split = Split(space, dict.fromkeys(MINIMAL, 1))
    page = figures.figure(columns=2, height=2.7)
    axes = page.subplots(1, 2, sharey=True)
    for ax, letter, series in zip(axes, "ab", ("001", "100")):
        figures.panel(ax, letter, f"Samples of {series}: {SERIES[series]}")
        _against_count(ax, tables, series, split)
    figures.caption(
        page,
        f"{seeds_of(tables['samples'])}. Digits: {space.order}. Blue: the class itself; other colours: unseen classes "
        f"that need its value, by distance. Dotted: median over seeds of the critical number, from which on accuracy "
        f"stays at {THRESHOLD:g}; the last number is that of the other training classes.",
    )
    return page


def _against_count(ax: Axes, tables: Tables, series: str, split: Split) -> None:
    samples = tables["samples"]
    samples = samples[
        (samples["series"] == series) & (samples["role"] != "other") & (samples["variable"] == "")
    ]
    critical = tables["critical"]
    critical = critical[(critical["series"] == series) & (critical["variable"] == "")]
    figures.accuracy_axes(ax, "final accuracy")
    ends = []
    for cls, rows in samples.groupby("class"):
        distance = 0 if cls == series else split.distance(split.space.parse(str(cls)))
        line = Line(figures.distance_colour(distance), str(cls), figures.distance_marker(distance))
        found = figures.band(ax, rows, line, x="number")
        ends.append((float(found["mean"].iloc[-1]), line))
        number = critical[critical["class"] == cls]["time"].median()
        if np.isfinite(number):
            ax.axvline(number, color=line.colour, lw=0.8, ls=(0, (1, 1.5)), zorder=1)
    count_axis(ax, sorted(samples["number"].unique()))
    figures.name_ends(ax, ends)


def count_axis(ax: Axes, counts: list[int]) -> None:
    """Sample numbers, none at all included, on a scale that is logarithmic above."""
    least = max(1, min([n for n in counts if n], default=1))
    ax.set_xscale("symlog", linthresh=least)
    ax.set_xlim(-0.3 * least, 1.3 * max(counts))
    ax.set_xticks(counts, _legible(counts))
    ax.minorticks_off()
    ax.set_xlabel("samples in training")


def _legible(counts: list[int]) -> list[str]:
    """A label for each number, left out where it would run into the last one on a logarithmic scale."""
    labels, last = [], 0.0
    for number in counts:
        apart = number == 0 or number >= _APART * last
        labels.append(str(number) if apart else "")
        last = number if apart else last
    return labels


# --- Figure 9 ---


@figures.house()
def draw_adversarial(results: Results, tables: Tables) -> Picture:
    """(a) the adversarial set and where its classes go, with drawings of small circles over training; (b) accuracy of
    every class before and after each fine-tuning."""
    before = [member for member in results.members if member.recipe.start is None]
    member = before[0]
    space = member.world.space
    page = figures.figure(columns=2, height=5.2)
    grid = page.add_gridspec(2, 6, height_ratios=(1.15, 1))
    left, right = page.add_subplot(grid[0, :3]), page.add_subplot(grid[0, 3:])
    graph_with_paths(left, tables["curves"].query("mode == 'before'"), member)
    right.set_title(f"Drawings (seed {member.recipe.seed})")
    samples_over_training(right, member, [space.parse(code) for code in ("010", "011", "111")])
    axes = [page.add_subplot(grid[1, start : start + 2]) for start in (0, 2, 4)]
    for place, (ax, added) in enumerate(zip(axes, ADDED)):
        figures.panel(ax, "bcd"[place], f"Fine-tuned with {added}")
        _by_class(ax, tables["finals"], added)
    for mode, colour in _MODES.items():
        axes[0].plot([], [], _MARKERS[mode], color=colour, ms=4, label=mode)
    handles, names = axes[0].get_legend_handles_labels()
    page.legend(handles, names, loc="outside upper right", ncols=3)
    figures.caption(
        page,
        f"{tables['finals']['seed'].nunique()} seeds; bars: ± 1 standard deviation over seeds. "
        f"Digits: {space.order}. Fine-tuning at the training learning rate, held constant. Shaded: the classes trained "
        "on before. Forgetting with the new class alone is shown, not claimed.",
    )
    return page


def _by_class(ax: Axes, finals: pd.DataFrame, added: str) -> None:
    figures.accuracy_axes(ax, "final accuracy")
    ax.set_xlabel("class")
    own = finals[finals["added"].isin(["", added])]
    codes = sorted(own["class"].unique())
    old = str(own["set"].iloc[0]).split()
    for place, code in enumerate(codes):
        if code in old:
            ax.axvspan(place - 0.5, place + 0.5, color="#0072B2", alpha=0.09, lw=0)
    for shift, mode in zip((-0.24, 0.0, 0.24), _MODES):
        found = figures.over_seeds(own[own["mode"] == mode], x="class")
        if found.empty:
            continue
        at = [codes.index(str(code)) + shift for code in found["class"]]
        ax.errorbar(
            at, found["mean"], found["std"].fillna(0), fmt=_MARKERS[mode], color=_MODES[mode], ms=3.6, lw=1,
        )  # fmt: skip
    ax.set_xticks(range(len(codes)), codes, rotation=60, fontsize=6.5)


# --- finetune ---


@figures.house()
def draw_finetune(results: Results, tables: Tables) -> Picture:
    """Accuracy after fine-tuning against its learning rate, for several adversarial sets: unseen classes (repair)
    above, old ones (forgetting) below; old data kept left, new class alone right."""
    finals = tables["finals"]
    names = list(dict.fromkeys(finals["set"]))
    page = figures.figure(columns=2, height=4.2)
    axes = page.subplots(2, 2, sharex=True, sharey=True)
    colours = figures.class_colours(names)
    for row, (role, title) in enumerate(
        (("unseen", "classes still unseen"), ("old", "classes known before"))
    ):
        for column, mode in enumerate(("old data kept", "new class alone")):
            ax = axes[row, column]
            figures.panel(ax, "abcd"[2 * row + column], f"{mode.capitalize()}: {title}")
            figures.accuracy_axes(ax, "final accuracy")
            ax.set_xlabel("learning rate / training rate" if row else "")
            ends = []
            for name in names:
                added = finals[(finals["set"] == name) & (finals["added"] != "")]["added"].iloc[0]
                line = Line(colours[name], f"{name} + {added}")
                own = finals[(finals["set"] == name) & (finals["role"] == role)]
                start = own[own["mode"] == "before"]
                # The class that is added was unseen before; it is left out on both sides of the comparison.
                level = start[start["class"] != added].groupby("seed")["value"].mean().mean()
                ax.axhline(level, color=line.colour, lw=0.8, ls=(0, (1, 1.5)), zorder=1)
                found = figures.band(ax, own[own["mode"] == mode], line, x="rate")
                ends.append((float(found["mean"].iloc[-1]), line))
            if column:
                figures.name_ends(ax, ends)
            ax.set_xscale("log")
            rates = sorted(finals["rate"].unique())
            ax.set_xticks(rates, [f"{rate:g}" for rate in rates])
            ax.minorticks_off()
    figures.caption(
        page,
        f"{seeds_of(finals)}. Each adversarial set with the class that would free the variable it ties. Dotted: before "
        "fine-tuning.",
    )
    return page
