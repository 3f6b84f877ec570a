"""Continuous variables of labelled images: the numbers that enter a condition as they are, standardised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from conceptlab.worlds.binning import Variables
from conceptlab.worlds.problems import Problems


def column_numbers(column: pd.Series) -> np.ndarray:
    """A column as numbers; NaN where it holds none."""
    return pd.to_numeric(column, errors="coerce").to_numpy(float)


def read_numbers(problems: Problems, continuous: Sequence[str], table: pd.DataFrame) -> dict[str, np.ndarray]:
    """The column of each continuous variable."""
    found = {}
    for name in continuous:
        found[name] = column_numbers(table[name])
        if (~np.isfinite(found[name]) & table[name].notna().to_numpy()).any():
            remedy = "Only numbers can be a continuous condition; leave it out of --continuous."
            problems.add("continuous variables that are not numbers", name, remedy)
    return found


def check_numbers(
    problems: Problems, variables: Variables, numbers: Mapping[str, np.ndarray], labels: np.ndarray
) -> None:
    """Whether the images that belong to a class tell what to ask a model for: a value is asked for by the mean of its
    images, in standard deviations of all. Other variables may have left a value without an image, and `1` and `1.0`
    are two values of one number."""
    for place, (name, values) in enumerate(variables):
        if name not in numbers:
            continue
        for index, (value, _) in enumerate(values):
            if not (labels[:, place] == index).any():
                remedy = (
                    "The other variables leave no image that tells its number: leave the value out, or its variable "
                    "out of --continuous."
                )
                problems.add("values of a continuous variable without images", f"{name}={value}", remedy)
        if not numbers[name].std() > 0:
            remedy = "A number that never varies tells nothing; leave it out of --continuous."
            problems.add("continuous variables that are always the same number", name, remedy)
