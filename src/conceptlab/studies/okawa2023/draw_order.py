"""Figures 5, 6, 7, 13–15 and 16: emergence by distance and by multiplication, and what the probes saw."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from conceptlab import figures
from conceptlab.figures import Line
from conceptlab.store import Member
from conceptlab.studies.emergence_captions import marks_text, pale_text
from conceptlab.studies.emergence_claims import THRESHOLD, drawn_by_half
from conceptlab.studies.okawa2023.order import LEVEL, P_TOY, furthest
from conceptlab.studies.quickstart_figures import samples_over_training, shown_classes, since_drawn
from conceptlab.studies.study import Results, Tables
from conceptlab.theory.toy import success_probability

_GREY = "#8a8f98"
_WIDE = 18
"""Pictures in a strip as wide as the page."""
_TICKS_APART = 0.2
"""Ticks on a square-root axis are at least so far apart, as a share of it."""


def seeds_of(table: pd.DataFrame) -> str:
    return figures.seeds_text(int(table["seed"].nunique()))


@figures.house()
def draw_emergence(results: Results, tables: Tables) -> Picture:
    """Figures 5, 10 and 16: (a) the concept graph, with trajectories where it has three axes, (b) accuracy by distance,
    (c) samples over time."""
    member = results.members[0]
    space = member.world.space
    curves, times = tables["curves"], tables["times"]
    page = figures.figure(columns=2, height=4.9)
    grid = page.add_gridspec(2, 2, width_ratios=(1.0, 1.25), height_ratios=(1.15, 1.0))
    ax = page.add_subplot(grid[0, 0])
    graph_with_paths(ax, curves, member)
    ax = page.add_subplot(grid[0, 1])
    figures.panel(ax, "b", "Accuracy by concept distance")
    said = accuracy_with_marks(ax, curves, times, chance=1 / len(space))
    ax = page.add_subplot(grid[1, :])
    # Kept results hold the drawings of a few steps of most members: one that has them all shows more.
    shown = max(results.members, key=lambda one: len(one.sample_steps))
    figures.panel(ax, "c", f"Drawings through training (seed {shown.recipe.seed})")
    _drawings(ax, shown)
    figures.caption(page, f"{seeds_of(curves)}. Digits: {space.order}. {said}")
    return page


def _drawings(ax: Axes, member: Member) -> None:
    """Some classes, a row each, over many steps; where few steps were kept, all classes, a column each."""
    steps, space, split = member.sample_steps, member.world.space, member.split
    if not 1 < len(steps) <= _WIDE // 2:
        samples_over_training(ax, member, shown_classes(split), columns=_WIDE)
        return
    classes = sorted(space, key=lambda cls: (split.distance(cls), cls))
    order = [space.classes.index(cls) for cls in classes]
    drawn = np.stack([member.samples(step).numpy()[order, 0] for step in steps])
    colours = [figures.distance_colour(split.distance(cls)) for cls in classes]
    codes = [space.code(cls) for cls in classes]
    rows = [str(step) for step in steps]
    figures.strip(ax, member.world.on_paper(drawn), rows, codes, column_colours=colours, xlabel="")
    ax.set_ylabel("training step")


def graph_with_paths(ax: Axes, curves: pd.DataFrame, member: Member) -> None:
    """The concept graph, and where it can be drawn as a cube how images of each class move through it, since all seeds
    draw; if some never do, from the start."""
    space, split = member.world.space, member.split
    figures.panel(ax, "a", "Through concept space" if len(space.names) <= 3 else "Concept graph")
    figures.draw_graph(ax, space, split, labels_beside=len(space.names) <= 3)
    if len(space.names) <= 3:
        figures.trajectories(ax, since_drawn(curves), space, split)


def accuracy_with_marks(ax: Axes, curves: pd.DataFrame, times: pd.DataFrame, chance: float) -> str:
    """Accuracy by distance with emergence times marked and the level of guessing; what a caption says of it."""
    figures.accuracy_by_distance(ax, curves)
    until = drawn_by_half(curves)
    figures.veil(ax, until)
    marked = figures.emergence_marks(ax, times, THRESHOLD, first=float(curves["step"].min()))
    ax.axhline(chance, color=_GREY, lw=0.7, ls=(0, (1, 2)), zorder=1)
    return f"{pale_text(curves, until)} {marks_text(curves, times, THRESHOLD, marked)}".lstrip()


@figures.house()
def draw_multiplicative(results: Results, tables: Tables) -> Picture:
    """Figure 6: (a) product against mean, (b) each variable by itself, (c) the ability to alter each variable."""
    member = results.members[0]
    space, split = member.world.space, member.split
    curves = tables["curves"]
    cls = furthest(curves)
    page = figures.figure(columns=2, height=2.6)
    axes = page.subplots(1, 3)
    figures.panel(axes[0], "a", f"Class {cls}: product or mean")
    figures.additive_or_multiplicative(axes[0], curves, cls)
    figures.panel(axes[1], "b", f"Class {cls}: each variable")
    figures.accuracy_per_variable(axes[1], curves, cls, space.names)
    axes[1].axhline(0.5, color=_GREY, lw=0.7, ls=(0, (1, 2)), zorder=1)
    figures.panel(axes[2], "c", "Capability along edges")
    train = {space.code(c) for c in split.train}
    edges(axes[2], curves, space.names, train)
    for ax in axes:
        root_axis(ax, float(curves["step"].max()))
        figures.veil(ax, drawn_by_half(curves))
    figures.caption(
        page,
        f"{seeds_of(curves)}; steps on a square-root axis. {pale_text(curves, drawn_by_half(curves))} {cls}: "
        f"{space.words(space.parse(cls))}. b, dotted: guessing. c: chance that a variable is drawn right at both "
        "ends of an edge of the concept graph (Def 6); solid: edges between training classes, dashed: edges that "
        "leave them. A model that ignores a variable stays at or below 1/4 (dotted).",
    )
    return page


def root_axis(ax: Axes, last: float) -> None:
    """Steps from 0 to the last on a square-root axis: what happens early has room."""
    ax.set_xscale("function", functions=(lambda x: np.sqrt(np.maximum(x, 0)), np.square))
    ax.set_xlim(0, 1.02 * last)
    ticks = [0.0]
    for tick in figures.log_ticks(0.01 * last, last):
        if np.sqrt(tick / last) - np.sqrt(ticks[-1] / last) > _TICKS_APART:
            ticks.append(tick)
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])


def edges(ax: Axes, curves: pd.DataFrame, names: tuple[str, ...], train: set[str]) -> None:
    """Edge capability by altered variable, inside and outside the training set."""
    figures.accuracy_axes(ax, "edge capability")
    rows = curves[curves["measure"] == "edge_capability"]
    inside = rows["class"].map(lambda edge: set(str(edge).split("-")) <= train)
    colours, lines = figures.variable_colours(names), []
    for name in names:
        for within, dashes in ((True, "-"), (False, (0, (3, 1.5)))):
            line = Line(colours[name], "" if within else name, dashes=dashes)
            lines.append((rows[(rows["variable"] == name) & (inside == within)], line))
    ends = figures.bands(ax, lines)
    ax.axhline(0.25, color=_GREY, lw=0.7, ls=(0, (1, 2)), zorder=1)
    figures.name_ends(ax, ends)


@figures.house()
def draw_toy(results: Results, tables: Tables) -> Picture:
    """Figure 7: (a) P(n) over time with simulated learners, (b) critical time against n; the model's prediction of
    measured curves at larger distances from p fitted at distance 1, with (c) three and (d) four variables."""
    page = figures.figure(columns=2, height=4.4)
    axes = page.subplots(2, 2).ravel()
    toy = tables["toy"]
    figures.panel(axes[0], "a", f"Toy model, p = {P_TOY:g}")
    for n, rows in toy.groupby("n"):
        colour = figures.distance_colour(int(str(n)))
        axes[0].plot(rows["t"], rows["closed"], color=colour, label=f"n = {n}")
        dots = rows[rows["t"] % 20 == 0]
        axes[0].plot(dots["t"], dots["simulated"], "o", ms=2.6, color=colour, mec="white", mew=0.4)
    axes[0].axhline(LEVEL, color=_GREY, lw=0.7, ls=(0, (1, 2)))
    axes[0].set(xlabel="step t", ylabel="P(n)", xlim=(0, 150))
    axes[0].legend(loc="lower right")
    figures.panel(axes[1], "b", f"Steps to reach P* = {LEVEL:g}")
    axes[1].set(
        xlabel="abilities n", ylabel="critical step t*", ylim=(0, 1.05 * float(tables["critical"]["t"].max()))
    )
    ends = []
    for shade, (p, rows) in zip(("#1a1c20", "#5c626b", "#9aa0a8"), tables["critical"].groupby("p")):
        axes[1].plot(rows["n"], rows["t"], "o-", ms=2.4, lw=1, color=shade)
        ends.append((float(rows["t"].iloc[-1]), Line(shade, f"p = {p:g}")))
    figures.name_ends(axes[1], ends)
    for ax, letter, variables in zip(axes[2:], "cd", sorted(tables["curves"]["variables"].unique())):
        figures.panel(ax, letter, f"Measured and predicted, {variables} variables")
        _predicted(ax, tables, variables)
    figures.caption(
        page,
        f"a: lines are the closed form, dots 20,000 simulated learners. c, d: {seeds_of(tables['curves'])}; dashed: "
        "P(n) at distance n with p fitted at distance 1, mean over seeds.",
    )
    return page


def _predicted(ax: Axes, tables: Tables, variables: int) -> None:
    figures.accuracy_axes(ax)
    curves, fits, ends = tables["curves"], tables["fits"], []
    own = curves[(curves["variables"] == variables) & (curves["distance"] > 0)]
    for distance, rows in own.groupby("distance"):
        line = figures.distance_line(distance)
        ends += figures.bands(ax, [(rows, line)])
        steps = np.sort(rows["step"].unique()).astype(float)
        fitted = fits[(fits["variables"] == variables) & (fits["distance"] == distance)]["p"]
        told = np.mean([success_probability(steps, p, int(float(str(distance)))) for p in fitted], axis=0)
        ax.plot(steps, told, color=line.colour, lw=1, ls=(0, (4, 1.5)))
    figures.name_ends(ax, ends)


def draw_probes(variable: str) -> Callable[[Results, Tables], Picture]:
    """Figures 13–15: for one variable, the mean generated image of every class with the share read right."""

    @figures.house()
    def draw(results: Results, tables: Tables) -> Picture:
        member = results.members[0]
        space, split = member.world.space, member.split
        shares = tables["readings"].query(f"variable == '{variable}'")
        empty = tables["empty"].set_index("variable")["read"][variable]
        page = figures.figure(columns=2, height=3.9)
        axes = page.subplots(2, 4)
        images = member.world.on_paper(member.samples().numpy())
        for ax, cls, drawn in zip(axes.flat, space, images):
            code = space.code(cls)
            ax.imshow(figures.thumbnail(figures.mean_image(drawn)), interpolation="nearest")
            ax.set(xticks=[], yticks=[])
            ax.spines[:].set(visible=True, color=figures.distance_colour(split.distance(cls)), linewidth=1.6)
            value = space.concepts[space.variable(variable)].values[cls[space.variable(variable)]]
            ax.set_title(f"{code}  {value}", fontsize=7.5, loc="center")
            ax.set_xlabel(_shares(shares[shares["class"] == code]), fontsize=6.2)
        figures.caption(
            page,
            f"Mean of {images.shape[1]} final images of seed {member.recipe.seed}; shares on which {variable} is read "
            f"right, mean ± 1 standard deviation over {shares['seed'].nunique()} seeds: the judge on all final images, "
            f"the analytic readout and the paper's linear probes on those kept, which know no empty image and read "
            f"{empty} in one. Frames: distance from training. Digits: {space.order}.",
        )
        return page

    return draw


def _shares(readings: pd.DataFrame) -> str:
    """What each reader reads right, a line for each: mean and, where there are several seeds, standard deviation."""
    found = readings.groupby("reader")["value"].agg(["mean", "std"])
    spread = found["std"].map(lambda std: f" ± {std:.2f}" if np.isfinite(std) else "")
    return "\n".join(
        f"{name} {mean:.2f}{more}" for name, mean, more in zip(found.index, found["mean"], spread)
    )
