"""What quickstart and custom both count and claim of the emergence of classes; okawa2023 counts it so, too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from conceptlab.claims import SHARE, Claim, PerSeed, group_times, ordering
from conceptlab.figures import select
from conceptlab.measures import draws_by, emergence_table
from conceptlab.studies.study import Tables

THRESHOLD = 0.8
"""The accuracy at which a class counts as learnt."""


def begun(curves: pd.DataFrame, measure: str = "accuracy", by: Sequence[str] = ()) -> pd.Series:
    """For every row whether its model draws by then: two training classes are at the threshold. A judge takes the noise
    of an untrained network for some class, at the first evaluations and often for a held-out one; for two training
    classes, each where it was asked for, it cannot take it. `by` names what tells members of one seed apart."""
    joint = select(curves, measure)
    return draws_by(curves, joint[joint["distance"] == 0], ["seed", *by], THRESHOLD, classes=2)


def drawn_by_half(curves: pd.DataFrame, measure: str = "accuracy") -> float:
    """The step from which half of the seeds draw; infinite if they never do."""
    first = curves["step"].where(begun(curves, measure)).groupby(curves["seed"]).min()
    return float(first.fillna(np.inf).median())


def emergence(curves: pd.DataFrame, by: Sequence[str] = (), measure: str = "accuracy") -> pd.DataFrame:
    """When each class emerges in each seed, since the model draws; `by` names further columns to keep."""
    credited = curves.assign(value=curves["value"].where(begun(curves, measure), 0.0))
    found = emergence_table(credited, THRESHOLD, by=["seed", "class", "distance", *by], measure=measure)
    return found.drop(columns="final")  # what a model that never draws ends at is none of these times


def order_claim(study: str, statement: str) -> Claim:
    """Distances emerge one after the other."""
    return Claim(
        id=f"{study}.order",
        paper=study,
        figure="emergence",
        statement=statement,
        statistic=f"smallest ratio of consecutive emergence times (accuracy {THRESHOLD}, counted since two training "
        "classes are drawn) over distances, each the geometric mean of its classes",
        measure=_order,
        threshold=1.0,
        side="above",
        transform="log",
    )


def final_claim(
    id_: str, statement: str, worst_of: str, measure: Callable[[Tables], PerSeed], **more: Any
) -> Claim:
    """At the end even the worst of some classes is drawn."""
    return Claim(
        id=id_,
        paper=id_.partition(".")[0],
        figure="emergence",
        statement=statement,
        statistic=f"final accuracy of the worst {worst_of}",
        measure=measure,
        threshold=THRESHOLD,
        side="above",
        limits=SHARE,
        **more,
    )


def _order(tables: Tables) -> PerSeed:
    times, first = tables["times"], float(tables["curves"]["step"].min())
    groups = group_times(times, by="distance", first=first, last=float(times["last"].max()))
    return ordering(list(groups.values()))
