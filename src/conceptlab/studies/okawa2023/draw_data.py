"""Figures 8 and 9 and `finetune`: how many samples a concept needs, and what fine-tuning repairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from conceptlab import figures
from conceptlab.concepts import Split
from conceptlab.figures import Line
from conceptlab.store import Member
from conceptlab.studies.emergence_claims import THRESHOLD
from conceptlab.studies.okawa2023.draw_order import graph_with_paths, seeds_of
from conceptlab.studies.okawa2023.recipes import ADDED, SERIES
from conceptlab.studies.okawa2023.settings import MINIMAL
from conceptlab.studies.quickstart_figures import samples_over_training
from conceptlab.studies.study import Results, Tables

_MODES = {"before": "#8a8f98", "old data kept": "#009E73", "new class alone": "#D55E00"}
_APART = 2.1
"""Numbers whose ratio is smaller are not both labelled."""
_RARELY = 0.02
"""What no model draws in more than this share of images is not named."""
_ASKED = ("010", "011", "101")
"""Classes whose drawings are told in full."""
_SHIFTS = (-0.24, 0.0, 0.24)
_DASHES = ("-", (0, (4, 1.5)), (0, (1, 1.2)))
_ROOM = 1.56
"""A label beside a line of Figure 8 is this factor of samples wide, or less."""
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
    lines, reached, met = [], {}, Counter()
    for cls, rows in samples.groupby("class"):
        distance = 0 if cls == series else split.distance(split.space.parse(str(cls)))
        look = figures.distance_colour(distance), str(cls), figures.distance_marker(distance)
        # Classes at one distance share their colour, and so differ in their dashes.
        line = Line(*look, _DASHES[met[distance] % len(_DASHES)])
        met[distance] += 1
        lines.append((rows, line))
        # A seed that no number was enough for has a larger one: without it the others would be the median.
        number = critical[critical["class"] == cls]["time"].fillna(np.inf).median()
        if np.isfinite(number):
            reached.setdefault(float(number), []).append(line)
    ends = figures.bands(ax, lines, x="number")
    count_axis(ax, sorted(samples["number"].unique()))
    figures.name_ends(ax, ends)
    _critical(ax, reached)


def _critical(ax: Axes, reached: Mapping[float, Sequence[Line]]) -> None:
    """Critical numbers, each with the codes of the classes that it is of, written upwards on the side where they are
    learnt: what is not learnt yet lies below, what is lies above. Of numbers too close for a label between them all are
    named after the last, the least lowest. At the end of the axis there is no room but before it."""
    numbers, said = sorted(reached), Counter()
    for number in numbers:
        lines, place = reached[number], number
        for other in numbers:
            place = other if place < other < _ROOM * place else place
        colour = lines[0].colour if len(lines) == 1 else "#5c626b"
        ax.axvline(number, color=colour, lw=0.8, ls=(0, (1, 1.5)), zorder=1)
        last = _ROOM * place > ax.get_xlim()[1]
        ax.annotate(
            "  ".join(line.label for line in lines), (place, 0.3), (-3 if last else 3, 17 * said[place]),
            textcoords="offset points", rotation=90, fontsize=5.8, color=figures.legible(colour),
            ha="right" if last else "left", va="bottom",
        )  # fmt: skip
        said[place] += len(lines)


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
    """(a) the adversarial set and where its classes go, (b) drawings of small circles; (c–e) accuracy of every class
    before and after each fine-tuning, (f–h) what three classes were drawn as."""
    finals = tables["finals"]
    member, standing = _typical(results.members, finals)
    space = member.world.space
    page = figures.figure(columns=2, height=7.2)
    grid = page.add_gridspec(5, 6, height_ratios=(1.25, 0.07, 1, 0.07, 1))
    left, right = page.add_subplot(grid[0, :3]), page.add_subplot(grid[0, 3:])
    graph_with_paths(left, tables["curves"].query("mode == 'before'"), member)
    figures.panel(right, "b", f"Drawings (seed {member.recipe.seed})")
    samples_over_training(right, member, [space.parse(code) for code in ("010", "011", "111")])
    rows = ((1, "cde", "Fine-tuned with", _by_class), (3, "fgh", "Drawn as, tuned with", _drawn_as))
    for row, letters, title, part in rows:
        axes = [page.add_subplot(grid[row + 1, start : start + 2]) for start in (0, 2, 4)]
        for ax, letter, added in zip(axes, letters, ADDED):
            figures.panel(ax, letter, f"{title} {added}")
            part(ax, tables, added)
        _key(page.add_subplot(grid[row, :]), axes[0])
    seeds = finals["seed"].nunique()
    figures.caption(
        page,
        f"{figures.seeds_text(seeds, band='')}. "
        f"Digits: {space.order}. a, among images in which something is drawn. b: {standing}. "
        "c–e: mean ± 1 standard deviation over seeds, cut at 0 and 1; shaded: the classes trained on before. f–h: "
        "shares of final images, mean over seeds; above each bar what it was trained on. Fine-tuning at the training "
        "learning rate, held constant. Forgetting with the new class alone is shown, not claimed.",
    )
    return page


def _key(ax: Axes, of: Axes) -> None:
    """The legend of a row of panels, in a row of its own above them."""
    handles, names = of.get_legend_handles_labels()
    ax.axis("off")
    ax.legend(
        handles, names, loc="center", ncols=len(names), columnspacing=1.4, handletextpad=0.4, handlelength=1.2
    )


def _typical(members: Sequence[Member], finals: pd.DataFrame) -> tuple[Member, str]:
    """The model before fine-tuning whose accuracy of small circles is the median over seeds, or the one nearest to it
    of which drawings were kept; and where it stands, for the caption: one that stands alone may be no typical one."""
    before = [member for member in members if member.recipe.start is None]
    circles = finals[(finals["mode"] == "before") & finals["class"].isin(["010", "011"])]
    ranks = circles.groupby("seed")["value"].mean().rank(method="first", ascending=False)
    kept = [member for member in before if member.sample_steps] or before
    middle = (len(ranks) + 1) // 2
    chosen = min(kept, key=lambda member: (abs(ranks[member.recipe.seed] - middle), member.recipe.seed))
    only = "the only seed of which drawings were kept; " if len(kept) == 1 < len(before) else ""
    number = f"number {ranks[chosen.recipe.seed]:.0f} of {len(ranks)}"
    return chosen, f"{only}by how well it draws small circles this seed is {number}"


def _drawn_as(ax: Axes, tables: Tables, added: str) -> None:
    """For three classes that were unseen, what was drawn: a bar before and one after each fine-tuning."""
    drawn = tables["drawn"][tables["drawn"]["class"].isin(_ASKED)]
    seeds = tables["finals"]["seed"].nunique()
    colours = figures.class_colours(sorted(set(tables["finals"]["class"]))) | {"nothing": "#dcdfe4"}
    common = drawn.groupby("drawn")["value"].max() > _RARELY
    own = drawn[drawn["added"].isin(["", added])].groupby(["class", "mode", "drawn"])["value"].sum() / seeds
    for code in (code for code in colours if common.get(code, False)):
        ax.plot([], [], "s", color=colours[code], label=code)
    for place, cls in enumerate(_ASKED):
        for shift, mode in zip(_SHIFTS, _MODES):
            low = 0.0
            for code, colour in colours.items():
                share = float(own.get((cls, mode, code), 0.0))
                ax.bar(place + 1.15 * shift, share, 0.25, bottom=low, color=colour, lw=0)
                low += share
            ax.plot(place + 1.15 * shift, 1.06, _MARKERS[mode], color=_MODES[mode], ms=3.2)
    ax.set(ylim=(0, 1.12), xlabel="class asked for", ylabel="share of images", yticks=np.linspace(0, 1, 6))
    ax.set_xticks(range(len(_ASKED)), _ASKED)


def _by_class(ax: Axes, tables: Tables, added: str) -> None:
    figures.accuracy_axes(ax, "final accuracy")
    finals = tables["finals"]
    ax.set_xlabel("class")
    own = finals[finals["added"].isin(["", added])]
    codes = sorted(own["class"].unique())
    old = str(own["set"].iloc[0]).split()
    for place, code in enumerate(codes):
        if code in old:
            ax.axvspan(place - 0.5, place + 0.5, color="#0072B2", alpha=0.09, lw=0)
    for shift, mode in zip(_SHIFTS, _MODES):
        found = figures.over_seeds(own[own["mode"] == mode], x="class")
        if found.empty:
            continue
        at = [codes.index(str(code)) + shift for code in found["class"]]
        # An accuracy lies between 0 and 1, and so does what is drawn of its spread.
        mean, spread = found["mean"].to_numpy(dtype=float), found["std"].fillna(0).to_numpy(dtype=float)
        ends = np.minimum(spread, mean), np.minimum(spread, 1 - mean)
        ax.errorbar(
            at, mean, ends, fmt=_MARKERS[mode], color=_MODES[mode], ms=3.6, lw=1, label=mode,
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
            lines = []
            for name in names:
                added = finals[(finals["set"] == name) & (finals["added"] != "")]["added"].iloc[0]
                line = Line(colours[name], f"{name} + {added}")
                own = finals[(finals["set"] == name) & (finals["role"] == role)]
                start = own[own["mode"] == "before"]
                # The class that is added was unseen before; it is left out on both sides of the comparison.
                level = start[start["class"] != added].groupby("seed")["value"].mean().mean()
                ax.axhline(level, color=line.colour, lw=0.8, ls=(0, (1, 1.5)), zorder=1)
                lines.append((own[own["mode"] == mode], line))
            ends = figures.bands(ax, lines, x="rate")
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
