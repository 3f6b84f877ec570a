"""Images that are the same or nearly so, and those of them whose labels disagree.

Labels that differ only because a cut lies between two numbers do not disagree: wherever it is made, images that look
alike lie on both sides of it. Of these pairs the numbers are told, and a reader sees how near the cut they lie.

Exact copies are found by hash among all images. Near ones (a copy saved again, a repeated frame) differ by a few levels
of 255; block means of two such images differ by no more than the images do, so candidates are found on 4×4 blocks and
then compared pixel by pixel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch

from conceptlab.worlds.labelled import Loaded

TOLERANCE = 3.0
"""Root mean square difference, in levels of 255, up to which two images count as nearly the same."""

# Images that are compared with each other; the number of comparisons is its square.
MOST = 20_000
_CANDIDATES, _CHUNK = 6, 512


@dataclass(frozen=True)
class Duplicates:
    """Pairs `first`, `second` (names), `difference` in levels, and whether their labels `conflict`; `numbers` in words
    where only cuts part them, and the `gap` between these as a share of all that there are."""

    pairs: pd.DataFrame
    compared: int

    @property
    def conflicts(self) -> pd.DataFrame:
        return self.pairs[self.pairs["conflict"]]

    @property
    def cut(self) -> pd.DataFrame:
        """Pairs that only a cut parts."""
        return self.pairs[self.pairs["numbers"] != ""]

    @property
    def by_weight(self) -> pd.DataFrame:
        """Those first whose labels disagree, then those that a cut parts, the furthest apart first."""
        return self.pairs.sort_values(["conflict", "gap"], ascending=False, kind="stable")


def find_duplicates(loaded: Loaded, variables: Sequence[str], seed: int = 0) -> Duplicates:
    """All exact copies; near ones among at most `MOST` images, chosen at random where there are more."""
    count = len(loaded.names)
    chosen = np.arange(count)
    if count > MOST:
        chosen = np.sort(np.random.default_rng(seed).choice(count, MOST, replace=False))
    pairs = {**_near(loaded.pixels, chosen), **dict.fromkeys(_exact(loaded.digests), 0.0)}
    rows = [
        {
            "first": loaded.names[a],
            "second": loaded.names[b],
            "difference": difference,
            **_apart(loaded, variables, a, b),
            "rows": (a, b),
        }
        for (a, b), difference in sorted(pairs.items())
    ]
    columns = ["first", "second", "difference", "conflict", "numbers", "gap", "rows"]
    return Duplicates(pd.DataFrame(rows, columns=columns).astype({"conflict": bool}), len(chosen))


def _apart(loaded: Loaded, variables: Sequence[str], a: int, b: int) -> dict[str, Any]:
    """Whether the labels of two images disagree, or only lie on both sides of a cut."""
    differing = [name for name, x, y in zip(variables, loaded.labels[a], loaded.labels[b]) if x != y]
    if not differing or any(name not in loaded.binned for name in differing):
        return {"conflict": bool(differing), "numbers": "", "gap": 0.0}
    columns = {name: loaded.binned[name] for name in differing}
    words = [f"{name} {column[a]:.6g} and {column[b]:.6g}" for name, column in columns.items()]
    gaps = [abs(column[a] - column[b]) / np.ptp(column) for column in columns.values()]
    return {"conflict": False, "numbers": ", ".join(words), "gap": float(max(gaps))}


def _exact(digests: np.ndarray) -> list[tuple[int, int]]:
    """Each copy with the first of its kind."""
    order = np.argsort(digests, kind="stable")
    same = digests[order][1:] == digests[order][:-1]
    found, first = [], 0
    for place, equal in enumerate(same.tolist(), start=1):
        if equal:
            found.append((int(order[first]), int(order[place])))
        else:
            first = place
    return found


def _near(pixels: np.ndarray, chosen: np.ndarray) -> dict[tuple[int, int], float]:
    """Pairs within the tolerance, with their difference."""
    blocks = _blocks(pixels, chosen)
    found: dict[tuple[int, int], float] = {}
    for start in range(0, len(chosen), _CHUNK):
        distances = torch.cdist(blocks[start : start + _CHUNK], blocks) / blocks.shape[1] ** 0.5
        candidates = distances.topk(min(_CANDIDATES, len(chosen)), largest=False)
        close = candidates.values <= TOLERANCE + 0.5
        for row, column in close.nonzero().tolist():
            a, b = int(chosen[start + row]), int(chosen[candidates.indices[row, column]])
            pair = (min(a, b), max(a, b))
            if a != b and pair not in found:
                difference = pixels[a].astype(np.float64) - pixels[b]
                found[pair] = float(np.sqrt((difference**2).mean()))
    return {pair: difference for pair, difference in found.items() if difference <= TOLERANCE}


def _blocks(pixels: np.ndarray, chosen: np.ndarray) -> torch.Tensor:
    parts = []
    for start in range(0, len(chosen), 4096):
        images = torch.from_numpy(np.asarray(pixels[chosen[start : start + 4096]])).float()
        parts.append(torch.nn.functional.adaptive_avg_pool2d(images, 4).flatten(1))
    return torch.cat(parts)
