"""The picture of a custom study: where classes lie and when they arrive, and drawings beside real images."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from conceptlab import figures
from conceptlab.concepts import Class
from conceptlab.store import Member
from conceptlab.studies.emergence_captions import marks_text, pale_text
from conceptlab.studies.emergence_claims import THRESHOLD, drawn_by_half
from conceptlab.studies.quickstart_figures import since_drawn
from conceptlab.studies.study import Results, Tables

_COLUMNS = 4
_MOST_ROWS = 8
# Beyond this many classes neither a graph nor trajectories can be read.
_MOST_DRAWN, _MOST_TRACED = 64, 16


@figures.house()
def draw(results: Results, tables: Tables) -> Picture:
    """(a) the concept graph, with trajectories where they can be read, (b) accuracy by distance, (c) real and drawn
    images, (d) accuracy of each variable for the class that is furthest from training."""
    member = results.members[0]
    space, split = member.world.space, member.split
    curves, times = tables["curves"], tables["times"]
    asked = curves[curves["role"] != "other"]
    rows = _shown(member, asked["class"].unique().tolist())
    page = figures.figure(columns=2, height=2.9 + max(2.2, 0.33 * len(rows)))
    grid = page.add_gridspec(2, 2, width_ratios=(1.0, 1.15), height_ratios=(2.6, max(2.2, 0.33 * len(rows))))

    ax = page.add_subplot(grid[0, 0])
    traced = len(space.concepts) in (2, 3) and len(space) <= _MOST_TRACED
    figures.panel(ax, "a", "Through concept space" if traced else "Distance from training")
    if len(space) <= _MOST_DRAWN:
        figures.draw_graph(ax, space, split, labels_beside=traced)
        if traced:
            figures.trajectories(ax, since_drawn(curves, judged(curves)), space, split)
    else:
        _numbers_by_distance(ax, member)

    ax = page.add_subplot(grid[0, 1])
    figures.panel(ax, "b", "Accuracy by concept distance")
    figures.accuracy_by_distance(ax, asked, judged(curves))
    figures.veil(ax, drawn_by_half(curves, judged(curves)))
    marked = figures.emergence_marks(ax, times, THRESHOLD, first=float(curves["step"].min()))

    ax = page.add_subplot(grid[1, 0])
    figures.panel(ax, "c", f"Real, and drawn at the end (seed {member.recipe.seed})")
    _beside(ax, member, rows)

    ax = page.add_subplot(grid[1, 1])
    furthest = max(rows, key=lambda cls: (split.distance(cls), cls))
    figures.panel(ax, "d", f"Class {space.code(furthest)}, variable by variable")
    figures.accuracy_per_variable(ax, curves, space.code(furthest), space.names)
    figures.veil(ax, drawn_by_half(curves, judged(curves)))

    pale = pale_text(curves, drawn_by_half(curves, judged(curves)))
    marks = marks_text(asked, times, THRESHOLD, marked, judged(curves))
    seeds = figures.seeds_text(curves["seed"].nunique())
    figures.caption(
        page, f"{seeds}. Digits: {figures.plain(space.order, most=90)}. {pale} {marks}{_correction(curves)}"
    )
    return page


def judged(curves: pd.DataFrame) -> str:
    """The measure that claims rest on: on real images the judge errs, and accuracies are corrected for it."""
    return "corrected" if (curves["measure"] == "corrected").any() else "accuracy"


def _correction(curves: pd.DataFrame) -> str:
    if judged(curves) == "accuracy":
        return ""
    return " Corrected: for what the probe misreads on real images; (a) and (d) are as it reads."


def _shown(member: Member, asked: list[str]) -> list[Class]:
    """A few classes from near to far, among those that were shown or tested."""
    classes = sorted((member.world.space.parse(code) for code in asked if code), key=member.split.distance)
    chosen = np.unique(np.linspace(0, len(classes) - 1, _MOST_ROWS).round().astype(int))
    return [classes[i] for i in chosen]


def _beside(ax: Axes, member: Member, classes: list[Class]) -> None:
    """For each class real images (blank where none is left for validation) and what the model drew last."""
    world, split, others = member.world, member.split, member.world.reserved("held-out")
    drawn = world.on_paper(member.samples().numpy()[:, :_COLUMNS])
    columns = drawn.shape[1]
    rows = []
    for cls in classes:
        real = np.full((columns, *drawn.shape[2:]), 255, np.uint8)
        if cls in others.seen:
            images = others.sample(cls, columns, seed=0).images.numpy()
            real[:] = world.on_paper(np.rint(images * 255).astype(np.uint8))
        rows.append(np.concatenate([real, drawn[world.space.classes.index(cls)]]))
    labels = ["real" if i == 0 else "drawn" if i == columns else "" for i in range(2 * columns)]
    figures.strip(
        ax,
        np.stack(rows),
        [world.space.code(cls) for cls in classes],
        labels,
        row_colours=[figures.distance_colour(split.distance(cls)) for cls in classes],
        xlabel="",
    )
    ax.tick_params(axis="x", labelrotation=0, labelsize=6.8)


def _numbers_by_distance(ax: Axes, member: Member) -> None:
    groups = member.split.by_distance()
    for place, (distance, classes) in enumerate(groups.items()):
        ax.barh(place, len(classes), color=figures.distance_colour(distance))
    ax.set_yticks(range(len(groups)), [figures.distance_name(distance) for distance in groups])
    ax.invert_yaxis()
    ax.set_xlabel("number of classes")
