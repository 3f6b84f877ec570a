"""What quickstart and custom both claim of the emergence of classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conceptlab.claims import SHARE, Claim, PerSeed, group_times, ordering
from conceptlab.studies.study import Tables

THRESHOLD = 0.8
"""The accuracy at which a class counts as learnt."""


def order_claim(study: str, statement: str) -> Claim:
    """Distances emerge one after the other."""
    return Claim(
        id=f"{study}.order",
        paper=study,
        figure="emergence",
        statement=statement,
        statistic=f"smallest ratio of consecutive emergence times (accuracy {THRESHOLD}) over distances, each the "
        "geometric mean of its classes",
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
