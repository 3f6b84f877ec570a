"""Seeds that failed stay in every claim, are told, and keep a verdict from being firm."""

from __future__ import annotations

import math

import numpy as np
import pytest

from conceptlab.claims import Claim, Failures, NoData, PerSeed, judge_measured, measure, seeds_text

HOW = "the training loss is not finite at step 300"


def claim(values: dict[int, float], **changes) -> Claim:
    settings = {
        "id": "c", "paper": "p", "figure": "f", "statement": "It grows.", "statistic": "growth",
        "measure": lambda tables: PerSeed.exact(values), "threshold": 0.5, "side": "above",
    }  # fmt: skip
    return Claim(**(settings | changes))


def judged(values: dict[int, float], failures: Failures, **changes):
    return judge_measured(measure([claim(values, **changes)], {}, failures), "paper")[0]


def grown(*seeds: int) -> dict[int, float]:
    return {seed: 1 + 0.01 * seed for seed in seeds}


def test_a_seed_that_failed_counts_against_and_is_told():
    alone = judged(grown(0, 1, 2, 4, 5), Failures())
    assert (alone.verdict, alone.strength, alone.failed) == ("reproduced", "firm", 0)
    found = judged(grown(0, 1, 2, 4, 5), Failures({3: HOW}, seeds=6, failed_members=1, members=6))
    assert (found.verdict, found.seeds, found.censored, found.failed) == ("inconclusive", 6, 0, 1)
    assert f"1 of 6 seeds failed (seed 3: {HOW})" in found.note
    assert "1 of 6 seeds have no value and count against" in found.note
    assert seeds_text(found) == "6 (1 failed)"


def test_enough_seeds_outweigh_one_that_failed():
    """The verdict holds whatever the failed seed would have said, so it may be firm."""
    found = judged(grown(*range(11)), Failures({11: HOW}, seeds=12, failed_members=1, members=12))
    assert (found.verdict, found.strength, found.failed) == ("reproduced", "firm", 1)


def test_a_seed_that_failed_in_part_keeps_its_value_but_not_the_verdict_firm():
    part = Failures({0: HOW}, seeds=5, failed_members=2, members=40)
    found = judged(grown(*range(5)), part)
    assert (found.verdict, found.strength, found.seeds, found.failed) == ("reproduced", "indicative", 5, 1)
    assert "1 of 5 seeds failed, 2 of 40 members (seed 0" in found.note


def test_a_failed_seed_is_no_reason_of_its_own():
    """It is told beside the seeds; what leaves the claim open is that it has no value, or what the others say."""
    failed = Failures({4: HOW}, seeds=5, failed_members=1, members=5)
    assert judged(grown(0, 1, 2, 3), failed).why == (
        "1 of 5 seeds have no value and count against; 15 seeds like these would decide it"
    )
    part = judged({0: 0.51, 1: 0.6, 2: 2.0, 3: 0.7, 4: 0.55}, failed)
    assert part.why == "5 seeds are too few; with this mean and spread 14 seeds would decide it"
    assert judged(grown(*range(5)), failed).why is None


def test_where_there_is_no_value_at_all_the_failure_is_still_told():
    def nothing(tables) -> PerSeed:
        raise NoData("no rows")

    found = judged({}, Failures({0: HOW}, seeds=1, failed_members=1, members=1), measure=nothing)
    assert (found.verdict, found.seeds, found.failed) == ("inconclusive", 0, 1)
    assert "no rows" in found.note
    assert found.why == "no rows"
    assert "seed 0" in found.note


def test_many_failures_are_told_in_short():
    note = Failures(dict.fromkeys(range(9), HOW), seeds=10, failed_members=9, members=10).note
    assert note.startswith("9 of 10 seeds failed (seed 0")
    assert note.endswith("seed 2: " + HOW + ", …)")
    assert Failures(seeds=3).note == ""


@pytest.mark.parametrize(("values", "whole"), [({0: 1.0, 1: 2.0}, 1), ({0: 1.0, 2: math.nan}, 0)])
def test_a_whole_seed_has_a_value_and_no_failed_member(values, whole):
    found = PerSeed.exact(values)
    failures = Failures({0: HOW}, 3, 1, 3)
    assert failures.whole(found) == whole
    assert failures.kept(found).seeds == found.seeds
    assert np.array_equal(failures.kept(PerSeed.exact({1: 2.0})).low, [2.0, -np.inf])
