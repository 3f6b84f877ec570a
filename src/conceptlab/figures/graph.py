"""The concept graph on paper: a line, square or cube for up to three variables, a lattice for four, layers beyond.

Classes are coloured by their distance from training and labelled with their code; what the digits mean is written
along the axes (or, without axes, in the title a caller gives). `trajectories` draws how generated images move through
the same space while a model trains.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.offsetbox import AnnotationBbox, OffsetImage

from conceptlab.concepts import Class, ConceptSpace, Split, concept_graph, positions
from conceptlab.figures import style

# The page directions of up to three axes: across, into the page, up. The slant of the second keeps every corner of
# the cube apart from every other corner and edge.
_AXES = {1: np.array([[1.0, 0.0]]), 2: np.eye(2), 3: np.array([[1.0, 0.0], [0.46, 0.33], [0.0, 1.0]])}

# Where the codes of the two corners inside a cube's outline go, in points.
_INNER: dict[Class, tuple[int, int]] = {(1, 0, 1): (12, -8), (0, 1, 0): (-12, 8)}

_MARK = 6
"""The size of a class's mark beside trajectories, in points."""

Point = tuple[float, float]
Points = Mapping[Class, Point]


def page_positions(space: ConceptSpace) -> dict[Class, Point]:
    """Where each class lies on the page."""
    return {cls: _point(_on_page(space, np.asarray(place))) for cls, place in positions(space).items()}


def _point(place: np.ndarray) -> Point:
    return float(place[0]), float(place[1])


def _on_page(space: ConceptSpace, places: np.ndarray) -> np.ndarray:
    """Places in the space's own coordinates, (…, variables), on the page; a lattice or layers lie there already."""
    count = len(space.concepts)
    return places @ _AXES[count] if count in _AXES else places


def draw_graph(
    ax: Axes,
    space: ConceptSpace,
    split: Split,
    *,
    thumbnails: Mapping[Class, np.ndarray] | None = None,
    labels_beside: bool = False,
) -> None:
    """The graph with one disc for each class, or its picture (H, W, 3) from `thumbnails`.

    Codes stand in the discs; with `labels_beside` the discs are small and codes stand outside the graph, to leave
    room for trajectories.
    """
    where = page_positions(space)
    _edges(ax, space, split, where)
    _frame(ax, list(where.values()), space, pictures=thumbnails is not None)
    if thumbnails is not None:
        _pictures(ax, space, split, where, thumbnails)
    elif labels_beside:
        _small_discs(ax, space, split, where)
    else:
        _discs(ax, space, split, where)
    if len(space.concepts) <= 3:
        _name_axes(ax, space, pictures=thumbnails is not None)


def _edges(ax: Axes, space: ConceptSpace, split: Split, where: Points) -> None:
    graph = concept_graph(space, split)
    hidden = _hidden_corner(space)
    solid = [[where[a], where[b]] for a, b in graph.edges if hidden not in (a, b)]
    behind = [[where[a], where[b]] for a, b in graph.edges if hidden in (a, b)]
    width = 0.9 if len(space) <= 16 else 0.35
    ax.add_collection(LineCollection(solid, colors=style.RULE, linewidths=width, zorder=1))
    ax.add_collection(
        LineCollection(behind, colors=style.RULE, linewidths=width, linestyles=[(0, (3, 2))], zorder=1)
    )


def _hidden_corner(space: ConceptSpace) -> Class | None:
    """The corner of a cube that a solid one would hide: left, behind, below."""
    return (0, 1, 0) if space.sizes == (2, 2, 2) else None


def _frame(ax: Axes, points: Sequence[Point], space: ConceptSpace, *, pictures: bool) -> None:
    across, up = np.array(points).T
    # Layers of many classes have no meaningful angles: let them fill the panel.
    ax.set_aspect("equal" if len(space.concepts) <= 4 else "auto", anchor="W")
    margin = 0.28 if pictures else 0.22
    room = margin * max(1.0, np.ptp(up) / 3)
    ax.set(xlim=(across.min() - room, across.max() + room), ylim=(up.min() - room, up.max() + room))
    ax.axis("off")


def _discs(ax: Axes, space: ConceptSpace, split: Split, where: Points) -> None:
    """Discs as wide as the codes in them, and smaller where the edge between two would not show; codes too small to
    read are left out."""
    length = max(len(space.code(cls)) for cls in where)
    ems = 0.62 * length + 0.9  # the width of a code with its margin, in font sizes
    diameter = min(7.0 * ems, 0.75 * _least_gap(ax, list(where.values())))
    font = diameter / ems
    for cls, (x, y) in where.items():
        colour = style.distance_colour(split.distance(cls))
        ax.plot(x, y, "o", ms=diameter, color=colour, mec="white", mew=0.1 * font, zorder=3, clip_on=False)
        if font >= 3:
            ink = style.ink_on(colour)
            ax.text(x, y, space.code(cls), ha="center", va="center", fontsize=font, color=ink, zorder=4)


def _least_gap(ax: Axes, points: Sequence[Point]) -> float:
    """The smallest distance between two classes, in points of print."""
    ax.apply_aspect()
    pixels = ax.transData.transform(np.array(points))
    between = np.linalg.norm(pixels[:, None] - pixels[None], axis=-1)
    np.fill_diagonal(between, np.inf)
    return float(between.min()) * 72 / ax.figure.dpi


def _small_discs(ax: Axes, space: ConceptSpace, split: Split, where: Points) -> None:
    centre = np.mean(list(where.values()), axis=0)
    for cls, place in where.items():
        distance = split.distance(cls)
        marker, colour = style.distance_marker(distance), style.distance_colour(distance)
        ax.plot(*place, marker, ms=_MARK, color=colour, mec="white", mew=0.8, zorder=5, clip_on=False)
        # Straight up or down, away from the middle; the two corners that lie inside the outline have room only in
        # one quadrant between their edges.
        offset = _INNER.get(cls) if space.sizes == (2, 2, 2) else None
        offset = offset or (0, 9 if place[1] > centre[1] else -9)
        ax.annotate(
            space.code(cls), place, offset, textcoords="offset points", ha="center", va="center",
            fontsize=6.8, color=style.INK, zorder=6,
            bbox={"boxstyle": "round,pad=0.12", "fc": "white", "ec": "none", "alpha": 0.8},
        )  # fmt: skip


def _pictures(
    ax: Axes, space: ConceptSpace, split: Split, where: Points, thumbnails: Mapping[Class, np.ndarray]
) -> None:
    for cls, place in where.items():
        colour = style.distance_colour(split.distance(cls))
        if cls in thumbnails:
            picture = thumbnails[cls]
            # About a quarter of an inch whatever the resolution.
            zoom = 22.0 / max(picture.shape[:2])
            image = OffsetImage(picture, zoom=zoom, interpolation="nearest", cmap="gray")
            frame = {"edgecolor": colour, "lw": 1.4, "boxstyle": "square,pad=0.1"}
            ax.add_artist(AnnotationBbox(image, place, frameon=True, pad=0.1, bboxprops=frame))
        ax.annotate(
            space.code(cls), place, (0, -20), textcoords="offset points", ha="center", va="center",
            fontsize=6.5, color=style.INK, zorder=2, bbox={"boxstyle": "square,pad=0.1", "fc": "white", "ec": "none"},
        )  # fmt: skip


def _name_axes(ax: Axes, space: ConceptSpace, *, pictures: bool) -> None:
    """What each direction means, along three edges that meet no label: below, right below, and left."""
    last = [size - 1 for size in space.sizes]
    starts = {0: [0, 0, 0], 1: [last[0], 0, 0], 2: [0, 0, 0]}
    for axis, variable in enumerate(space.concepts):
        count = len(space.concepts)
        start = np.array(starts[axis][:count], dtype=float) if count == 3 else np.zeros(count)
        end = start.copy()
        end[axis] = last[axis]
        a, b = _on_page(space, start), _on_page(space, end)
        angle = float(np.degrees(np.arctan2(b[1] - a[1], b[0] - a[0])))
        # To the left of a rising edge, below any other.
        away = np.array([-1.0, 0.0]) if angle > 60 else np.array([np.sin(np.radians(angle)), -1.0])
        distance = (30 if pictures else 21) if angle <= 60 else (24 if pictures else 14)
        # A slanted name would begin where the one below ends: a little further along its edge.
        along = (
            10 * np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))]) if 0 < angle <= 60 else 0
        )
        ax.annotate(
            style.plain(f"{variable.name}: {' → '.join(variable.values)}", most=40),
            _point((a + b) / 2), _point(distance * away + along),
            textcoords="offset points", ha="center", va="center", rotation=angle, rotation_mode="anchor",
            fontsize=6.2, color=style.MUTED,
        )  # fmt: skip


def trajectories(ax: Axes, curves: pd.DataFrame, space: ConceptSpace, split: Split) -> None:
    """How the images of each class move through concept space while the model trains: a thin line for each seed, a
    thick one for their mean, with a ring where it starts. Beyond three variables there is no such place on paper, and
    nothing is drawn."""
    if len(space.concepts) > 3:
        return
    singles = seed_paths(curves, space)
    for cls, mean in mean_paths(curves, space).items():
        colour = style.distance_colour(split.distance(cls))
        for path in singles[cls].values():
            ax.plot(*_on_page(space, path).T, color=colour, lw=0.5, alpha=0.45, zorder=2)
        line = _on_page(space, mean)
        ax.plot(*line.T, color=colour, lw=1.7, zorder=4, solid_capstyle="round")
        ax.plot(*line[0], "o", ms=3.2, mfc="white", mec=colour, mew=1, zorder=4)
        _arrowhead(ax, line, colour)


def _arrowhead(ax: Axes, line: np.ndarray, colour: str) -> None:
    """Where a path ends, pointing away from where it last was outside the mark of its end; none if it never was."""
    ax.apply_aspect()
    pixels = ax.transData.transform(line)
    away = np.linalg.norm(pixels - pixels[-1], axis=1) * 72 / ax.figure.dpi
    outside = np.flatnonzero(away > _MARK)
    if len(outside):
        ax.annotate(
            "", _point(line[-1]), _point(line[outside[-1]]), zorder=4,
            arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 0, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 7},
        )  # fmt: skip


def mean_paths(curves: pd.DataFrame, space: ConceptSpace) -> dict[Class, np.ndarray]:
    """Each class's mean over seeds of its coordinates, (steps, variables), in units of values."""
    found = _paths(curves, ["class"], space)
    return {cls: found[space.code(cls)] for cls in space if space.code(cls) in found}


def seed_paths(curves: pd.DataFrame, space: ConceptSpace) -> dict[Class, dict[int, np.ndarray]]:
    """Each class's coordinates over training, by seed."""
    seeds = sorted(int(seed) for seed in curves["seed"].unique())
    found = _paths(curves, ["class", "seed"], space)
    places = {cls: {seed: (space.code(cls), seed) for seed in seeds} for cls in space}
    return {
        cls: {seed: found[key] for seed, key in keys.items() if key in found} for cls, keys in places.items()
    }


def _paths(curves: pd.DataFrame, by: list[str], space: ConceptSpace) -> dict[Hashable, np.ndarray]:
    """(steps, variables) for each group; coordinates in [0, 1] are stretched to the values' positions, steps with a gap
    left out. All at once: pages have hundreds of members, and a table taken apart for each takes a minute."""
    rows = curves[curves["measure"] == "coordinate"]
    if "weights" in rows.columns:
        rows = rows[rows["weights"] == "raw"]
    wide = rows.groupby([*by, "step", "variable"], observed=True)["value"].mean().unstack()
    wide = wide.reindex(columns=list(space.names)).dropna().sort_index()
    values = wide.to_numpy(dtype=float) * (np.array(space.sizes) - 1)
    return {key: values[places] for key, places in wide.groupby(level=by, observed=True).indices.items()}
