"""What captions say of curves by distance: only of what is drawn in them."""

from __future__ import annotations

from collections.abc import Collection, Hashable

import numpy as np
import pandas as pd

from conceptlab import figures


def pale_text(curves: pd.DataFrame, until: float) -> str:
    """What `figures.veil` pales before a step, or all along where that is infinite; empty where it pales nothing."""
    if until <= curves["step"].min():
        return ""
    one = curves["seed"].nunique() == 1
    if np.isinf(until):
        never = "the model never draws" if one else "no more than half of the seeds ever draw"
        counts = "nothing counts" if one else "nothing counts in a seed before it does"
        return f"Pale: {never} two training classes; {counts}."
    if one:
        return "Pale: before the model draws two training classes; nothing counts before it does."
    return (
        "Pale: before half of the seeds draw two training classes; nothing counts in a seed before it does."
    )


def marks_text(
    curves: pd.DataFrame,
    times: pd.DataFrame,
    threshold: float,
    marked: Collection[Hashable],
    measure: str = "accuracy",
) -> str:
    """What the thin lines of `figures.accuracy_by_distance` are, and the marks of `figures.emergence_marks`, which has
    `marked` some distances."""
    classes = figures.select(curves, measure).groupby("distance")["class"].nunique()
    thin = "Thin: single classes. " if (classes > 1).any() else ""
    return thin + _marks(times, threshold, marked)


def _marks(times: pd.DataFrame, threshold: float, marked: Collection[Hashable]) -> str:
    one = times["seed"].nunique() == 1
    if marked:
        first = f"the first of three evaluations in a row at {threshold:g} or above"
        many = f"median over seeds of {first}, with the range over seeds"
        return f"Marks in b: {first if one else many}."
    if not times["time"].notna().any():
        return f"No class stays at accuracy {threshold:g} for three evaluations."
    where = "" if one else " in more than half of the seeds"
    return f"At no distance do all classes stay at accuracy {threshold:g} for three evaluations{where}: no marks."
