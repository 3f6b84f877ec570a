"""Claims about when Swing-by happens: in which networks (Figure 3), from which starts (the map)."""

from __future__ import annotations

from typing import Any

import pandas as pd

from conceptlab.claims import Claim, NoData, PerSeed, Tables
from conceptlab.studies.yang2025.settings import LEVEL, claim_of


def discordant(first: pd.Series, second: pd.Series) -> PerSeed:
    """Seeds (the index) that swing in exactly one of two settings, as 1 where it is the first.

    Seeds that do the same in both say nothing about which swings more; of those that differ, half would be
    either way by chance. Judge it as a proportion against ½.
    """
    seeds = first.index.intersection(second.index)
    outcome = first[seeds].astype(float)
    differ = outcome[outcome != second[seeds].astype(float)]
    if differ.empty:
        raise NoData("no seed swings in exactly one of the two settings")
    return PerSeed.exact(differ)


def share(outcomes: pd.Series) -> PerSeed:
    """One outcome per seed (the index) as 0 or 1."""
    if outcomes.empty:
        raise NoData("no seed to take a share of")
    return PerSeed.exact(outcomes.astype(float))


def share_claim(name: str, **settings: Any) -> Claim:
    """A claim about the share of seeds that do something; `name` begins with the figure's."""
    return claim_of(name, interval="proportion", **settings)


def _swings(tables: Tables, d: str, depth: int) -> pd.Series:
    swings = tables["swings"]
    return swings[(swings["dimension"] == d) & (swings["depth"] == depth)].set_index("seed")["swings"]


FIG3 = (
    share_claim(
        "fig3.depth",
        statement="Deeper networks swing more: in two dimensions, four layers more often than one.",
        statistic=f"of seeds that swing (by {LEVEL:.0%}) with exactly one of 4 and 1 layers, the share with 4",
        measure=lambda tables: discordant(_swings(tables, "low", 4), _swings(tables, "low", 1)),
        threshold=0.5,
        side="above",
    ),
    share_claim(
        "fig3.dimension",
        statement="Lower-dimensional networks swing more: four layers in d = 2 more often than in the high dimension.",
        statistic=f"of seeds that swing (by {LEVEL:.0%}) in exactly one of the two dimensions, the share in d = 2",
        measure=lambda tables: discordant(_swings(tables, "low", 4), _swings(tables, "high", 4)),
        threshold=0.5,
        side="above",
    ),
    share_claim(
        "fig3.one-layer",
        statement="One layer from a small start does not swing: its coordinates evolve independently.",
        statistic=f"share of random starts of one layer whose OOD loss swings by more than {LEVEL:.0%}",
        measure=lambda tables: share(tables["one_layer"].groupby("seed")["swings"].any()),
        threshold=0.05,
        side="below",
    ),
)


def _cells(tables: Tables, **where: float) -> pd.DataFrame:
    """The starts of the cells with these values of `d`, `scale` or `ratio`."""
    starts = tables["starts"]
    for column, value in where.items():
        starts = starts[starts[column] == value]
    return starts


def _any_swing(rows: pd.DataFrame) -> pd.Series:
    return (rows["swing"] > LEVEL).groupby(rows["seed"]).any()


def _positive_among_swingers(tables: Tables) -> PerSeed:
    rows = _cells(tables, d=2)
    swinging = rows[(rows["ratio"] > 1) & (rows["swing"] > LEVEL)]
    return share((swinging["pull"] > 0).groupby(swinging["seed"]).all())


def _lower_dimension(tables: Tables) -> PerSeed:
    typical = _cells(tables, scale=0.1, ratio=4)
    dimensions = typical["d"].unique()
    if len(dimensions) < 2:
        raise NoData("the map has only one dimension at this scale")
    low, high = (_any_swing(typical[typical["d"] == d]) for d in (min(dimensions), max(dimensions)))
    return discordant(low, high)


MAP = (
    share_claim(
        "map.typical",
        statement="A small random start makes the OOD loss fall, rise and fall again (d = 2, τ = .1, a₂/a₁ = 4).",
        statistic=f"share of random starts that swing by more than {LEVEL:.0%} of the starting loss",
        measure=lambda tables: share(_any_swing(_cells(tables, d=2, scale=0.1, ratio=4))),
        threshold=0.5,
        side="above",
    ),
    share_claim(
        "map.sign",
        statement="In two dimensions Swing-by needs a minor entry that points to the composition: w₁₂(0) > 0.",
        statistic=f"of starts that swing by more than {LEVEL:.0%} in some cell with d = 2, the share with w₁₂(0) > 0",
        measure=_positive_among_swingers,
        threshold=0.95,
        side="above",
    ),
    share_claim(
        "map.equal",
        statement="Concepts of equal strength do not swing: there is no second descent without an order.",
        statistic=f"share of starts that swing by more than {LEVEL:.0%} in any cell with a₂/a₁ = 1",
        measure=lambda tables: share(_any_swing(_cells(tables, ratio=1))),
        threshold=0.01,
        side="below",
    ),
    share_claim(
        "map.small-start",
        statement="A very small start hides the swing: minor entries peak at W(0)^((1-a₁/a₂)/2).",
        statistic=f"share of starts that swing by more than {LEVEL:.0%} at τ = .001 in any cell",
        measure=lambda tables: share(_any_swing(_cells(tables, scale=0.001))),
        threshold=0.05,
        side="below",
    ),
    share_claim(
        "map.dimension",
        statement="The symmetric network swings more in low dimension than in high (τ = .1, strength ratio 4).",
        statistic=f"of starts that swing (by {LEVEL:.0%}) in exactly one of the lowest and highest d, the share in "
        "the lowest",
        measure=_lower_dimension,
        threshold=0.5,
        side="above",
    ),
)
