"""The bar of a claim: its numbers in order, on the scale on which they were judged."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conceptlab.report.bars import interval_bar
from tests.figures import synthetic


def test_the_bar_keeps_the_order_of_its_numbers() -> None:
    straddling = synthetic.verdicts()[1]
    bar = interval_bar(straddling)
    assert bar is not None
    (threshold,) = bar["thresholds"]
    assert 0 < bar["low"] < threshold < bar["value"] < bar["high"] < 100
    open_end = interval_bar(synthetic.verdicts()[2])
    assert open_end is not None
    assert open_end["high"] == 100
    assert interval_bar(synthetic.verdicts()[3]) is None  # an identity has no interval


def test_a_claim_of_two_thresholds_shows_both() -> None:
    """Below the upper one and still open: the lower one says why."""
    within = replace(synthetic.verdicts()[1], floor=0.5, threshold=2.0, value=1.0)
    bar = interval_bar(replace(within, ci_low=0.4, ci_high=1.5))
    assert bar is not None
    low, high = bar["thresholds"]
    assert 0 < bar["low"] < low < bar["value"] < bar["high"] < high < 100


def test_ratios_lie_on_the_scale_on_which_they_were_judged() -> None:
    """As far from 1 on either side: the bar says so, and the value lies in the middle of its interval."""
    judged = replace(synthetic.verdicts()[1], threshold=1.0, value=2.0, ci_low=0.5, ci_high=8.0)
    plain, ratio = interval_bar(judged), interval_bar(replace(judged, transform="log"))
    assert plain is not None
    assert ratio is not None
    assert not plain["log"]
    assert plain["value"] - plain["low"] < (plain["high"] - plain["value"]) / 3
    assert ratio["log"]
    assert ratio["value"] - ratio["low"] == pytest.approx(ratio["high"] - ratio["value"], abs=0.02)
    assert ratio["thresholds"] == [pytest.approx((ratio["low"] + ratio["value"]) / 2, abs=0.02)]
    nothing = interval_bar(replace(judged, transform="log", ci_low=0.0))
    assert nothing is not None
    assert nothing["low"] == 0, "no logarithm: the bar is open at this end"
