from __future__ import annotations

import math

import numpy as np
import pytest

from conceptlab.measures import critical_number, relative_rise


def test_relative_rise_of_a_straight_line_and_of_a_shifted_copy() -> None:
    steps = np.arange(0.0, 101.0)
    line = steps / 100
    assert relative_rise(steps, line) == pytest.approx(0.8 / 0.5)
    # Chance level and height do not matter; arriving later makes the same rise more sudden.
    assert relative_rise(steps, 0.5 + 0.2 * line) == pytest.approx(0.8 / 0.5)
    assert relative_rise(steps + 100, line) == pytest.approx(80 / 150)


def test_a_product_of_logistic_rises_is_more_sudden_than_their_mean() -> None:
    steps = np.linspace(1, 200, 60)
    singles = np.stack([1 / (1 + np.exp(-(steps - at) / 8)) for at in (40, 60, 120)])
    assert relative_rise(steps, singles.prod(0)) < 0.5 * relative_rise(steps, singles.mean(0))


@pytest.mark.parametrize("curve", [[0.5, 0.5, 0.5], [0.9, 0.6, 0.3], [0.1, math.nan, 0.9], [0.1, 0.9]])
def test_what_does_not_rise_has_no_rise(curve: list[float]) -> None:
    assert math.isnan(relative_rise(range(len(curve)), curve))


@pytest.mark.parametrize(
    ("accuracies", "expected"),
    [
        ([0.0, 0.1, 0.9, 0.95], 30.0),
        ([0.0, 0.9, 0.3, 0.95], 100.0),  # one lucky number does not count
        ([0.9, 0.9, 0.9, 0.9], 0.0),
        ([0.0, 0.9, 0.9, 0.7], math.nan),
    ],
)
def test_critical_number(accuracies: list[float], expected: float) -> None:
    counts = [0, 10, 30, 100]
    found = critical_number(counts, accuracies, 0.8)
    assert found == expected or (math.isnan(found) and math.isnan(expected))
    order = [2, 0, 3, 1]
    shuffled = critical_number([counts[i] for i in order], [accuracies[i] for i in order], 0.8)
    assert shuffled == found or math.isnan(shuffled)
