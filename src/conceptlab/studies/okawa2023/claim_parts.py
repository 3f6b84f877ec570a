"""What the claims of okawa2023 are made with."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from conceptlab.claims import Claim, NoData, PerSeed, ordering
from conceptlab.studies.emergence_claims import THRESHOLD
from conceptlab.studies.okawa2023.settings import PAPER
from conceptlab.studies.okawa2023.tables import times_by

TIME_RESOLUTION = math.sqrt(2 / 12) * math.log(1.2)
"""Of a ratio of two times, on the log scale: each lies anywhere between two evaluations, a factor of about 1.2 apart (a
uniform error has a standard deviation of 1/√12 of its width). Seeds that agree to an evaluation agree no better."""

LATER: dict[str, Any] = {
    "threshold": 1.0,
    "side": "above",
    "transform": "log",
    "resolution": TIME_RESOLUTION,
}
AT = f"(accuracy {THRESHOLD})"


def rows_of(table: pd.DataFrame, why: str, **wanted: Any) -> pd.DataFrame:
    """The rows whose columns have a wanted value, or one of several; `cls` stands for the column `class`."""
    chosen = np.ones(len(table), dtype=bool)
    for name, value in wanted.items():
        column = table["class" if name == "cls" else name]
        chosen &= (column.isin(value) if isinstance(value, tuple) else column == value).to_numpy()
    if not chosen.any():
        raise NoData(why)
    return table[chosen]


def order_of(times: pd.DataFrame) -> PerSeed:
    """The smallest ratio of consecutive emergence times over distances."""
    return ordering(list(times_by(times).values()))


def claim_of(figure: str, name: str, statement: str, statistic: str, **settings: Any) -> Claim:
    return Claim(f"{PAPER}.{figure}.{name}", PAPER, figure, statement, statistic, **settings)
