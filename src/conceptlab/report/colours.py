"""Pictures with only as many colours as it takes to look the same. A drawing has a few dozen that mean something; the
others are the soft edges of its lines and letters, and cost most of its bytes."""

from __future__ import annotations

import numpy as np
from PIL import Image

from conceptlab.store.compact import LEAST_LIKENESS, likeness

_PALETTE = 256
# How far apart two colours may lie and still become one: what one would take for another keeps its own.
_FURTHEST = 24.0


def fewer_colours(picture: Image.Image) -> Image.Image | None:
    """The picture with its most alike colours merged, as long as nobody could tell; None where even 256 are too few, as
    in sheets of drawn images."""
    if picture.getcolors(_PALETTE) is None:
        few = picture.quantize(
            _PALETTE, method=Image.Quantize.MEDIANCUT, kmeans=1, dither=Image.Dither.NONE
        ).convert("RGB")
        if likeness(picture, few) < LEAST_LIKENESS:
            return None
        picture = few
    counted = sorted((_code(np.array(colour)), count) for count, colour in picture.getcolors(_PALETTE) or [])
    codes, counts = (np.array(column) for column in zip(*counted))
    pixels = _code(np.asarray(picture))
    most = pixels.size * 255**2 / 10 ** (LEAST_LIKENESS / 10)
    colours = np.stack([codes >> 16, codes >> 8 & 255, codes & 255], axis=-1)
    return Image.fromarray(_merged(colours, counts, most)[np.searchsorted(codes, pixels)])


def _code(colour: np.ndarray) -> np.ndarray:
    """Red, green and blue in one number."""
    red, green, blue = np.moveaxis(colour.astype(np.int32), -1, 0)
    return red << 16 | green << 8 | blue


def _merged(colours: np.ndarray, counts: np.ndarray, most: float) -> np.ndarray:
    """A new colour for each, after Ward: the two whose union adds the least squared error become their mean, time and
    again, until the errors of all pixels together would exceed `most`."""
    means, weights = colours.astype(float), counts.astype(float)
    group, gone = np.arange(len(colours)), np.zeros(len(colours), dtype=bool)
    costs = np.stack([_costs(means, weights, gone, i) for i in range(len(colours))])
    while True:
        a, b = divmod(int(costs.argmin()), len(colours))
        most -= costs[a, b]
        if most < 0:
            return means[group].round().astype(np.uint8)
        means[a] = (weights[a] * means[a] + weights[b] * means[b]) / (weights[a] + weights[b])
        weights[a] += weights[b]
        gone[b] = True
        group[group == b] = a
        costs[a] = costs[:, a] = _costs(means, weights, gone, a)
        costs[b] = costs[:, b] = np.inf


def _costs(means: np.ndarray, weights: np.ndarray, gone: np.ndarray, i: int) -> np.ndarray:
    """What it would cost to merge colour `i` with each other one; without end where it may not be."""
    apart = ((means - means[i]) ** 2).sum(-1)
    cost = apart * weights * weights[i] / (weights + weights[i])
    cost[gone | (apart > _FURTHEST**2)] = np.inf
    cost[i] = np.inf
    return cost
