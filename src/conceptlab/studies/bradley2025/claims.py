"""What bradley2025 claims of length generalisation, as sentences that data can contradict."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from conceptlab.claims import Claim, NoData, PerSeed, Tables, difference, value_per_seed
from conceptlab.studies.bradley2025.settings import SIZES
from conceptlab.studies.bradley2025.tables import WHOLE

RANGES = (3, 5)
"""Largest numbers of objects in training for which claims are made: with one, experiments 1 and 2 are the same."""
_KEPT = "mean share of conditions met at all K beyond training, relative to the share at the largest trained number"


def scales_of(trained: int) -> tuple[str, ...]:
    """The scales at which there are members of a training range."""
    return tuple(scale for scale, size in SIZES.items() if trained in size.trained)


def of_experiment(rows: pd.DataFrame, experiment: str, trained: int) -> pd.DataFrame:
    """The members of one experiment at one training range."""
    chosen = rows[(rows["experiment"] == experiment) & (rows["trained"] == trained)]
    if chosen.empty:
        raise NoData(f"no member of experiment {experiment} trained on 1–{trained} objects")
    return chosen


def _chosen(tables: Tables, column: str, experiment: str, trained: int, reach: int | None = None) -> PerSeed:
    rows = tables["summary"]
    rows = of_experiment(rows if reach is None else rows[rows["reach"] == reach], experiment, trained)
    found = value_per_seed(rows, value=column)
    return _bounded(found, rows) if column == "k_max" else found


def _bounded(k_max: PerSeed, rows: pd.DataFrame) -> PerSeed:
    """A K_max as large as the most conditions asked for may be any larger one: only its lower end is known."""
    most = rows.groupby("seed")["most"].min().reindex(list(k_max.seeds)).to_numpy()
    return PerSeed(k_max.seeds, k_max.low, np.where(k_max.high >= most, np.inf, k_max.high))


def _further(column: str, one: str, other: str, trained: int, tables: Tables) -> PerSeed:
    """How much more one experiment keeps than another, seed by seed."""
    return difference(_chosen(tables, column, one, trained), _chosen(tables, column, other, trained))


def _length(
    name: str, statement: str, statistic: str, column: str, one: str, other: str, trained: int
) -> Claim:
    return Claim(
        id=f"bradley2025.{name}-{trained}",
        paper="bradley2025",
        figure="length",
        statement=f"{statement} (trained on 1–{trained} objects)",
        statistic=statistic,
        measure=partial(_further, column, one, other, trained),
        threshold=0.0,
        side="above",
        scales=scales_of(trained),
    )


LENGTH = tuple(
    claim
    for trained in RANGES
    for claim in (
        _length(
            "all-labelled-further",
            "With all objects labelled the share of met conditions is kept further than with one",
            f"{_KEPT}, experiment 1 less 2",
            "kept",
            "1",
            "2",
            trained,
        ),
        _length(
            "local-further",
            "With one object labelled, enforced locality keeps the share further than a network that sees everything",
            f"{_KEPT}, experiment 3 less 2",
            "kept",
            "3",
            "2",
            trained,
        ),
        _length(
            "local-furthest",
            "Enforced locality keeps the share further than labelling all objects does",
            f"{_KEPT}, experiment 3 less 1",
            "kept",
            "3",
            "1",
            trained,
        ),
        _length(
            "local-k-max",
            "Enforced locality raises K_max",
            "K_max of experiment 3 less that of experiment 2, a lower bound where all that was asked for is kept",
            "k_max",
            "3",
            "2",
            trained,
        ),
    )
)


def _less_reach(tables: Tables) -> PerSeed:
    """The kept share at the reach of experiment 3 less that of the same network with the whole image in reach."""
    rows = tables["summary"]
    reaches = sorted(reach for reach in rows["reach"].unique() if reach != WHOLE)
    if len(reaches) < 2:
        raise NoData("the sweep has fewer than two reaches")
    trained, own = (int(rows[name].iloc[0]) for name in ("trained", "experiment_reach"))
    near = _chosen(tables, "kept", "3", trained, own)
    return difference(near, _chosen(tables, "kept", "3", trained, int(reaches[-1])))


K_SWEEP = (
    Claim(
        id="bradley2025.reach",
        paper="bradley2025",
        figure="k-sweep",
        statement="The same network keeps its share less far when the whole image is in its reach.",
        statistic=f"{_KEPT}, reach of experiment 3 less whole-image reach, parameters equal",
        measure=_less_reach,
        threshold=0.0,
        side="above",
    ),
)
