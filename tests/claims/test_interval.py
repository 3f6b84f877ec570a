"""Intervals against exact answers, and the error rates a sceptic would ask for."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from conceptlab.claims import PerSeed
from conceptlab.claims.interval import (
    bounds_decide,
    centre,
    outcomes_to_decide,
    proportion_interval,
    proportion_p,
    seeds_to_decide,
    student_interval,
    student_p,
)
from conceptlab.errors import InputError


def exact(values) -> PerSeed:
    return PerSeed.exact(dict(enumerate(np.asarray(values, dtype=float))))


def bounded(low, high) -> PerSeed:
    return PerSeed(tuple(range(len(low))), np.array(low, float), np.array(high, float))


def test_the_student_interval_is_scipys():
    values = [1.0, 2.0, 4.0, 3.0]
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert student_interval(exact(values), 0.05) == pytest.approx((expected.low, expected.high))


def test_the_guard_widens_an_interval_that_a_short_seed_contradicts():
    values = [1.0, 1.0, 1.1, 0.9, 1.05, -0.05]
    student = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert student.low > 0
    assert student_interval(exact(values), 0.05)[0] == -0.05


def test_resolution_is_a_floor_on_the_spread():
    low, high = student_interval(exact([1.0, 1.0, 1.0]), 0.05, resolution=0.01)
    assert high - 1 == pytest.approx(1 - low) == pytest.approx(stats.t.isf(0.025, 2) * 0.01 / math.sqrt(3))


def test_open_ends_fall_back_to_exact_sign_bounds():
    low = [1.0, 2, 3, 4, 5, 6, 7, 8, 9, -math.inf]
    values = bounded(low, [math.inf] * 10)
    # P(Binomial(10, ½) ≤ 1) = 11/1024 ≤ 2.5 %: the second smallest is the bound.
    assert student_interval(values, 0.05) == (1.0, math.inf)
    assert student_p(values, 0.5) == (pytest.approx(2 * 11 / 1024), 1.0)
    # Five seeds cannot exclude anything by ranks alone at this level.
    assert student_interval(bounded(low[-5:], [math.inf] * 5), 0.05)[0] == -math.inf


def test_clopper_pearson_is_scipys_and_unknown_seeds_widen_it():
    expected = stats.binomtest(7, 9).proportion_ci(0.95, method="exact")
    outcomes = [1] * 7 + [0] * 2
    assert proportion_interval(exact(outcomes), 0.05) == pytest.approx((expected.low, expected.high))
    low, high = proportion_interval(exact([*outcomes, math.nan]), 0.05)
    assert low == pytest.approx(stats.binomtest(7, 10).proportion_ci(method="exact").low)
    assert high == pytest.approx(stats.binomtest(8, 10).proportion_ci(method="exact").high)
    assert proportion_interval(exact([0] * 1000), 0.05)[1] == pytest.approx(1 - 0.025 ** (1 / 1000))
    with pytest.raises(InputError, match="0 or 1"):
        proportion_interval(exact([0.5, 1.0]), 0.05)


def test_a_threshold_is_excluded_exactly_when_p_is_below_alpha():
    """Holm works with p-values, the reader sees intervals: they must say the same, always."""
    rng = np.random.default_rng(3)
    decided = 0
    for _ in range(600):
        n, alpha, bar = int(rng.integers(2, 12)), float(rng.choice([0.05, 0.01, 0.2])), float(rng.normal())
        low = rng.normal(0.7, 1, n).round(1)
        high = low + rng.choice([0, 0, 1, math.inf], n)
        low = np.where(rng.random(n) < 0.05, -math.inf, low)
        values, resolution = bounded(low, high), float(rng.choice([0.1, 0.5]))
        ends, (above, below) = student_interval(values, alpha, resolution), student_p(values, bar, resolution)
        assert (ends[0] > bar, ends[1] < bar) == (above <= alpha, below <= alpha)
        decided += ends[0] > bar or ends[1] < bar
        share, outcomes = rng.uniform(0.05, 0.95), exact(rng.random(n) < 0.6)
        ends, (above, below) = proportion_interval(outcomes, alpha), proportion_p(outcomes, share)
        assert (ends[0] > share, ends[1] < share) == (above <= alpha, below <= alpha)
    assert decided > 50


def test_the_value_shown_is_the_mean_or_a_median_that_survives_censoring():
    assert centre(exact([1, 2, 6])) == (3.0, "", None)
    assert centre(bounded([1, 2, 3], [1, 2, math.inf])) == (2.0, "value is the median over seeds", None)
    lower, upper = bounded([1, 2, 3], [1, math.inf, math.inf]), bounded([-math.inf] * 3, [1, 2, 3])
    assert centre(lower) == (2.0, "value is a lower bound on the median", "lower")
    assert centre(upper) == (2.0, "value is an upper bound on the median", "upper")
    middle = centre(bounded([-1, 0, 1], [1, 2, 3]))
    assert middle == (1.0, "value is the middle of bounds on the median", None)
    assert centre(exact([math.nan] * 2)) == (None, "", None)
    assert centre(exact([])) == (None, "", None)


# Null distributions with median 0: one half of all seeds lies on either side of the threshold.
def test_the_number_of_seeds_that_would_decide_is_the_first_at_which_the_interval_leaves_the_bar():
    values, alpha = exact([0.05, 1.0, 0.5, 2.0, 0.2]), 0.01
    mean, spread = values.low.mean(), np.std(values.low, ddof=1)
    needed = seeds_to_decide(values, 0.0, alpha)
    assert needed is not None
    assert needed > 5

    def low(n: int) -> float:
        return float(stats.t.interval(1 - alpha, n - 1, mean, spread / math.sqrt(n))[0])

    assert low(needed) > 0 >= low(needed - 1)
    assert seeds_to_decide(exact(-values.low), 0.0, alpha) == needed  # below the bar as above it


def test_seeds_that_contradict_must_be_outvoted_too():
    values = [1.0, 1.1, 0.9, 1.05, -0.05]
    assert stats.ttest_1samp(values, 0).confidence_interval(0.9).low > 0
    needed = seeds_to_decide(exact(values), 0.0, 0.1)
    assert needed is not None
    contradict = math.ceil(needed / 5)
    assert stats.binomtest(contradict, needed, alternative="less").pvalue <= 0.05
    assert stats.binomtest(math.ceil((needed - 1) / 5), needed - 1, alternative="less").pvalue > 0.05


def test_where_ranks_decide_the_number_of_seeds_is_theirs():
    """One seed in five has no lower bound: as many of more are outvoted from some number on."""

    def like(n: int) -> PerSeed:
        lost = math.ceil(n / 5)
        return bounded([-math.inf] * lost + [1.0 + 0.1 * i for i in range(n - lost)], [math.inf] * n)

    for alpha in (0.05, 0.01):
        needed = seeds_to_decide(like(5), 0.0, alpha)
        assert needed is not None
        assert student_interval(like(needed), alpha)[0] > 0
        assert not any(student_interval(like(n), alpha)[0] > 0 for n in range(5, needed))


def test_an_equivalence_is_decided_by_so_many_seeds_as_take_both_ends_off_both_bars():
    def ends(values: PerSeed, n: int, alpha: float) -> tuple[float, float]:
        spread = np.std(values.low, ddof=1) / math.sqrt(n)
        return stats.t.interval(1 - alpha, n - 1, values.low.mean(), spread)

    inside, alpha = exact([0.03, -0.01, 0.06, 0.02]), 0.01
    needed = seeds_to_decide(inside, 0.08, alpha, within=True)
    assert needed is not None
    assert needed > 4
    assert ends(inside, needed, alpha)[1] < 0.08 <= ends(inside, needed - 1, alpha)[1]
    assert ends(inside, needed, alpha)[0] > -0.08
    for outside in (exact(0.11 + inside.low), exact(-0.11 - inside.low)):
        needed = seeds_to_decide(outside, 0.08, alpha, within=True)
        assert needed is not None
        assert (
            np.abs(ends(outside, needed, alpha)).min()
            > 0.08
            >= np.abs(ends(outside, needed - 1, alpha)).min()
        )


def test_a_share_is_decided_by_so_many_outcomes_as_its_interval_says():
    def like(n: int) -> PerSeed:
        return exact([1] * math.ceil(5 * n / 7) + [0] * (n - math.ceil(5 * n / 7)))

    needed = outcomes_to_decide(like(7), 0.95, 0.01)
    assert needed is not None
    assert proportion_interval(like(needed), 0.01)[1] < 0.95
    assert not any(proportion_interval(like(n), 0.01)[1] < 0.95 for n in range(7, needed))
    mirrored = exact(1 - like(7).low)
    assert outcomes_to_decide(mirrored, 0.05, 0.01) == needed
    assert outcomes_to_decide(exact([0, 1, 0, 1]), 0.5, 0.05) is None


def test_bounds_on_both_sides_leave_a_claim_open_with_any_number_of_seeds():
    assert bounds_decide(exact([-1.0, 2.0]), 0.0)
    assert bounds_decide(bounded([1.0, -0.5], [2.0, math.inf]), 0.0)
    assert not bounds_decide(bounded([-1.0, -0.5], [2.0, 1.0]), 0.0)
    assert not bounds_decide(bounded([-math.inf] * 3, [1.0, 2.0, -0.5]), 0.0)
    # Within the bars on either side, but for one end that is not known.
    assert not bounds_decide(bounded([-math.inf] * 3, [0.1, 0.0, 0.2]), 0.5, within=True)
    assert bounds_decide(bounded([-math.inf] * 3, [-0.6, -0.7, -0.9]), 0.5, within=True)


def test_no_number_of_seeds_is_told_where_none_would_do():
    assert seeds_to_decide(exact([-1.0, 1.0, -1.0, 1.0]), 0.0, 0.05) is None
    assert seeds_to_decide(bounded([-math.inf] * 3, [math.inf] * 3), 0.0, 0.05) is None
    assert seeds_to_decide(bounded([0.1, -0.2, math.nan], [1, 1, 1]), 0.0, 0.05) is None


NULLS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "student t, 3 degrees": lambda rng, shape: rng.standard_t(3, shape),
    "uniform": lambda rng, shape: rng.uniform(-1, 1, shape),
    "exponential": lambda rng, shape: rng.exponential(size=shape) - math.log(2),
    "lognormal": lambda rng, shape: rng.lognormal(0, 0.5, shape) - 1,
    "bounded, at a ceiling": lambda rng, shape: rng.beta(19, 1, shape) - stats.beta.median(19, 1),
    "many ties": lambda rng, shape: np.round(rng.normal(0, 0.7, shape)),
    "coin": lambda rng, shape: rng.integers(0, 2, shape) - 0.5,
}


@pytest.mark.parametrize("n", [3, 4, 5, 10])
@pytest.mark.parametrize("name", NULLS)
def test_nulls_of_every_shape_are_decided_on_either_side_in_at_most_5_percent(name, n):
    draws = NULLS[name](np.random.default_rng(11), (2000, n))
    p = np.array([student_p(exact(row), 0.0) for row in draws])
    assert ((p <= 0.05).mean(axis=0) <= 0.05).all()


# Null distributions as docs/claims.md names them.
TOLD = {
    "normal": NULLS["normal"],
    "Student t, 3 degrees": NULLS["student t, 3 degrees"],
    "uniform": NULLS["uniform"],
    "exponential": NULLS["exponential"],
    "lognormal, σ = .5": NULLS["lognormal"],
    "at a ceiling, Beta(19, 1)": NULLS["bounded, at a ceiling"],
    "two narrow humps, half the seeds in each": lambda rng, shape: (
        rng.integers(0, 2, shape) - 0.5 + rng.normal(0, 0.01, shape)
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TOLD)
def test_the_error_rates_that_are_told_are_the_true_ones(name):
    text = (Path(__file__).parents[2] / "docs" / "claims.md").read_text(encoding="utf-8")
    alone, together = re.findall(rf"^\| {re.escape(name)} \| (.*) \|$", text, re.MULTILINE)
    draws, family = 40_000, 26
    of_any = dict(zip((3, 5, 7, 8, 10), together.split("|"), strict=False))
    for n, cell in zip((3, 4, 5, 7, 8, 10), alone.split("|"), strict=True):
        values = TOLD[name](np.random.default_rng(14), (draws, n))
        p = np.array([student_p(exact(one), 0.0) for one in values])
        check_rates(cell, (p <= 0.05).mean(axis=0), draws, n)
        if n in of_any:
            # Holm's rule decides none of them unless it decides the one of smallest p.
            one = float((p <= 0.05 / family).any(axis=1).mean())
            check_rates(of_any[n], np.array([1 - (1 - one) ** family]), draws / family, n)


def check_rates(cell: str, found: np.ndarray, draws: float, n: int) -> None:
    """Four standard errors, and what is lost to rounding."""
    told = np.array([float(rate) for rate in re.findall(r"[\d.]+", cell)]) / 100
    allowed = 4 * np.sqrt(found * (1 - found) / draws) + 0.0005
    assert (np.abs(told - found) <= allowed).all(), (n, cell, found)


@pytest.mark.parametrize("n", [5, 6, 7, 8, 10, 20])
def test_from_five_seeds_on_even_two_humped_nulls_hold(n):
    rng = np.random.default_rng(12)
    draws = rng.integers(0, 2, (2000, n)) - 0.5 + rng.normal(0, 0.01, (2000, n))
    p = np.array([student_p(exact(row), 0.0) for row in draws])
    assert ((p <= 0.05).mean(axis=0) <= 0.05).all()


@pytest.mark.parametrize("images", [50, 1000])
@pytest.mark.parametrize("n", [3, 4, 5, 10])
def test_accuracies_at_the_threshold_hold_with_the_resolution_of_their_images(images, n):
    draws = np.random.default_rng(13).binomial(images, 0.95, (2000, n)) / images
    resolution = math.sqrt(0.95 * 0.05 / images)
    p = np.array([student_p(exact(row), 0.95, resolution) for row in draws])
    assert ((p <= 0.05).mean(axis=0) <= 0.05).all()
