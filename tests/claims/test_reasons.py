"""Why a claim is open: a reason for every way there is, and none that is not so."""

from __future__ import annotations

import math

import numpy as np
import pytest

from conceptlab.claims import Claim, PerSeed, Verdict, judge

INF = math.inf
CENSORED = "censored seeds leave either side of the threshold possible: more like these would not decide it"
RESOLUTION = "seeds scatter less than the measurement resolves: its resolution sets the width"


def judged(low, high=None, **changes) -> Verdict:
    ends = np.array(low, float), np.array(low if high is None else high, float)
    settings = {"threshold": 0.0, "side": "above"} | changes
    values = PerSeed(tuple(range(len(low))), *ends)
    claim = Claim("a.b", "a", "b", "It is so.", "a number", lambda _: values, **settings)
    return judge([claim], {}, "paper")[0]


@pytest.mark.parametrize(
    ("found", "why"),
    [
        # Too few seeds, or an effect that is too small.
        (judged([1.0, 0.2, 0.6]), "3 seeds are too few; with this mean and spread 5 seeds would decide it"),
        (judged([1.0, -1.0, 0.01]), "with this mean and spread not even 100 seeds would decide it"),
        (judged([1.0, -1.0]), "with this mean and spread not even 100 seeds would decide it"),
        # The measurement.
        (judged([0.1] * 3, resolution=0.1), f"{RESOLUTION}; with this mean and spread 7 seeds would decide it"),
        (judged([0.0] * 3, resolution=0.1),
         f"{RESOLUTION}; with this mean and spread not even 100 seeds would decide it"),
        (judged([0.0] * 5, side="within", threshold=0.05, resolution=0.045),
         "what is measured is too coarse: no value could be within the bounds with fewer than 6 seeds; "
         "with this mean and spread 6 seeds would decide it"),
        (judged([0.05, -0.04, 0.0], side="within", threshold=0.1),
         "3 seeds are too few; with this mean and spread 4 seeds would decide it"),
        # Censored: what is known decides with more seeds, by its mean or by ranks, or it does not with any.
        (judged([1.0, 0.2, 0.6], [INF] * 3), "3 seeds are too few; 5 seeds like these would decide it"),
        (judged([-INF, 1.0, 1.2, 1.1], [2.0, 1.0, 1.2, 1.1]),
         "4 seeds are too few; 20 seeds like these would decide it"),
        (judged([-INF, 1.0, -INF], [2.0, INF, 0.5]), CENSORED),
        (judged([-1.0, -0.5, -0.7], [1.0, 0.4, 0.6]), CENSORED),
        (judged([-INF] * 3, [0.5, 2.0, 1.0]), CENSORED),
        (judged([0.0] * 3, [INF] * 3, transform="log", threshold=1.0), "3 of 3 seeds have no value and count against"),
        # Without a value.
        (judged([math.nan, 1.0, 1.1, 0.9, 1.2]),
         "1 of 5 seeds have no value and count against; 15 seeds like these would decide it"),
        (judged([math.nan, math.nan, 1.0]), "2 of 3 seeds have no value and count against"),
        (judged([math.nan]), "1 of 1 seeds have no value and count against"),
        (judged([]), "no seed has a value"),
        # Shares of seeds.
        (judged([1, 1, 1, 1, 1], interval="proportion", threshold=0.5),
         "5 seeds are too few; 6 seeds like these would decide it"),
        (judged([1, 0, 1, 0], interval="proportion", threshold=0.5), "not even 100 seeds like these would decide it"),
    ],
)  # fmt: skip
def test_an_open_claim_says_what_leaves_it_open(found, why):
    assert found.verdict == "inconclusive"
    assert found.why == why
    assert why in found.note, "the note has it among all else"


def test_open_on_both_sides_is_told_though_there_is_no_interval_to_see_it_from():
    found = judged([-INF, 1.0, -INF], [2.0, INF, 0.5])
    assert (found.ci_low, found.ci_high, found.why) == (None, None, CENSORED)


def test_a_decided_claim_has_no_reason():
    assert judged([1.0, 1.1, 0.9]).why is None
    fine = judged([1.0] * 3, resolution=0.01)
    assert (fine.verdict, fine.why) == ("reproduced", None)
    assert RESOLUTION in fine.note
    in_spite = judged([math.nan, *np.linspace(1, 2, 11)])
    assert (in_spite.verdict, in_spite.why) == ("reproduced", None)
    assert "1 of 12 seeds have no value" in in_spite.note


def test_more_than_a_hundred_seeds_are_not_told_of_a_hundred():
    many = judged(np.tile([1.0, -1.0], 60))
    assert (many.verdict, many.why) == ("inconclusive", None)
