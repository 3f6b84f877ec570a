"""The concept graph (okawa2023, Def 5): classes are nodes, edges join classes at distance 1."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from conceptlab.concepts.space import Class, ConceptSpace
from conceptlab.concepts.split import Split

if TYPE_CHECKING:
    import networkx as nx


def concept_graph(space: ConceptSpace, split: Split | None = None) -> nx.Graph:
    """Nodes carry `code`, `name` and, with a split, `count` and `distance`; edges the altered `variable`."""
    # Imported here: whatever knows concepts need not wait for it.
    import networkx as nx

    graph = nx.Graph(order=space.order)
    for cls in space:
        graph.add_node(cls, code=space.code(cls), name=space.name(cls))
        if split is not None:
            graph.add_node(cls, count=split.counts.get(cls, 0), distance=split.distance(cls))
    for cls in space:
        for other in space.neighbours(cls):
            if cls < other:
                altered = next(i for i, (a, b) in enumerate(zip(cls, other)) if a != b)
                graph.add_edge(cls, other, variable=space.names[altered])
    return graph


def positions(space: ConceptSpace) -> dict[Class, tuple[float, ...]]:
    """Where to draw each class: 1 to 3 variables as a line, square or cube (that many coordinates), 4 binary
    ones as the lattice of a tesseract, anything larger as layers (2 coordinates)."""
    if len(space.concepts) <= 3:
        return {cls: tuple(float(value) for value in cls) for cls in space}
    if space.sizes == (2, 2, 2, 2):
        return {cls: _lattice(cls) for cls in space}
    return _layers(space)


# Directions of the four lattice axes on the page: across, into the page and up as for a cube, and to the upper left.
# Found by a search for the largest distance between a class and an edge that is not its own; any two axes differ by
# 38° or more, so that the edges of one variable are told from those of another.
_AXES = ((2.6, 0.0), (0.7, 0.55), (0.44, 2.2), (-1.0, 1.1))


def _lattice(cls: Class) -> tuple[float, float]:
    x = sum(value * axis[0] for value, axis in zip(cls, _AXES))
    y = sum(value * axis[1] for value, axis in zip(cls, _AXES))
    return x, y


def _layers(space: ConceptSpace) -> dict[Class, tuple[float, ...]]:
    """One row for each distance from the first class; within a row, classes in lexicographic order, spread
    evenly. Long rows are folded so that neighbours stay apart."""
    origin = space.classes[0]
    placed: dict[Class, tuple[float, ...]] = {}
    depth = 0.0
    rows = itertools.groupby(
        sorted(space, key=lambda c: (space.distance(c, origin), c)), lambda c: space.distance(c, origin)
    )
    for _, row in rows:
        members = list(row)
        folds = max(1, math.ceil(len(members) / 16))
        for place, cls in enumerate(members):
            width = math.ceil(len(members) / folds)
            fold, column = divmod(place, width)
            length = min(width, len(members) - fold * width)
            placed[cls] = (column - (length - 1) / 2, -(depth + 0.6 * fold))
        depth += 1.0 + 0.6 * (folds - 1)
    return placed
