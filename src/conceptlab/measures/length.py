"""How well scenes of K objects answer K conditions: length generalisation.

A condition is a cell of a grid, and it is met by an object whose centre lies in that cell or in one next to it (asking
for the same cell is too strict: even real images fail it at the edges of cells). One object meets at most one
condition: objects and conditions are matched one to one, as many as possible.

All functions take, for each image, the cells asked for (K, 2) and the cells of the centres found (P, 2). A colour is
one more coordinate (`with_colour`), or the only one: colours that differ are never next to each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from conceptlab.measures.emergence import at_least

Cells = NDArray[np.number]

TOLERANCE = 1
"""How many cells a centre may lie from the cell asked for, along each axis."""
KEPT = 0.9
"""The share of its base that K_max allows to be left."""
SHIFTS = 8
"""With how many other images' conditions each image is compared for the share by chance."""


@dataclass(frozen=True)
class Answer:
    """How images answered conditions, all with K of them."""

    share: float  # of conditions met: location recall
    error: float  # standard error of the share, images being the unit
    chance: float  # the share met under the conditions of other images
    precision: float  # of objects found, the share that meets a condition
    exact: float  # of images, the share with exactly K objects
    objects: float  # found on average
    spurious: float  # objects that meet no condition, on average

    @property
    def corrected(self) -> float:
        return beyond_chance(self.share, self.chance)


def met(asked: Sequence[Cells], found: Sequence[Cells]) -> NDArray[np.integer]:
    """How many conditions of each image are met, all images with K conditions each."""
    return which_met(asked, found).sum(1)


def which_met(asked: Sequence[Cells], found: Sequence[Cells]) -> NDArray[np.bool_]:
    """Which conditions of each image are met (images, K), by a matching that meets as many as possible.

    A matching of all images at once: conditions and objects of one image are a part of one large graph, without an
    edge to any other. Thousands of small matchings one by one take longer than drawing the images does.
    """
    images, count, most = len(asked), len(asked[0]), max(map(len, found), default=0)
    if count == 0 or most == 0:
        return np.zeros((images, count), dtype=bool)
    objects = np.full((images, most, asked[0].shape[-1]), np.inf)
    for row, cells in zip(objects, found, strict=True):
        row[: len(cells)] = cells
    near = np.abs(np.stack(asked)[:, :, None] - objects[:, None]).max(-1) <= TOLERANCE
    image, condition, which = near.nonzero()
    ends = image * count + condition, image * most + which
    graph = scipy.sparse.csr_array(
        (np.ones(len(image), dtype=bool), ends), shape=(images * count, images * most)
    )
    matched = scipy.sparse.csgraph.maximum_bipartite_matching(graph, perm_type="column") >= 0
    return matched.reshape(images, count)


def with_colour(colours: Sequence[NDArray[np.integer]], cells: Sequence[Cells] | None = None) -> list[Cells]:
    """Colours (K,) of each image as a coordinate, behind those of its cells if there are any."""
    apart: list[Cells] = [(TOLERANCE + 1.0) * mine[:, None] for mine in colours]
    return apart if cells is None else [np.hstack(pair) for pair in zip(cells, apart, strict=True)]


def nearest(asked: Sequence[Cells]) -> NDArray[np.floating]:
    """How many cells away, along the longer axis, each condition's nearest other one is (images, K); infinite where
    there is no other."""
    cells = np.stack(asked).astype(float)
    apart = np.abs(cells[:, :, None] - cells[:, None]).max(-1)
    apart[:, np.eye(cells.shape[1], dtype=bool)] = np.inf
    return apart.min(-1, initial=np.inf)


def answer(asked: Sequence[Cells], found: Sequence[Cells]) -> Answer:
    """Everything that is said of images with K conditions each; with K = 0 there are no shares (NaN)."""
    count = len(asked[0])
    hits = met(asked, found).astype(float)
    objects = np.array([len(f) for f in found], dtype=float)
    shares = hits / count if count else np.full(len(hits), np.nan)
    total = objects.sum()
    return Answer(
        share=float(shares.mean()),
        error=float(shares.std(ddof=1) / np.sqrt(len(shares))) if len(shares) > 1 else float("nan"),
        chance=chance_share(asked, found),
        precision=float(hits.sum() / total) if total else float("nan"),
        exact=float((objects == count).mean()),
        objects=float(objects.mean()),
        spurious=float((objects - hits).mean()),
    )


def chance_share(asked: Sequence[Cells], found: Sequence[Cells]) -> float:
    """The share of conditions met under conditions shuffled between images: how much of a share is crowding."""
    count, images = len(asked[0]), len(asked)
    if count == 0 or images < 2:
        return float("nan")
    shifts = range(1, min(images, SHIFTS + 1))
    others = [asked[(i + shift) % images] for shift in shifts for i in range(images)]
    return float(met(others, [*found] * len(shifts)).mean() / count)


def beyond_chance(share: float, chance: float) -> float:
    """(m - c) / (1 - c): 1 where every condition is met, 0 where no more than by chance."""
    return (share - chance) / (1 - chance) if chance < 1 else float("nan")


def k_max(shares: Mapping[int, float], base: int) -> int:
    """The largest K such that at every K' from 1 to K the share is at least `KEPT` of the share at `base`, the
    largest number of conditions that was trained; 0 if there is none. It hides poor quality: print the base share
    beside it."""
    least = KEPT * shares[base]
    if not least > 0:
        return 0  # nothing was met, and nothing is kept
    reached = 0
    for k in sorted(k for k in shares if k > 0):
        if not at_least(shares[k], least):
            break
        reached = k
    return reached


def kept_share(shares: Mapping[int, float], base: int, beyond: int) -> float:
    """The mean share at all K above `beyond`, relative to the share at `base`: 1 if nothing is lost."""
    more = [share for k, share in shares.items() if k > beyond]
    return float(np.mean(more) / shares[base]) if more and shares[base] else float("nan")
