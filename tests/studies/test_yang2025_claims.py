"""Every claim of yang2025 can say all three things, and says `reproduced` in at most 5 % of null data sets."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from conceptlab.claims import Claim, calibrate, judge
from conceptlab.studies.yang2025 import STUDY
from tests.studies import yang2025_tables as fake

CLAIMS = {claim.id.removeprefix("yang2025."): claim for claim in STUDY.claims}


@dataclass(frozen=True)
class Case:
    """A claim's tables, with the size of the effect where it holds, where it fails, and exactly at its threshold."""

    build: fake.Builder
    holds: float
    fails: float
    null: float
    seeds: int = 10


CASES = {
    "fig2.order-mu": Case(fake.half_worst, 1.0, -1.0, 0.0, 6),
    "fig2.order-sigma": Case(fake.half, 1.0, -1.0, 0.0, 6),
    "fig2.flip": Case(fake.half_worst, 1.0, -1.0, 0.0, 6),
    "fig2.rate": Case(fake.prediction, 0.0, 1.0, np.log(1.25)),
    "fig3.depth": Case(fake.networks, 1.0, 0.0, 0.5, 20),
    "fig3.dimension": Case(fake.networks, 1.0, 0.0, 0.5, 20),
    "fig3.one-layer": Case(fake.one_layer, 0.0, 0.5, 0.05, 200),
    "fig4.predicted": Case(fake.tasks, 1.0, 0.5, 0.95, 200),
    "fig5.descents": Case(fake.starts(2), 0.2, 0.0, 0.01, 1000),
    "fig5.typical": Case(fake.starts(2), 0.9, 0.2, 0.5, 100),
    "fig5.cause": Case(fake.starts(2), 1.0, 0.5, 0.95, 200),
    "fig6.non-monotone": Case(fake.bridge, 0.1, -0.1, 0.0),
    "fig6.low-signal": Case(fake.bridge, 0.1, -0.1, 0.0),
    "fig6.speed": Case(fake.bridge, 1.0, -1.0, 0.0),
    "predict.order": Case(fake.foretold, 1.0, -1.0, 0.0),
    "predict.times": Case(fake.foretold, 1.0, -1.0, 0.0),
    "predict.better": Case(fake.rivals, 0.4, -0.4, 0.0),
    "fig7.topological": Case(fake.compositions, 0.05, 3.0, 0.44),
    "fig8.descents": Case(fake.starts(3), 0.2, 0.0, 0.01, 1000),
    "fig9.descents": Case(fake.starts(4), 0.2, 0.0, 0.01, 1000),
    "fig10.failure": Case(fake.failure, 1.0, 0.0, 0.5, 20),
    "map.typical": Case(fake.some_cell(2, 0.1, 4.0), 0.9, 0.2, 0.5, 100),
    "map.sign": Case(fake.pulls, 1.0, 0.5, 0.95, 200),
    "map.equal": Case(fake.some_cell(2, 0.1, 1.0), 0.0, 0.2, 0.01, 1000),
    "map.small-start": Case(fake.some_cell(2, 0.001, 4.0), 0.0, 0.5, 0.05, 200),
    "map.dimension": Case(fake.dimensions, 1.0, 0.0, 0.5, 20),
}
# Figures 11 and 12 judge by the same functions as Figure 2, on the same kind of table.
SAME_AS_FIG2 = {
    f"{figure}.{name}" for figure in ("fig11", "fig12") for name in ("order-mu", "order-sigma", "flip")
}
SAME_AS_FIG5 = {"fig8.descents", "fig9.descents"}  # but for the number of descents
IDENTITIES = ("fig2.closed-form", "fig4.entry-equation", "fig4.turning-point", "fig4.turning-level")


def _verdict(claim: Claim, tables: fake.Tables) -> str:
    return judge([claim], tables, "paper")[0].verdict


def test_every_claim_is_tested() -> None:
    assert set(CLAIMS) == {*CASES, *SAME_AS_FIG2, *IDENTITIES}
    for name in SAME_AS_FIG2:
        twin = CLAIMS["fig2." + name.partition(".")[2]]
        own = dataclasses.replace(CLAIMS[name], id=twin.id, figure=twin.figure, statement=twin.statement)
        assert own == twin


@pytest.mark.parametrize("name", CASES)
def test_says_reproduced_not_reproduced_and_inconclusive(name: str) -> None:
    case, claim, rng = CASES[name], CLAIMS[name], np.random.default_rng(0)
    assert _verdict(claim, case.build(rng, case.seeds, case.holds)) == "reproduced"
    assert _verdict(claim, case.build(rng, case.seeds, case.fails)) == "not reproduced"
    assert _verdict(claim, case.build(rng, case.seeds, case.null)) == "inconclusive"


def _false_positives(name: str, datasets: int) -> float:
    case = CASES[name]
    return calibrate(
        CLAIMS[name], lambda rng: case.build(rng, case.seeds, case.null), datasets=datasets
    ).reproduced


@pytest.mark.parametrize("name", sorted(CASES.keys() - SAME_AS_FIG5))
def test_null_data_rarely_reproduce(name: str) -> None:
    """The first 60 of the 500 data sets below, so that a gross error shows at once."""
    assert _false_positives(name, 60) <= 0.1


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(CASES.keys() - SAME_AS_FIG5))
def test_at_most_one_null_in_twenty_reproduces(name: str) -> None:
    assert _false_positives(name, 500) <= 0.05


def test_null_of_the_topological_claim_is_its_threshold() -> None:
    """With this noise a typical seed has 95 % of pairs in order: neither more often above than below."""
    claim, case = CLAIMS["fig7.topological"], CASES["fig7.topological"]
    values = claim.measure(case.build(np.random.default_rng(1), 1000, case.null)).low
    assert abs((values > claim.threshold).mean() - 0.5) < 0.1


@pytest.mark.parametrize("name", IDENTITIES)
def test_an_identity_fails_by_one_wrong_case(name: str) -> None:
    claim = CLAIMS[name]
    kinds = {"fig4.entry-equation": "entry equation", "fig4.turning-point": "turning point"}
    frame = pd.DataFrame({"case": ["a", "b"], "error": [0.0, claim.threshold / 2]})
    frame = frame.assign(identity=kinds.get(name, "turning level"))
    assert _verdict(claim, {"identity": frame}) == "reproduced"
    frame.loc[1, "error"] = 2 * claim.threshold
    assert _verdict(claim, {"identity": frame}) == "not reproduced"


def test_seeds_that_agree_say_nothing_about_more() -> None:
    """Where all seeds swing in both networks there is no discordant one: inconclusive, with the reason."""
    tables = fake.networks(np.random.default_rng(0), 10, 1.0)
    tables["swings"]["swings"] = True
    verdict = judge([CLAIMS["fig3.depth"]], tables, "paper")[0]
    assert verdict.verdict == "inconclusive"
    assert "exactly one" in verdict.note


def test_a_concept_never_learnt_supports_the_order_but_not_a_factor() -> None:
    tables = fake.half(np.random.default_rng(0), 10, 1.0)
    late = tables["half"].query("panel == 'mu' and mu1 == 1 and concept == 1").index
    tables["half"].loc[late, "time"] = np.nan
    verdict = judge([CLAIMS["fig2.order-mu"]], tables, "paper")[0]
    assert verdict.verdict == "reproduced"
    tables = fake.prediction(np.random.default_rng(0), 10, 0.0)
    tables["half"].loc[tables["half"]["seed"] < 5, "time"] = np.nan
    assert _verdict(CLAIMS["fig2.rate"], tables) == "inconclusive"
