"""Negative controls: how often a claim says what it says when there is nothing to find."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from conceptlab.claims.claim import Claim, Tables
from conceptlab.claims.judge import judge
from conceptlab.errors import InputError


@dataclass(frozen=True)
class Rates:
    """Shares of data sets by verdict."""

    reproduced: float
    not_reproduced: float
    inconclusive: float


def calibrate(
    claim: Claim, simulate: Callable[[np.random.Generator], Tables], *, datasets: int = 500, seed: int = 0
) -> Rates:
    """Judge one claim on many simulated data sets, through its own `measure` and the same `judge` as real data.

    `simulate` draws a figure's tables: from a null model for the false-positive rate, with an effect for
    power. The claim stands alone, which is Holm's most lenient case.
    """
    if datasets < 1:
        raise InputError("calibration: needs at least one simulated data set")
    streams = np.random.default_rng(seed).spawn(datasets)
    counts = Counter(judge([claim], simulate(stream), "paper")[0].verdict for stream in streams)
    return Rates(*(counts[name] / datasets for name in ("reproduced", "not reproduced", "inconclusive")))


def permuted(
    frame: pd.DataFrame, labels: str, generator: np.random.Generator, within: Sequence[str] = ("seed",)
) -> pd.DataFrame:
    """The table with one column's labels dealt out anew within each group: real scatter, no relation to labels.

    `labels` must vary within the group for this to be a control; permuting, say, the distance of each class
    within a seed leaves every time in place and breaks only its tie to distance.
    """
    for column in (labels, *within):
        if column not in frame.columns:
            raise InputError(f"control: the table has no column '{column}'; it has {list(frame.columns)}")
    fresh = frame[labels].to_numpy(copy=True)
    for rows in frame.groupby(list(within)).indices.values():
        fresh[rows] = generator.permutation(fresh[rows])
    return frame.assign(**{labels: fresh})
