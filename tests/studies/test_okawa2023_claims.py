"""Every claim of okawa2023 can fail, can be undecided, and rarely holds where there is nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from conceptlab.claims import Claim, PerSeed, Tables, calibrate, judge
from conceptlab.studies.okawa2023 import STUDY
from tests.studies import okawa_tables as fake

CLAIMS = {claim.id.removeprefix("okawa2023."): claim for claim in STUDY.claims}
SEEDS = 5
_JITTER = np.array([-0.02, 0.01, 0.0, 0.02, -0.01])
_STRADDLE = np.array([-0.5, 0.4, 0.45, -0.4, 0.05])


def _verdict(claim: Claim, tables: fake.Tables) -> str:
    return judge([claim], tables, "paper")[0].verdict


def _values(claim: Claim, shifts: np.ndarray) -> np.ndarray:
    return fake.around(claim.threshold, claim.transform == "log", shifts)


def test_every_claim_is_tested() -> None:
    assert set(CLAIMS) == {*fake.VALUES, *fake.TRENDS, "fig7.closed-form"}


@pytest.mark.parametrize("name", fake.VALUES)
def test_values_beyond_short_of_and_astride_the_threshold(name: str) -> None:
    claim, build = CLAIMS[name], fake.VALUES[name]
    good, bad = (0.9, -0.9) if claim.side == "above" else (-0.9, 0.9)
    if claim.side == "within":
        good = -1.1  # near 1 on the log scale
    assert _verdict(claim, build(_values(claim, good + _JITTER))) == "reproduced"
    assert _verdict(claim, build(_values(claim, bad + _JITTER))) == "not reproduced"
    assert _verdict(claim, build(_values(claim, _STRADDLE))) == "inconclusive"


@pytest.mark.parametrize("name", fake.TRENDS)
def test_trends_for_against_and_mixed(name: str) -> None:
    build = fake.TRENDS[name]
    rise = np.tile(np.arange(6.0), (SEEDS, 1))
    mixed = rise * np.array([1, -1, 1, -1, 1])[:, None]
    # Seeds must not tie exactly: two neighbours are swapped in some of them.
    rise[:2, :2] = rise[:2, 1::-1]
    assert _verdict(CLAIMS[name], build(rise)) == "reproduced"
    assert _verdict(CLAIMS[name], build(-rise)) == "not reproduced"
    assert _verdict(CLAIMS[name], build(mixed)) == "inconclusive"


@pytest.mark.parametrize("name", fake.VALUES)
def test_values_at_the_threshold_are_rarely_reproduced(name: str) -> None:
    claim = CLAIMS[name]
    values = _values(claim, 0.3 * np.random.default_rng(1).standard_normal(SEEDS))
    if name == "threshold.predicted":
        values = np.maximum(values, 1.0)  # a factor between two numbers
    # The statistic is exactly what the tables were made from; so the many null data sets need no tables.
    found = claim.measure(fake.VALUES[name](values))
    assert found.low == pytest.approx(values, abs=1e-12)

    def null(tables: Tables) -> PerSeed:
        return PerSeed.exact(dict(enumerate(tables["null"]["value"])))

    direct = replace(claim, measure=null)

    def draw(rng: np.random.Generator) -> Tables:
        return {"null": pd.DataFrame({"value": _values(claim, 0.3 * rng.standard_normal(SEEDS))})}

    assert calibrate(direct, draw, datasets=500).reproduced <= 0.05


@pytest.mark.parametrize("name", fake.TRENDS)
def test_random_orders_are_rarely_reproduced(name: str) -> None:
    build = fake.TRENDS[name]
    rates = calibrate(CLAIMS[name], lambda rng: build(rng.standard_normal((SEEDS, 6))), datasets=500)
    assert rates.reproduced <= 0.05


def test_the_identity_fails_by_one_wrong_value() -> None:
    claim = CLAIMS["fig7.closed-form"]
    assert _verdict(claim, fake.toy(0.01)) == "reproduced"
    assert _verdict(claim, fake.toy(0.03)) == "not reproduced"


def test_what_never_emerges_supports_the_order_but_not_the_bottleneck() -> None:
    later = fake.VALUES["fig5.order"](2.0 + _JITTER)
    never = later["times"].assign(time=later["times"]["time"].where(later["times"]["distance"] < 2))
    never["last"] = 1000.0
    assert _verdict(CLAIMS["fig5.order"], {"times": never}) == "reproduced"
    stuck = fake.VALUES["fig6.bottleneck"](np.ones(SEEDS))["bottleneck"].assign(time=np.nan, last=1000.0)
    assert _verdict(CLAIMS["fig6.bottleneck"], {"bottleneck": stuck}) == "inconclusive"


def test_nothing_to_judge_is_inconclusive() -> None:
    assert {verdict.verdict for verdict in judge(STUDY.claims, {}, "paper")} == {"inconclusive"}
