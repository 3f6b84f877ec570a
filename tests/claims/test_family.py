"""The claims of a paper judged together: Holm, and what it is worth on nulls."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from conceptlab.claims import (
    calibrate,
    final_value,
    group_times,
    holm,
    judge,
    judge_measured,
    measure,
    ordering,
    permuted,
)
from tests.claims.making import claim, verdict


def test_holm_on_a_known_example():
    # Step-down at .05/4, .05/3, .05/2: the third fails and stops the rest.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.05 / 3, 0.025, 0.025, 0.0125])
    assert holm([0.2, 0.9]) == pytest.approx([0.025, 0.025])
    assert holm([0.01, 0.03]) == pytest.approx([0.025, 0.05])
    assert holm([0.025, 0.5]) == pytest.approx([0.025, 0.05]), "a p-value at its level passes"
    assert holm([]) == []


# Five seeds whose p-value is .03: decided at the level .05, and not at .025.
BORDERLINE = [1 / 3, 4 / 3, 7 / 3, 10 / 3, 13 / 3]


@pytest.mark.parametrize(
    ("values", "equivalence", "other"),
    [
        # One side of the bounds is excluded for certain, the other is not: undecided, so the family stops at .05 / 2.
        ([-0.09, -0.11, -0.07, -0.1, -0.08], "inconclusive", "inconclusive"),
        ([0.09, 0.11, 0.07, 0.1, 0.08], "inconclusive", "inconclusive"),
        # Decided first, within the bounds or out of them on either side: what is left is tested at .05.
        ([0.01, -0.02, 0.0, 0.02, -0.01], "reproduced", "reproduced"),
        ([1, 1.1, 0.9, 1.2, 1], "not reproduced", "reproduced"),
        ([-1, -1.1, -0.9, -1.2, -1], "not reproduced", "reproduced"),
    ],
)
def test_an_equivalence_takes_its_place_among_other_claims_by_the_side_that_decides(
    values, equivalence, other
):
    both = [claim(values, side="within", threshold=0.1), claim(BORDERLINE, id="c2")]
    assert [judged.verdict for judged in judge(both, {}, "paper")] == [equivalence, other]


def test_holm_is_per_paper_and_the_shown_interval_decides():
    rng = np.random.default_rng(5)
    for _ in range(40):
        claims = [
            claim(rng.normal(rng.choice([0, 1, 3]), 1, 5), id=f"c{i}", paper="ab"[i % 2]) for i in range(8)
        ]
        for judged in judge(claims, {}, "paper"):
            expected = "reproduced" if judged.ci_low > 0 else "not reproduced" if judged.ci_high < 0 else None
            assert judged.verdict == (expected or "inconclusive")
    one = verdict([1, 2, 3, 4, 5])
    other_paper = judge([claim([1, 2, 3, 4, 5]), claim([0, 1, -1], id="c2", paper="other")], {}, "paper")[0]
    same_paper = judge([claim([1, 2, 3, 4, 5]), claim([0, 1, -1], id="c2")], {}, "paper")[0]
    assert other_paper.ci_low == one.ci_low > same_paper.ci_low
    # What has no value cannot be a chance hit and costs nothing.
    assert judge([claim([1, 2, 3, 4, 5]), claim([], id="c2")], {}, "paper")[0].ci_low == one.ci_low


def test_ten_null_claims_reproduce_anything_in_at_most_5_percent_of_papers():
    rng = np.random.default_rng(6)
    hits = 0
    for _ in range(200):
        claims = [claim(rng.normal(size=5), id=f"c{i}") for i in range(10)]
        hits += any(v.verdict == "reproduced" for v in judge(claims, {}, "paper"))
    assert hits <= 10


def test_figures_judged_together_form_one_family():
    first, second = claim([1, 2, 3, 4, 5]), claim([0, 1, -1], id="c2", figure="fig2")
    together = judge_measured(measure([first], {}) + measure([second], {}), "paper")
    assert together == judge([first, second], {}, "paper")


def _times(rng, n, last, delay):
    """Eight classes at distances 0, 1 and 2; each distance comes `delay` times later than the one before."""
    distance = np.array([0, 0, 0, 0, 1, 1, 1, 2])
    times = np.exp(rng.normal(7, 0.3, (n, 8)) + math.log(delay) * distance)
    frame = pd.DataFrame({"seed": np.repeat(np.arange(n), 8), "distance": np.tile(distance, n)})
    return {"times": frame.assign(time=np.where(times > last, np.nan, times).ravel())}


@pytest.mark.parametrize(("n", "last"), [(3, 1e5), (4, 1400), (5, 1100), (10, 1400)])
def test_order_of_times_says_nothing_on_nulls_however_many_are_censored(n, last):
    def ratios(tables):
        groups = group_times(tables["times"], "distance", first=10, last=last)
        return ordering([groups[d] for d in sorted(groups)])

    ordered = claim(measure=ratios, threshold=1.0, transform="log")
    rates = calibrate(ordered, lambda rng: _times(rng, n, last, 1.0), datasets=100)
    assert rates.reproduced <= 0.05

    def shuffled(rng):  # a real effect, whose tie to distance is broken
        return {"times": permuted(_times(rng, n, 1e5, 3.0)["times"], "distance", rng)}

    assert calibrate(ordered, shuffled, datasets=100).reproduced <= 0.05


def test_order_of_times_has_power_also_when_the_last_group_is_never_reached():
    def ratios(tables):
        groups = group_times(tables["times"], "distance", first=10, last=6000)
        return ordering([groups[d] for d in sorted(groups)])

    ordered = claim(measure=ratios, threshold=1.0, transform="log")
    rates = calibrate(ordered, lambda rng: _times(rng, 5, 6000, 2.5), datasets=60)
    assert rates.reproduced >= 0.8
    backwards = calibrate(ordered, lambda rng: _times(rng, 5, 6000, 0.4), datasets=60)
    assert backwards.not_reproduced >= 0.8


def test_a_null_claim_is_calibrated_through_the_whole_path_and_a_clear_effect_is_found():
    grown = claim(measure=lambda tables: final_value(tables["curve"]), threshold=0.5)

    def curves(shift):
        def simulate(rng):
            frame = pd.DataFrame({"seed": np.repeat(np.arange(5), 2), "step": np.tile([0, 100], 5)})
            return {"curve": frame.assign(value=rng.normal(0.5 + shift, 0.1, 10))}

        return simulate

    null = calibrate(grown, curves(0.0), datasets=500)
    assert null.reproduced <= 0.05
    assert null.not_reproduced <= 0.05
    assert calibrate(grown, curves(0.4), datasets=50).reproduced >= 0.95
    assert calibrate(grown, curves(-0.4), datasets=50).not_reproduced >= 0.95
    assert calibrate(grown, curves(0.02), datasets=50).inconclusive >= 0.8
