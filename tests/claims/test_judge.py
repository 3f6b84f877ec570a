"""Verdicts: each outcome, and each way of having too little."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest

from conceptlab.claims import (
    NoData,
    PerSeed,
    definitions_hash,
    final_value,
    judge,
    outcome_per_seed,
    to_json,
)
from conceptlab.errors import InputError
from tests.claims.making import claim, verdict


@pytest.mark.parametrize(
    ("values", "side", "threshold", "outcome"),
    [
        ([1, 1.1, 0.9, 1.2, 1], "above", 0.5, "reproduced"),
        ([1, 1.1, 0.9, 1.2, 1], "above", 2.0, "not reproduced"),
        ([1, 1.1, 0.9, 1.2, 1], "above", 1.0, "inconclusive"),
        ([1, 1.1, 0.9, 1.2, 1], "below", 2.0, "reproduced"),
        ([1, 1.1, 0.9, 1.2, 1], "below", 0.5, "not reproduced"),
        ([0.01, -0.02, 0.0, 0.02, -0.01], "within", 0.1, "reproduced"),
        ([1, 1.1, 0.9, 1.2, 1], "within", 0.1, "not reproduced"),
        ([-1, -1.1, -0.9, -1.2, -1], "within", 0.1, "not reproduced"),
        ([0.1, -0.2, 0.0, 0.2, -0.1], "within", 0.1, "inconclusive"),
    ],
)
def test_the_verdict_follows_from_where_the_interval_lies(values, side, threshold, outcome):
    judged = verdict(values, side=side, threshold=threshold)
    assert judged.verdict == outcome
    assert judged.ci_low < judged.value < judged.ci_high


def test_strength_is_firm_only_with_five_seeds_at_paper_scale():
    five, four = [1, 1.1, 0.9, 1.2, 1], [1, 1.1, 0.9, 1.2]
    assert verdict(five).strength == "firm"
    assert verdict(five, scale="small").strength == "indicative"
    assert verdict(four).strength == "indicative"
    assert verdict([*four, math.nan]).strength == "indicative"


@pytest.mark.parametrize("values", [[], [3.0], [math.nan], [math.nan] * 6, [math.inf, 1.0]])
@pytest.mark.parametrize("transform", ["none", "log", "fisher"])
@pytest.mark.parametrize("side", ["above", "below"])
def test_too_little_is_inconclusive_and_never_a_crash(values, transform, side):
    judged = verdict(values, transform=transform, threshold=0.5, side=side)
    assert judged.verdict == "inconclusive"
    json.dumps(to_json([judged]), allow_nan=False)


@pytest.mark.parametrize("transform", ["none", "log", "fisher"])
def test_what_is_unknown_in_every_seed_has_no_value_and_burdens_no_other_claim(transform):
    known = claim([1, 1.1, 0.9, 1.2, 1])
    nothing = claim([math.nan] * 5, id="c2", transform=transform, threshold=0.5)
    alone, (beside, empty) = judge([known], {}, "paper")[0], judge([known, nothing], {}, "paper")
    assert (beside.ci_low, beside.ci_high) == (alone.ci_low, alone.ci_high)
    assert (empty.value, empty.ci_low, empty.ci_high) == (None, None, None)


def test_missing_tables_and_missing_rows_say_so():
    missing = judge([claim(measure=lambda tables: final_value(tables["accuracy"]))], {}, "tiny")[0]
    assert (missing.verdict, missing.seeds, missing.value) == ("inconclusive", 0, None)
    assert missing.note.startswith("no table 'accuracy'")

    def nothing(tables):
        raise NoData("no distance-2 class in this split")

    assert "distance-2" in judge([claim(measure=nothing)], {}, "tiny")[0].note


def test_tied_seeds_decide_only_with_a_stated_resolution():
    assert verdict([1.0] * 10, threshold=0.95).verdict == "inconclusive"
    assert "tie" in verdict([1.0] * 10, threshold=0.95).note
    fine = verdict([1.0] * 3, threshold=0.95, resolution=0.007)
    assert (fine.verdict, fine.strength) == ("reproduced", "indicative")
    assert fine.ci_low < 1
    assert "resol" in fine.note
    # Fifty images cannot tell .95 from 1 with three seeds.
    assert verdict([1.0] * 3, threshold=0.95, resolution=0.031).verdict == "inconclusive"


def test_an_equivalence_says_when_no_value_could_have_shown_it():
    coarse = {"side": "within", "threshold": 0.05, "resolution": 0.045}
    five = verdict([0.0] * 5, **coarse)
    assert five.verdict == "inconclusive"
    assert "fewer than 6 seeds" in five.note
    six = verdict([0.0] * 6, **coarse)
    assert six.verdict == "reproduced"
    assert (
        "coarse"
        not in verdict([0.1, -0.1, 0.1, -0.1, 0.0], side="within", threshold=0.05, resolution=0.001).note
    )


def test_scales_are_shown_in_the_units_of_the_statistic():
    judged = verdict([2.0, 8.0, 4.0, 4.0, 4.0], transform="log", threshold=1.0)
    assert judged.value == pytest.approx(4.0)
    assert judged.ci_low * judged.ci_high == pytest.approx(16.0)
    assert (judged.transform, verdict([1.0, 2.0, 3.0]).transform) == ("log", "none")
    perfect = verdict([1.0, 1.0, 0.9, 1.0, 0.8], transform="fisher", threshold=0.5)
    assert perfect.verdict == "reproduced"
    assert perfect.ci_high < 1
    near = verdict([1.02, 0.97, 1.01, 0.99, 1.0], transform="log", side="within", threshold=1.1)
    assert near.verdict == "reproduced"
    assert near.statistic.endswith("claimed within 0.9091 … 1.1")
    assert near.floor == 1 / 1.1, "not what was rounded for the sentence"
    assert verdict([0.01, -0.02, 0.0], side="within", threshold=0.1).floor == -0.1
    assert verdict([1.02, 0.97, 1.01], transform="log", threshold=1.1).floor is None


def test_an_interval_ends_where_the_statistic_does_and_decides_as_it_was():
    wide = verdict([0.1, 0.95, 0.3, 0.9, 0.9], threshold=0.95)
    told = verdict([0.1, 0.95, 0.3, 0.9, 0.9], threshold=0.95, limits=(0.0, 1.0))
    assert wide.ci_high > 1
    assert (told.ci_low, told.ci_high) == (wide.ci_low, 1.0)
    assert (told.verdict, told.value, told.note) == (wide.verdict, wide.value, wide.note)
    # The lowest a share can be is the threshold: what is told touches it, what decided crosses it.
    assert verdict([0.0, 0.0, 0.1, 0.0, 0.0], threshold=0.0, limits=(0.0, 1.0)).verdict == "inconclusive"


@pytest.mark.parametrize(
    ("transform", "limits", "ends"),
    [
        ("none", (-math.inf, math.inf), (None, 1.0)),
        ("none", (0.0, 1.0), (0.0, 1.0)),
        ("log", (-math.inf, math.inf), (0.0, 1.0)),
    ],
)
def test_an_end_that_is_left_open_lies_where_the_statistic_ends(transform, limits, ends):
    """Of eight seeds it is known that each is 1 at the most: no ratio is below 0."""
    bounds = PerSeed(tuple(range(8)), np.full(8, 0.0 if transform == "log" else -math.inf), np.full(8, 1.0))
    changes = {"transform": transform, "limits": limits, "threshold": 0.5, "resolution": 1e-9}
    (found,) = judge([claim(measure=lambda tables: bounds, **changes)], {}, "paper")
    assert (found.ci_low, found.ci_high) == pytest.approx(ends, abs=1e-6)
    assert found.verdict == "inconclusive"


def test_shares_of_seeds_use_the_exact_binomial():
    def share(outcomes, **changes):
        frame = pd.DataFrame({"seed": range(len(outcomes)), "ok": outcomes})
        counted = claim(measure=lambda t: outcome_per_seed(t["runs"], "ok"), interval="proportion", **changes)
        return judge([counted], {"runs": frame}, "paper")[0]

    assert share([True] * 5, threshold=0.5).verdict == "inconclusive"
    assert share([True] * 6, threshold=0.5).verdict == "reproduced"
    nowhere = share([False] * 1000, threshold=0.01, side="below")
    assert nowhere.verdict == "reproduced"
    assert nowhere.ci_high == pytest.approx(0.00368, abs=1e-5)
    # A seed without an outcome may be either: what is shown stays a share, and within its interval.
    unknown = share([True] * 60 + [False] * 39 + [None], threshold=0.5)
    assert unknown.value == pytest.approx(0.605)
    assert "middle of bounds on the share" in unknown.note
    assert share([None, None], threshold=0.5).value is None


def test_identities_compare_the_largest_error_and_stay_out_of_holm():
    exact = {"kind": "identity", "side": "below", "threshold": 1e-9}
    assert verdict([1e-12, -2e-10], **exact).verdict == "reproduced"
    assert verdict([1e-9], **exact).verdict == "reproduced", "the tolerance itself is tolerated"
    failed = verdict([1e-12, -2e-8], **exact)
    assert (failed.verdict, failed.value, failed.ci_low) == ("not reproduced", 2e-8, None)
    assert verdict([math.nan, 0.0], **exact).verdict == "not reproduced"
    nothing = verdict([], **exact)
    assert (nothing.verdict, nothing.why, failed.why) == ("inconclusive", "no case has a value", None)
    alone = verdict([1, 2, 3, 4])
    beside = judge(
        [claim([1, 2, 3, 4]), *(claim([0.0], id=f"i{i}", **exact) for i in range(9))], {}, "paper"
    )[0]
    assert (beside.ci_low, beside.ci_high) == (alone.ci_low, alone.ci_high)


def test_the_fingerprint_moves_with_every_fixed_setting_and_not_with_the_order():
    a, b = claim(), claim(id="c2")
    assert definitions_hash([a, b]) == definitions_hash([b, a])
    for change in (
        {"threshold": 0.1}, {"side": "below"}, {"resolution": 0.1}, {"id": "c3"},
        {"statement": "It is otherwise."}, {"statistic": "another number"}, {"figure": "fig99"},
        {"kind": "identity", "side": "below", "transform": "none"},
    ):  # fmt: skip
        assert definitions_hash([claim(**change), b]) != definitions_hash([a, b])
    assert verdict([1, 2, 3]).note.endswith(f"; definitions {definitions_hash([a])}")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"side": "abov"}, "did you mean 'above'"),
        ({"transform": "log"}, "positive"),
        ({"transform": "fisher", "threshold": 1.0}, "within"),
        ({"side": "within"}, "positive threshold"),
        ({"kind": "identity"}, "side 'below'"),
        ({"interval": "proportion", "threshold": 2.0}, "between 0 and 1"),
        ({"threshold": math.nan}, "finite"),
        ({"threshold": 2.0, "limits": (0.0, 1.0)}, "within the limits"),
        ({"resolution": -1.0}, "finite"),
    ],
)
def test_a_claim_that_cannot_be_judged_is_refused_at_once(changes, message):
    with pytest.raises(InputError, match=message):
        claim(**changes)


def test_a_negative_ratio_is_refused():
    with pytest.raises(InputError, match="negative"):
        verdict([-1.0, 2.0], transform="log", threshold=1.0)
