"""Per-seed values, times and statistics on tables with known answers."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from conceptlab.claims import (
    NoData,
    PerSeed,
    accuracy_resolution,
    censored_times,
    correlation,
    correlation_difference,
    difference,
    final_value,
    geometric_mean,
    group_times,
    ordering,
    outcome_per_seed,
    permuted,
    ratio,
    slope,
    smallest,
    value_per_seed,
    within_correlation,
)
from conceptlab.errors import InputError

INF = math.inf


def bounds(values: PerSeed) -> dict:
    return {seed: (float(lo), float(hi)) for seed, lo, hi in zip(values.seeds, values.low, values.high)}


def test_a_missing_value_is_unknown_and_stays():
    values = PerSeed.exact({1: 0.5, 2: math.nan})
    assert bounds(values) == {1: (0.5, 0.5), 2: (-INF, INF)}
    assert (len(values), values.censored, values.unknown, values.is_exact) == (2, 1, 1, False)


@pytest.mark.parametrize(
    ("seeds", "low", "high", "message"),
    [
        ((1, 1), [0, 0], [0, 0], "twice"),
        ((1,), [0, 1], [0, 1], "2 and 2"),
        ((1,), [1], [0], "above its upper"),
    ],
)
def test_impossible_values_are_refused(seeds, low, high, message):
    with pytest.raises(InputError, match=message):
        PerSeed(seeds, np.array(low), np.array(high))


def test_arithmetic_carries_bounds_and_keeps_unpaired_seeds():
    a = PerSeed((1, 2, 3), np.array([4.0, 4, 1]), np.array([4.0, INF, 1]))
    b = PerSeed((1, 2), np.array([2.0, 1]), np.array([2.0, 2]))
    assert bounds(difference(a, b)) == {1: (2, 2), 2: (2, INF), 3: (-INF, INF)}
    assert bounds(ratio(a, b)) == {1: (2, 2), 2: (2, INF), 3: (0, INF)}
    assert bounds(smallest([a, b])) == {1: (2, 2), 2: (1, 2), 3: (-INF, 1)}
    mean = bounds(geometric_mean([a, b]))
    assert mean == {1: pytest.approx((8**0.5, 8**0.5)), 2: (2, INF), 3: (0, INF)}
    with pytest.raises(InputError, match="negative"):
        ratio(PerSeed.exact({1: -1.0}), b)
    with pytest.raises(NoData):
        smallest([])
    with pytest.raises(NoData):
        geometric_mean([])


def test_interval_arithmetic_contains_every_possible_truth():
    rng = np.random.default_rng(0)
    truth_a, truth_b = rng.uniform(0.1, 3, (2, 200))
    seeds = tuple(range(200))

    def blurred(truth):
        low = np.where(rng.random(200) < 0.3, truth * rng.random(200), truth)
        return PerSeed(seeds, low, np.where(rng.random(200) < 0.3, INF, truth))

    a, b = blurred(truth_a), blurred(truth_b)
    for result, truth in (
        (difference(a, b), truth_a - truth_b),
        (ratio(a, b), truth_a / truth_b),
        (smallest([a, b]), np.minimum(truth_a, truth_b)),
        (geometric_mean([a, b]), np.sqrt(truth_a * truth_b)),
    ):
        assert (result.low <= truth + 1e-12).all()
        assert (truth - 1e-12 <= result.high).all()


def test_times_never_reached_and_times_reached_at_once_are_bounds():
    frame = censored_times(pd.Series([50, 100, 400, math.nan, 2000]), first=100, last=1000)
    assert frame.to_numpy().tolist() == [[0, 100], [0, 100], [400, 400], [1000, INF], [1000, INF]]
    with pytest.raises(InputError, match="positive"):
        censored_times(pd.Series([1.0]), first=0, last=10)
    with pytest.raises(NoData, match="more than one evaluation"):
        censored_times(pd.Series([1.0]), first=10, last=10)


def test_ratios_and_order_of_censored_times():
    rows = [
        (1, 0, 100), (1, 0, 400), (1, 1, 400), (1, 2, 800),  # 200 → 400 → 800
        (2, 0, 100), (2, 0, 100), (2, 1, math.nan), (2, 2, 900),  # the middle group never came
        (3, 0, 100), (3, 0, 100), (3, 1, 200), (3, 2, math.nan),  # the last group never came
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["seed", "distance", "time"])
    groups = group_times(frame, "distance", first=10, last=1000)
    assert groups[0].low == pytest.approx([200, 100, 100])
    ahead = ratio(groups[2], groups[1])
    assert ahead.low == pytest.approx([2, 0, 5])
    assert ahead.high == pytest.approx([2, 0.9, INF])
    order = ordering([groups[0], groups[1], groups[2]])
    assert order.low == pytest.approx([2, 0, 2])
    assert order.high == pytest.approx([2, 0.9, 2])
    with pytest.raises(NoData):
        ordering([groups[0]])
    with pytest.raises(InputError, match="no column 'hue'"):
        group_times(frame, "hue", first=10, last=1000)
    absent = group_times(frame[(frame.seed != 3) | (frame.distance != 2)], "distance", first=10, last=1000)
    assert bounds(absent[2])[3] == (-INF, INF)
    # Nor is a mean over fewer classes the same number.
    fewer = group_times(frame.drop(index=[8]), "distance", first=10, last=1000)
    assert bounds(fewer[0])[3] == (-INF, INF)
    assert bounds(fewer[0])[1] == pytest.approx((200, 200))


def test_a_correlation_over_fewer_settings_is_unknown():
    frame = pd.DataFrame(
        {"seed": [1] * 5 + [2] * 3, "x": [1, 2, 3, 4, 5, 1, 2, 3], "y": [2, 1, 3, 4, 5, 1, 2, 3]}
    )
    found = correlation(frame, "x", "y")
    assert found.low[0] == pytest.approx(0.9)
    assert bounds(found)[2] == (-INF, INF)


def test_final_values_ignore_no_seed_and_no_class():
    frame = pd.DataFrame(
        {
            "seed": [1, 1, 1, 1, 2, 2, 3, 3, 3],
            "step": [0, 0, 9, 9, 0, 0, 0, 9, 9],
            "class": ["01", "11", "01", "11", "01", "11", "01", "01", "11"],
            "value": [0.1, 0.2, 0.9, 0.7, 1.0, 1.0, 0.0, 0.8, math.nan],
        }
    )
    assert bounds(final_value(frame, "min")) == {1: (0.7, 0.7), 2: (-INF, INF), 3: (-INF, INF)}
    assert final_value(frame.dropna(), "mean").low == pytest.approx([0.8, -INF, -INF])
    assert bounds(value_per_seed(frame[frame.seed == 1], "max")) == {1: (0.9, 0.9)}
    with pytest.raises(NoData):
        final_value(frame[frame.seed == 7])
    with pytest.raises(InputError, match="no column 'accuracy'"):
        value_per_seed(frame, value="accuracy")


def _settings(y, seeds=1):
    return pd.DataFrame(
        {"seed": np.repeat(range(seeds), len(y)), "d": list(range(len(y))) * seeds, "y": y * seeds}
    )


def test_rank_correlations_agree_with_scipy():
    y = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0]
    found = correlation(_settings(y), "d", "y")
    assert found.is_exact
    assert found.low == pytest.approx(stats.spearmanr(range(6), y).statistic)
    assert correlation(_settings([1.0, 1.0, 1.0]), "d", "y").unknown == 1
    assert correlation(_settings([1.0, math.nan, 2.0]), "d", "y").unknown == 1


def test_rank_correlation_with_times_never_reached_is_bounded_by_every_order_they_could_have():
    known = [5.0, 3.0, 2.0]
    possible = []
    for ends in itertools.permutations([10.0, 11.0, 12.0]):
        possible.append(
            stats.spearmanr(range(6), [ends[0], known[0], ends[1], known[1], ends[2], known[2]]).statistic
        )
    censored = _settings([INF, known[0], INF, known[1], INF, known[2]])
    found = correlation(censored, "d", "y")
    assert found.low == pytest.approx(min(possible))
    assert found.high == pytest.approx(max(possible))
    # The other way round, too; where both have several, nothing is known.
    assert correlation(censored, "y", "d").low == pytest.approx(min(possible))
    assert correlation(censored, "y", "d").high == pytest.approx(max(possible))
    assert correlation(censored.assign(d=censored["y"]), "d", "y").unknown == 1
    # One alone has the top rank for certain.
    assert bounds(correlation(_settings([1.0, 2.0, INF]), "y", "d")) == {
        0: (pytest.approx(1), pytest.approx(1))
    }


def test_rank_correlation_is_bounded_on_both_sides_where_ratios_have_no_end_on_either():
    known, possible = [5.0, 3.0], []
    for low, high in itertools.product(
        itertools.permutations([-2.0, -1.0]), itertools.permutations([10.0, 11.0])
    ):
        possible.append(
            stats.spearmanr(range(6), [low[0], known[0], high[0], low[1], high[1], known[1]]).statistic
        )
    open_ended = _settings([-INF, known[0], INF, -INF, INF, known[1]])
    for columns in (("d", "y"), ("y", "d")):
        found = correlation(open_ended, *columns)
        assert (found.low, found.high) == (pytest.approx(min(possible)), pytest.approx(max(possible)))
    # One alone on each side has its rank for certain.
    assert bounds(correlation(_settings([-INF, 2.0, INF]), "y", "d")) == {
        0: (pytest.approx(1), pytest.approx(1))
    }


def test_rank_correlation_is_bounded_where_two_that_were_never_reached_may_come_together():
    """At the same distance they may come at the same evaluation, which is nearer to the order of distances."""
    distance, known = [1, 1, 2, 2, 2], [1.0, 2.0]
    possible = [
        stats.spearmanr(distance, [*known, *ends]).statistic
        for ends in itertools.product(range(3, 6), repeat=3)
    ]
    for sign in (1, -1):
        frame = pd.DataFrame({"seed": 1, "d": distance, "y": [*known, INF, INF, INF]})
        found = correlation(frame.assign(d=sign * frame["d"]), "d", "y")
        ends = sorted((sign * min(possible), sign * max(possible)))
        assert (found.low, found.high) == (pytest.approx(ends[0]), pytest.approx(ends[1]))


def test_a_difference_of_rank_correlations_is_paired_and_bounded_by_every_order():
    coarse, fine, known = [1, 1, 1, 1, 2, 2], [1.0, 2, 2, 3, 4, 4], [1.0, 2.0, 1.5]
    possible = []
    for ends in itertools.product([10.0, 11.0, 12.0], repeat=3):
        y = [*known, *ends]
        possible.append(stats.spearmanr(fine, y).statistic - stats.spearmanr(coarse, y).statistic)
    frame = pd.DataFrame({"seed": 1, "fine": fine, "coarse": coarse, "y": [*known, INF, INF, INF]})
    found = correlation_difference(frame, "fine", "coarse", "y")
    assert found.low == pytest.approx(min(possible))
    assert found.high == pytest.approx(max(possible))
    assert bounds(correlation_difference(frame, "fine", "fine", "y")) == {1: (0, 0)}
    assert correlation_difference(frame.assign(coarse=1), "fine", "coarse", "y").unknown == 1
    assert correlation_difference(frame.assign(y=math.nan), "fine", "coarse", "y").unknown == 1
    assert correlation_difference(frame, "y", "coarse", "fine").unknown == 1


def test_slopes_are_least_squares():
    y = [1.0, 3.0, 2.0, 6.0]
    assert slope(_settings(y), "d", "y").low == pytest.approx(np.polyfit(range(4), y, 1)[0])
    assert slope(_settings([1.0, INF, 2.0]), "d", "y").unknown == 1


def test_within_correlation_is_blind_to_a_shared_trend():
    rng = np.random.default_rng(1)
    seed, d = (index.ravel() for index in np.indices((400, 3)))
    noise, other = rng.normal(size=(2, 1200))
    trend = pd.DataFrame({"seed": seed, "d": d, "x": 10 * d + noise, "y": 10 * d + other})
    assert np.corrcoef(trend.x, trend.y)[0, 1] > 0.9
    assert abs(within_correlation(trend, "x", "y", "d").low.mean()) < 0.1
    linked = trend.assign(y=10 * trend.d - 2 * noise)
    assert within_correlation(linked, "x", "y", "d").low.mean() == pytest.approx(-1)
    holed = linked.assign(y=linked.y.where(linked.seed != 7))
    assert within_correlation(holed, "x", "y", "d").unknown == 1


def test_outcomes_and_resolution():
    frame = pd.DataFrame({"seed": [1, 1, 2], "ok": [True, False, True]})
    assert bounds(outcome_per_seed(frame, "ok")) == {1: (0, 0), 2: (1, 1)}
    assert outcome_per_seed(frame.assign(ok=[1.0, math.nan, 1.0]), "ok").unknown == 1
    assert accuracy_resolution(0.95, 1000) == pytest.approx(0.00689, abs=1e-5)
    with pytest.raises(InputError, match="strictly"):
        accuracy_resolution(1.0, 10)


def test_permuting_labels_keeps_each_seeds_values_and_labels():
    frame = pd.DataFrame(
        {"seed": np.repeat([1, 2], 6), "distance": np.tile([0, 0, 1, 1, 2, 2], 2), "time": range(12)}
    )
    fresh = permuted(frame, "distance", np.random.default_rng(0))
    assert (fresh["time"] == frame["time"]).all()
    assert (fresh["distance"] != frame["distance"]).any()
    for _, rows in fresh.groupby("seed"):
        assert sorted(rows["distance"]) == [0, 0, 1, 1, 2, 2]
    with pytest.raises(InputError, match="no column"):
        permuted(frame, "hue", np.random.default_rng(0))
