from __future__ import annotations

import itertools

import numpy as np
import pytest

from conceptlab.errors import InputError
from conceptlab.theory import toy


@pytest.mark.parametrize("n", [1, 2, 4])
def test_closed_form_is_the_simulation(n: int) -> None:
    runs, steps, p = 20_000, 60, 0.08
    measured = toy.simulate(p, n, steps, runs, seed=n)
    exact = toy.success_probability(np.arange(steps + 1), p, n)
    # five standard errors at every step
    assert (np.abs(measured - exact) <= 5 * np.sqrt(exact * (1 - exact) / runs) + 1e-12).all()


@pytest.mark.parametrize(("p", "n", "level"), [(0.05, 3, 0.5), (1e-4, 4, 0.9), (0.9, 1, 0.95), (1.0, 2, 0.5)])
def test_critical_time_is_the_first_step_that_reaches_the_level(p: float, n: int, level: float) -> None:
    t = toy.critical_time(p, n, level)
    assert toy.success_probability(t, p, n) >= level
    assert toy.success_probability(t - 1, p, n) < level


def test_critical_time_of_a_level_that_a_step_meets_exactly() -> None:
    assert toy.critical_time(0.3, 1, 0.51) == 2
    for p, n, t in itertools.product((0.5, 0.3, 0.1, 1e-3), range(1, 6), range(1, 30)):
        level = float(toy.success_probability(t, p, n))
        assert level == 1 or toy.critical_time(p, n, level) == t


def test_tiny_rates_keep_their_digits() -> None:
    # (1-p)^t computed directly loses all but four digits here
    assert toy.success_probability(1, 1e-12, 1) == pytest.approx(1e-12, rel=1e-12)


@pytest.mark.parametrize("p", [0.4, 0.03, 2e-4])
@pytest.mark.parametrize("n", [1, 3])
def test_fit_finds_the_rate_of_an_exact_curve(p: float, n: int) -> None:
    t = np.linspace(0, 5 / p, 40)
    assert toy.fit_rate(t, toy.success_probability(t, p, n), n) == pytest.approx(p, rel=1e-5)


def test_rate_fitted_on_one_ability_predicts_three() -> None:
    t = np.arange(200)
    p = toy.fit_rate(t, toy.simulate(0.02, 1, 199, 5000, seed=0), 1)
    unseen = toy.simulate(0.02, 3, 199, 5000, seed=1)
    assert np.abs(toy.success_probability(t, p, 3) - unseen).max() < 0.05
    # and the additive guess (the curve of a single ability) does not
    assert np.abs(toy.success_probability(t, p, 1) - unseen).max() > 0.3


@pytest.mark.parametrize(
    "call",
    [
        lambda: toy.success_probability(1, 0.0, 1),
        lambda: toy.success_probability(-1, 0.1, 1),
        lambda: toy.success_probability(1, 0.1, 0),
        lambda: toy.critical_time(0.1, 1, 1.0),
        lambda: toy.simulate(0.1, 1, 0, 10, 0),
        lambda: toy.fit_rate([0, 1], [0, 50], 1),
        lambda: toy.fit_rate([0, 1], [0.0], 1),
        lambda: toy.fit_rate([0, 0], [0.0, 0.1], 1),
    ],
)
def test_bad_input_is_named(call) -> None:
    with pytest.raises(InputError):
        call()
