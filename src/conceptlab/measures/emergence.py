"""When something emerges: the time a curve first stays above a threshold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

CONSECUTIVE = 3


def at_least(values: ArrayLike, level: float) -> np.ndarray:
    """Which values have reached a level, in single precision, which is what metrics are kept in: the single nearest to
    .95, 19 of 20, is less than the double."""
    return np.asarray(values, dtype=np.float32) >= np.float32(level)


def emergence_time(steps: ArrayLike, values: ArrayLike, threshold: float) -> float:
    """The first of `CONSECUTIVE` evaluations in a row at or above the threshold; NaN if that never happens.

    At the end of a curve there may be fewer evaluations left than that; they do not count as emergence, since a
    single lucky evaluation at the end would. NaN (never) is not the last step: the statistics treat it as censored.
    """
    steps, above = np.asarray(steps), at_least(values, threshold)
    run = 0
    for i, high in enumerate(above):
        run = run + 1 if high else 0
        if run == CONSECUTIVE:
            return float(steps[i - CONSECUTIVE + 1])
    return float("nan")


def last_start(steps: ArrayLike) -> int:
    """Where a time that was never seen is censored: the last evaluation but one, where a class may have emerged
    whose third evaluation in a row was never made."""
    ordered = np.unique(np.asarray(steps))
    return int(ordered[1 - CONSECUTIVE] if len(ordered) >= CONSECUTIVE else ordered[-1])


def drawing_since(accuracies: pd.DataFrame, threshold: float, classes: int | None = None) -> float:
    """Since when a model draws: every class of a table (`step`, `class`, `value`), or at least so many of them, is at
    the threshold or above, for some evaluations in a row. The table is of the training classes; before they are drawn
    images are noise and blots, which a probe takes for some class or other, and nothing may be credited to the model.
    Two classes are enough where all noise looks alike to it; of fewer than are asked for all must be there."""
    best_first = accuracies.groupby(["step", "class"])["value"].mean().groupby("step")
    kth = best_first.apply(lambda values: values.nlargest(classes or len(values)).iloc[-1])
    return emergence_time(kth.index.to_numpy(), kth.to_numpy(), threshold)


def draws_by(
    rows: pd.DataFrame,
    seen: pd.DataFrame,
    by: Sequence[str],
    threshold: float,
    classes: int | None = None,
) -> pd.Series:
    """For every row whether its model draws by then (`drawing_since`). `seen` are the accuracies of training classes,
    `by` names the columns that tell models apart."""
    since = seen.groupby(list(by))[["step", "class", "value"]].apply(
        lambda own: drawing_since(own, threshold, classes)
    )
    return rows["step"] >= rows.join(since.rename("since"), on=list(by))["since"]


def emergence_table(
    metrics: pd.DataFrame,
    threshold: float,
    by: Sequence[str],
    measure: str = "accuracy",
    weights: str = "raw",
) -> pd.DataFrame:
    """Emergence times of the curves of a tidy table, one row for each combination of the columns `by`.

    Where `time` is NaN it is censored at `last` (`last_start`).
    """
    rows = metrics[
        (metrics["measure"] == measure) & (metrics["weights"] == weights) & (metrics["variable"] == "")
    ]
    found = []
    for key, curve in rows.sort_values("step").groupby(list(by), sort=True):
        mean = curve.groupby("step")["value"].mean()
        time = emergence_time(mean.index.to_numpy(), mean.to_numpy(), threshold)
        last = last_start(mean.index.to_numpy())
        found.append({**dict(zip(by, key)), "time": time, "last": last, "final": float(mean.iloc[-1])})
    return pd.DataFrame(found)
