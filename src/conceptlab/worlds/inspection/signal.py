"""Concept signal where no renderer exists: pairs of images found by nearest neighbours.

park2024's signal is the mean squared pixel difference when one concept is flipped and all else is held. Nothing can be
held in a set of photographs, but among many images of the flipped class one comes nearest to holding the rest. It is
the one nearest after each class's mean image has been taken away: nearest in plain pixels would be the one that happens
to differ least in the concept itself (the largest of the small), and the signal would come out too low. What even the
nearest does not hold is estimated within the class: the nearest *other* image of the same class, among as many, differs
in the rest alone. The signal is the first mean squared difference minus the second.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from conceptlab.concepts import Class, ConceptSpace
from conceptlab.worlds.labelled import LabelledWorld, Loaded, load

# Images looked at from each class, how many to choose the nearest from, and pairs of classes for each variable.
QUERIES, NEIGHBOURS, EDGES = 96, 384, 12


@dataclass(frozen=True)
class NeighbourSignal:
    """Mean squared pixel differences: to the nearest image across the variable, to the nearest within the class, and
    what the variable itself adds, with its standard error over images."""

    across: float
    within: float
    value: float
    standard_error: float
    pairs: int  # pairs of classes that differ in nothing else


def neighbour_signals(world: LabelledWorld) -> dict[str, NeighbourSignal]:
    """The signal of every variable that varies alone; the others cannot be measured and are left out."""
    loaded, space = load(world), world.space
    rows = {cls: _rows(loaded, place) for place, cls in enumerate(space)}
    found = {}
    for name in space.names:
        edges = _edges(space, rows, name)
        measured = [_differences(loaded.pixels, rows[a], rows[b]) for a, b in edges[:EDGES]]
        if not measured:
            continue
        across, within = (np.concatenate(part) for part in zip(*measured))
        excess = across - within
        error = float(excess.std(ddof=1) / math.sqrt(len(excess))) if len(excess) > 1 else math.nan
        found[name] = NeighbourSignal(
            float(across.mean()), float(within.mean()), float(excess.mean()), error, len(edges)
        )
    return found


def _rows(loaded: Loaded, place: int) -> np.ndarray:
    """The images of a class, each once: beside its copy an image would have a neighbour that differs in nothing. They
    lie in the order of a hash: the first are as good as a random choice."""
    rows = loaded.order[loaded.starts[place] : loaded.starts[place + 1]]
    return rows[np.unique(loaded.digests[rows], return_index=True)[1]]


def _edges(space: ConceptSpace, rows: dict[Class, np.ndarray], name: str) -> list[tuple[Class, Class]]:
    """Ordered pairs of classes that differ in one variable alone, those with most images first."""
    place = space.variable(name)
    # One image has no other of its class to compare with.
    enough = [cls for cls in space if len(rows[cls]) > 1]
    there = set(enough)
    pairs = [(a, b) for a in enough for b in space.neighbours(a) if b in there and a[place] != b[place]]
    return sorted(pairs, key=lambda pair: (-min(len(rows[pair[0]]), len(rows[pair[1]])), pair))


def _differences(pixels: np.ndarray, own: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each image looked at: the mean squared difference to its nearest image in the other class, and in its own."""
    size = min(NEIGHBOURS, len(own) - 1, len(other))
    queries = min(QUERIES, len(own))
    mine, theirs = _flat(pixels, own[: max(queries, size + 1)]), _flat(pixels, other[:size])
    looked = mine[:queries]
    matched = _squares(looked - mine.mean(0), theirs - theirs.mean(0)).argmin(1)
    across = ((looked - theirs[matched]) ** 2).mean(1)
    within = _squares(looked, mine[: size + 1])
    # An image is not its own neighbour; one beyond the first `size` leaves the last out instead, for equal choice.
    for row in range(queries):
        within[row, row if row <= size else size] = np.inf
    return across, within.min(1)


def _flat(pixels: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return np.asarray(pixels[rows], dtype=np.float32).reshape(len(rows), -1) / 255


def _squares(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Mean squared differences of every image in a to every image in b."""
    squares = (a**2).sum(1)[:, None] - 2 * (a @ b.T) + (b**2).sum(1)[None]
    return np.maximum(squares, 0) / a.shape[1]
