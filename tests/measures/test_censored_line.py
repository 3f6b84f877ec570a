"""A line through times of which some were never reached: exact where nothing is censored, unbiased where much is."""

from __future__ import annotations

import numpy as np
import pytest

from conceptlab.measures.censored_line import fit_censored_line, shortfall

REACHED = np.zeros(40, dtype=bool)


def test_without_censoring_it_is_least_squares():
    rng = np.random.default_rng(0)
    x = rng.uniform(100, 900, 40)
    y = 50 + 3 * x + rng.normal(0, 40, 40)
    line = fit_censored_line(x, y, REACHED)
    slope, intercept = np.polyfit(x, y, 1)
    assert line is not None
    assert (line.slope, line.intercept) == pytest.approx((slope, intercept), rel=1e-3)
    assert line.spread == pytest.approx((y - line(x)).std(), rel=0.01)
    level = fit_censored_line(x, y, REACHED, flat=True)
    assert level is not None
    assert (level.slope, level.intercept) == (0.0, pytest.approx(y.mean(), rel=1e-3))


def test_what_was_never_reached_bends_the_line_up_to_where_it_truly_is():
    """Half of the times lie beyond the last step; leaving them out, or taking them to be the last step, does not."""
    slopes, naive = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x = rng.uniform(0, 10, 60)
        true = 2 * x + rng.normal(0, 2, 60)
        never, y = true > 10, np.minimum(true, 10)
        line = fit_censored_line(x, y, never)
        assert line is not None
        slopes.append(line.slope)
        naive.append([np.polyfit(x[~never], y[~never], 1)[0], np.polyfit(x, y, 1)[0]])
    assert np.mean(slopes) == pytest.approx(2, abs=0.15)
    assert (np.mean(naive, axis=0) < 1.75).all()


def test_too_little_makes_no_line():
    x, y = np.arange(5.0), np.arange(5.0)
    assert fit_censored_line(x, y, np.array([False, False, True, True, True])) is None
    assert fit_censored_line(np.ones(5), y, np.zeros(5, bool)) is None
    assert fit_censored_line(np.ones(5), y, np.zeros(5, bool), flat=True) is not None


def test_a_prediction_beyond_the_last_step_is_right_where_it_was_never_reached():
    off = shortfall([5.0, 5.0, 12.0, 7.0], [4.0, 6.0, 10.0, 10.0], [False, False, True, True])
    assert off.tolist() == [-1.0, 1.0, 0.0, 3.0]
