"""Are conditions apart in a feature space? (bradley2025, Section 7.1)

    d_i = E[A(x) | c_i] - E[A(x) | nothing],   cos_ij = d_i · d_j / (|d_i| |d_j|)

for any feature map A. If the features compose (CPC: every condition moves coordinates of its own), all d_i are at
right angles. The converse is false: means can be at right angles while everything else is tied together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from conceptlab.errors import InputError

Array = np.ndarray


def directions(groups: Sequence[ArrayLike], background: ArrayLike) -> Array:
    """d_i (I, d) from features (n, …) of images under each condition and under none."""
    base = _flat(background)
    return np.stack([_flat(group).mean(0) for group in groups]) - base.mean(0)


def cosine_matrix(moved: ArrayLike) -> Array:
    """cos_ij (I, I) of directions (I, d); NaN where a direction is zero."""
    d = np.asarray(moved, dtype=float)
    length = np.linalg.norm(d, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return (d @ d.T) / (length[:, None] * length)


def measured_cosines(groups: Sequence[ArrayLike], background: ArrayLike) -> Array:
    """cos_ij (I, I) from samples, free of the bias that sampling brings.

    All d_i share one measured background mean, whose error points the same way in each of them: conditions without
    any effect would have a cosine of ½. So every product takes its two factors from different halves of the images.
    A condition whose squared length comes out at 0 or below has no measurable effect: its cosines are NaN.
    """
    halves = [[part.mean(0) for part in _halves(_flat(group))] for group in groups]
    first, second = (part.mean(0) for part in _halves(_flat(background)))
    one = np.stack([a - first for a, _ in halves])
    other = np.stack([b - second for _, b in halves])
    products = (one @ other.T + other @ one.T) / 2
    squares = np.diag(products)
    length = np.sqrt(np.where(squares > 0, squares, np.nan))
    return np.clip(products / (length[:, None] * length), -1, 1)


def orthogonality(cosines: ArrayLike) -> float:
    """1 - mean |cos_ij| over pairs: 1 at right angles, 0 in line; NaN where some condition has no effect."""
    table = np.asarray(cosines, dtype=float)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or len(table) < 2:
        raise InputError(f"orthogonality needs a square table of two conditions or more; got {table.shape}")
    return float(1 - np.abs(table[np.triu_indices(len(table), 1)]).mean())


def _flat(features: ArrayLike) -> Array:
    table = np.asarray(features, dtype=float)
    if table.ndim < 2 or len(table) < 2:
        raise InputError(f"features of shape {table.shape}; give (images, …) with at least two images")
    return table.reshape(len(table), -1)


def _halves(table: Array) -> tuple[Array, Array]:
    return table[0::2], table[1::2]
