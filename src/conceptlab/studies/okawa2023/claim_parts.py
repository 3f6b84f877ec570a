"""What the claims of okawa2023 about training data and sweeps are made with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from conceptlab.claims import Claim, NoData
from conceptlab.studies.okawa2023.claims import TIME_RESOLUTION
from conceptlab.studies.okawa2023.settings import PAPER, THRESHOLD

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


def claim_of(figure: str, name: str, statement: str, statistic: str, **settings: Any) -> Claim:
    return Claim(f"{PAPER}.{figure}.{name}", PAPER, figure, statement, statistic, **settings)
