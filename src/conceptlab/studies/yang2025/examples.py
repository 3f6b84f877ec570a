"""Figures 5, 8, 9, 17 and 18: examples of double, triple and quadruple descent of the symmetric network.

The paper shows single runs. Here the start that is shown is picked openly, among random ones that are all counted,
and where a stronger example is known it stands beside it.
"""

from __future__ import annotations

from functools import partial

import pandas as pd

from conceptlab.claims import Claim, NoData, PerSeed, Tables
from conceptlab.studies.study import Figure, Results
from conceptlab.studies.yang2025.examples_figures import draw_centres, draw_entries, draw_losses
from conceptlab.studies.yang2025.settings import FINE_LEVEL, SIGMA, SIZES
from conceptlab.studies.yang2025.swing_claims import share, share_claim
from conceptlab.studies.yang2025.symmetric_runs import Example, example_tables
from conceptlab.theory import Sim, symmetric

DOUBLE = Example(Sim((1.0, 1.5), SIGMA, d=3), steps=2000, scale=0.2)
CLEAR_DOUBLE = Example(Sim((1.0, 2.0), SIGMA), steps=800, start=symmetric.correlated_start(0.01, 0.99))
TRIPLE = Example(Sim((1.0, 1.5, 2.2), SIGMA), steps=10_000)
CLEAR_TRIPLE = Example(
    Sim((1.0, 2.0, 4.0), SIGMA), steps=1500, eta=0.005, start=symmetric.correlated_start(0.01, 0.9, 3)
)
QUADRUPLE = Example(Sim((1.0, 1.5, 2.2, 2.7), (SIGMA, SIGMA, SIGMA, 0.5)), steps=10_000)


def _tables(random: Example, clear: Example | None, results: Results) -> dict[str, pd.DataFrame]:
    return example_tables(random, SIZES[results.scale].starts, clear)


def _minor_falls(tables: Tables) -> PerSeed:
    seen = tables["starts"].dropna(subset=["minor_falls"])
    if seen.empty:
        raise NoData("no start swings")
    return share(seen.set_index("seed")["minor_falls"])


def _existence(figure: str, descents: int, name: str) -> Claim:
    """The paper shows that it can happen; we ask that it be no freak: more than one start in a hundred."""
    return share_claim(
        f"{figure}.descents",
        statement=f"With {descents} concepts the OOD loss can descend {descents} times ({name} descent).",
        statistic=f"share of random starts with at least {descents} descents above {FINE_LEVEL:g} of the starting loss",
        measure=lambda tables: share(tables["starts"].set_index("seed")["descents"] >= descents),
        threshold=0.01,
        side="above",
    )


FIG5_CLAIMS = (
    _existence("fig5", 2, "double"),
    share_claim(
        "fig5.typical",
        statement="From a small random start the OOD loss of the symmetric network is not monotone.",
        statistic=f"share of random starts with a second descent above {FINE_LEVEL:g} of the starting loss",
        measure=lambda tables: share(tables["starts"].set_index("seed")["descents"] >= 2),
        threshold=0.5,
        side="above",
    ),
    share_claim(
        "fig5.cause",
        statement="The OOD loss rises because the minor entry is suppressed.",
        statistic="of starts that swing, the share whose w₁₂ falls during the largest rise",
        measure=_minor_falls,
        threshold=0.95,
        side="above",
    ),
)

FIGURES = (
    Figure(
        id="fig5",
        title="Double descent of the symmetric network",
        shows="Jacobian entries and OOD loss of one random start and of a clear one; descents of all random starts",
        tables=partial(_tables, DOUBLE, CLEAR_DOUBLE),
        draw=draw_entries,
        claims=FIG5_CLAIMS,
    ),
    Figure(
        id="fig8",
        title="Triple descent",
        shows="three concepts: Jacobian entries and OOD loss; descents of all random starts",
        tables=partial(_tables, TRIPLE, CLEAR_TRIPLE),
        draw=draw_entries,
        claims=(_existence("fig8", 3, "triple"),),
    ),
    Figure(
        id="fig9",
        title="Quadruple descent",
        shows="four concepts: Jacobian entries and OOD loss; descents of all random starts",
        tables=partial(_tables, QUADRUPLE, None),
        draw=draw_entries,
        claims=(_existence("fig9", 4, "quadruple"),),
    ),
    Figure(
        id="fig17",
        title="Double descent, with training loss",
        shows="the runs of Figure 5: entries, and OOD loss beside training loss",
        tables=partial(_tables, DOUBLE, CLEAR_DOUBLE),
        draw=draw_losses,
    ),
    Figure(
        id="fig18",
        title="Double descent, with training centres",
        shows="the runs of Figure 5: outputs at the composition and at the training centres, and OOD loss",
        tables=partial(_tables, DOUBLE, CLEAR_DOUBLE),
        draw=draw_centres,
    ),
)
