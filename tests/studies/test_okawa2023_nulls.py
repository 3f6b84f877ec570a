"""Learners without the effect that a claim of okawa2023 is about: whatever else they have, it is not reproduced."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from conceptlab.claims import Verdict, judge
from conceptlab.studies.okawa2023 import STUDY
from conceptlab.studies.okawa2023.order import toy_fits
from conceptlab.theory.toy import success_probability
from tests.studies import okawa_tables as fake

CLAIMS = {claim.id.removeprefix("okawa2023."): claim for claim in STUDY.claims}
SEEDS = 5


def _judged(name: str, tables: fake.Tables) -> Verdict:
    return judge([CLAIMS[name]], tables, "paper")[0]


# --- Figure 7 ---


def _learner(kind: str) -> fake.Tables:
    """Mean curves at distances 1 to 3: abilities that multiply, that are never combined, or that come all together."""
    steps, parts = np.arange(1, 41) * 50, []
    for seed in range(SEEDS):
        noise = np.random.default_rng(seed)
        rate = 0.002 * np.exp(0.2 * noise.standard_normal())
        for variables, distance in ((3, 1), (3, 2), (4, 1), (4, 2), (4, 3)):
            n = distance if kind == "multiplies" else 1
            curve = success_probability(steps, rate, n)
            if kind.startswith("never") and distance > 1:
                curve = 0 * curve
            if kind != "never at all":
                curve = np.clip(curve + 0.02 * noise.standard_normal(len(steps)), 0, 1)
            keys = {"seed": seed, "variables": variables, "distance": distance}
            parts.append(pd.DataFrame({"step": steps, "value": curve, **keys}))
    return {"fits": toy_fits(pd.concat(parts, ignore_index=True))}


@pytest.mark.parametrize(
    ("kind", "verdict"),
    [
        ("multiplies", "reproduced"),
        ("never", "not reproduced"),
        ("all together", "not reproduced"),
        # Nothing is drawn, so the guess that nothing ever is has no error: no ratio is smaller, and none is a number.
        ("never at all", "inconclusive"),
    ],
)
def test_the_toy_model_tells_only_what_multiplies(kind: str, verdict: str) -> None:
    found = _judged("fig7.predicts", _learner(kind))
    assert found.verdict == verdict
    if kind == "never at all":
        assert found.seeds == found.censored == SEEDS  # they count against it
        assert found.value is None
        assert "no value" not in found.note


def test_one_curve_that_the_toy_model_misses_is_enough() -> None:
    fits = _learner("multiplies")["fits"]
    missed = fits.assign(rmse=fits["rmse"].where(fits["distance"] < 3, 2 * fits["never"]))
    assert _judged("fig7.predicts", {"fits": missed}).verdict == "not reproduced"


# --- Figure 10 ---


def test_a_delay_by_distance_alone_is_no_delay_of_a_gender() -> None:
    """Of men three classes in four are held out, of women one: men are later by that alone."""
    jitter = np.exp(0.02 * np.random.default_rng(0).standard_normal((5, SEEDS)))
    groups = [("male", 0), ("female", 0), ("male", 1), ("female", 1), ("male", 2)]
    times = {group: 100 * 4.0 ** group[1] * factor for group, factor in zip(groups, jitter)}
    assert _judged("fig10.gender", fake.gender(times)).verdict == "inconclusive"
    later = {(g, d): time * (2 if g == "male" else 1) for (g, d), time in times.items()}
    assert _judged("fig10.gender", fake.gender(later)).verdict == "reproduced"


# --- Figure 13 ---


def test_a_class_that_the_probes_read_differently_is_not_averaged_away() -> None:
    share = fake.VALUES["fig13.probes"](np.full(SEEDS, 0.01))["disagreement"]
    seven = [share[share["class"] == "000"].assign(**{"class": f"{i}"}) for i in range(7)]
    worst = share[share["class"] == "111"].assign(value=0.2 + 0.01 * np.arange(SEEDS))
    assert _judged("fig13.probes", {"disagreement": share}).verdict == "reproduced"
    tables = {"disagreement": pd.concat([*seven, worst])}
    assert tables["disagreement"]["value"].mean() < CLAIMS["fig13.probes"].threshold
    assert _judged("fig13.probes", tables).verdict == "not reproduced"
