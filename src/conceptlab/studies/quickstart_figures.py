"""The picture of quickstart: where classes go, when they arrive, what they look like on the way."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from conceptlab import figures
from conceptlab.concepts import Class, Split
from conceptlab.store import Member
from conceptlab.studies.emergence_captions import marks_text, pale_text
from conceptlab.studies.emergence_claims import THRESHOLD, begun, drawn_by_half
from conceptlab.studies.study import Results, Tables

_COLUMNS = 8


@figures.house()
def draw_emergence(results: Results, tables: Tables) -> Picture:
    """(a) trajectories through the concept graph, (b) accuracy by distance, (c) samples over training, (d) what the
    accuracies of single variables predict for the class that is furthest from training."""
    member = results.members[0]
    space, split = member.world.space, member.split
    curves, times = tables["curves"], tables["times"]
    page = figures.figure(columns=2, height=4.9)
    grid = page.add_gridspec(2, 2, width_ratios=(1.0, 1.25), height_ratios=(1.12, 1.0))

    ax = page.add_subplot(grid[0, 0])
    figures.panel(ax, "a", "Through concept space")
    figures.draw_graph(ax, space, split, labels_beside=True)
    figures.trajectories(ax, since_drawn(curves), space, split)

    ax = page.add_subplot(grid[0, 1])
    figures.panel(ax, "b", "Accuracy by concept distance")
    figures.accuracy_by_distance(ax, curves)
    figures.veil(ax, drawn_by_half(curves))
    marked = figures.emergence_marks(ax, times, THRESHOLD, first=float(curves["step"].min()))

    ax = page.add_subplot(grid[1, 0])
    figures.panel(ax, "c", f"Drawings through training (seed {member.recipe.seed})")
    samples_over_training(ax, member, shown_classes(split))

    ax = page.add_subplot(grid[1, 1])
    furthest = space.code(max(space, key=lambda cls: (split.distance(cls), cls)))
    figures.panel(ax, "d", f"Class {furthest}: predicted from single variables")
    figures.additive_or_multiplicative(ax, curves, furthest)
    figures.veil(ax, drawn_by_half(curves))

    seeds = figures.seeds_text(curves["seed"].nunique())
    pale = pale_text(curves, drawn_by_half(curves))
    marks = marks_text(curves, times, THRESHOLD, marked)
    figures.caption(page, f"{seeds}. Digits: {figures.plain(space.order)}. {pale} {marks}")
    return page


def since_drawn(curves: pd.DataFrame, measure: str = "accuracy") -> pd.DataFrame:
    """What is measured since all seeds draw, for paths through concept space; if some never do, everything."""
    drawing = begun(curves, measure).groupby(curves["step"]).transform("all")
    return curves[drawing] if drawing.any() else curves


def shown_classes(split: Split) -> list[Class]:
    """One training class, those at distance 1 and the furthest: the way from seen to unseen."""
    groups = list(split.by_distance().values())
    middle = [cls for group in groups[1:-1] for cls in group]
    return [groups[0][0], *middle[:3], *(groups[-1][-1:] if len(groups) > 1 else ())]


def samples_over_training(ax: Axes, member: Member, classes: list[Class], columns: int = _COLUMNS) -> None:
    """The same noise at every step, so that one drawing is followed through training; where only one step was kept,
    several of its drawings."""
    steps = member.sample_steps
    if not steps:
        ax.axis("off")
        ax.text(0.5, 0.5, "no samples were kept", ha="center", va="center", transform=ax.transAxes)
        return
    chosen = [steps[i] for i in np.unique(np.linspace(0, len(steps) - 1, columns).round().astype(int))]
    space, split = member.world.space, member.split
    rows = [space.classes.index(cls) for cls in classes]
    if len(chosen) == 1:
        drawn = member.samples(chosen[0]).numpy()[rows, :columns]
        labels, xlabel = [""] * drawn.shape[1], f"drawings at step {chosen[0]:,}"
    else:
        drawn = np.stack([member.samples(step).numpy()[rows, 0] for step in chosen], axis=1)
        labels, xlabel = [str(step) for step in chosen], "training step"
    figures.strip(
        ax,
        member.world.on_paper(drawn),
        [space.code(cls) for cls in classes],
        labels,
        row_colours=[figures.distance_colour(split.distance(cls)) for cls in classes],
        xlabel=xlabel,
    )
