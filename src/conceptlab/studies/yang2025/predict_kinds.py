"""`predict`, one pair of kinds at a time: colours against sizes in all worlds, and so on.

Claims are about pairs of all kinds together, each the slower by forecast over the other. A kind that is late in every
world, by whatever factor, then looks like a wrong order in some and like a large ratio in others.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

RATIOS = ["measured", "sim", "baseline"]


def named_alike(pairs: pd.DataFrame) -> pd.DataFrame:
    """The same pairs, always the same concept over the same other: logarithms of ratios, so turned by their sign."""
    names = [name.split(" / ") for name in pairs["pair"]]
    sign = [1.0 if name == sorted(name) else -1.0 for name in names]
    found = pairs.assign(pair=[" / ".join(sorted(name)) for name in names])
    found[RATIOS] = pairs[RATIOS].mul(sign, axis=0)
    return found


def kind_table(pairs: pd.DataFrame) -> pd.DataFrame:
    """For each pair of kinds and seed, over worlds: the rank correlation of foretold and measured ratios (`rank`), and
    the factor by which those measured typically exceed those foretold (`factor`)."""
    rows = [
        (name, seed, rank_correlation(own["sim"], own["measured"]), _factor(own), len(own))
        for (name, seed), own in named_alike(pairs).groupby(["pair", "seed"], sort=True)
    ]
    return pd.DataFrame(rows, columns=["pair", "seed", "rank", "factor", "worlds"])


def rank_correlation(foretold: pd.Series, measured: pd.Series) -> float:
    """Two pairs agree or do not, which is no correlation; nor is there one where nothing varies."""
    varied = min(foretold.nunique(), measured.nunique()) > 1 and len(foretold) > 2
    return float(foretold.rank().corr(measured.rank())) if varied else math.nan


def _factor(own: pd.DataFrame) -> float:
    return float(np.exp((own["measured"] - own["sim"]).median()))
