"""What the theory says of minor entries, against integrated runs. Sums of entries: tests/theory/test_symmetric.py."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor

from conceptlab.errors import InputError
from conceptlab.theory import Sim, minor_decay_rate, peak_exponent, symmetric, turning_level

SIM = Sim((1, 2), 0.05)
WEAK, STRONG = SIM.strengths.tolist()


class Turn(NamedTuple):
    """Where the minor entry w_12 is largest, and the major entries there."""

    peak: float
    weak: float
    strong: float


def run(scale: float, correlation: float, t: float, points: int = 800) -> tuple[Tensor, Tensor]:
    times = torch.linspace(0, t, points, dtype=torch.float64)
    u = symmetric.flow(symmetric.correlated_start(scale, correlation, 2), SIM.strengths, times)
    return times, symmetric.jacobian(u)


def turn_of(times: Tensor, w: Tensor) -> Turn:
    """By a parabola through the largest sample and its neighbours."""
    t, entry = times.numpy(), w[:, 0, 1].numpy()
    top = int(np.argmax(entry))
    near = slice(top - 1, top + 2)
    square, slope, _ = np.polyfit(t[near] - t[top], entry[near] / entry[top], 2)
    weak, strong = (float(np.interp(t[top] - slope / (2 * square), t, w[:, p, p].numpy())) for p in (0, 1))
    return Turn(float(entry[top]), weak, strong)


def test_turning_point_of_a_minor_entry() -> None:
    """mu=(1,2), sigma=.05: the theory says w_22 = .7696; a small start turns at .769."""
    assert turning_level(WEAK, STRONG) == pytest.approx(0.7696, abs=5e-5)
    assert turn_of(*run(1e-4, 0.5, 8.0)).strong == pytest.approx(0.769, abs=1e-3)


def test_turning_condition_is_exact_in_two_dimensions() -> None:
    """Without noise term w_12 turns where w_11(3a_1+a_2) + w_22(3a_2+a_1) = 2(a_1+a_2), at any start."""
    turn = turn_of(*run(0.01, 0.99, 4.0))
    total = turn.weak * (3 * WEAK + STRONG) + turn.strong * (3 * STRONG + WEAK)
    assert total == pytest.approx(2 * (WEAK + STRONG), rel=1e-4)


def test_turning_point_and_decay_become_exact_for_a_small_start() -> None:
    """From W(0) ~ 1e-8 the neglected terms vanish; the rate's window lets w_22 be 1 % short of 1."""
    times, w = run(1e-8, 0.5, 14.0)
    assert turn_of(times, w).strong == pytest.approx(turning_level(WEAK, STRONG), abs=5e-4)
    between = (w[:, 1, 1] > 0.99) & (w[:, 0, 0] < 0.01)
    decay = np.polyfit(times[between].numpy(), w[between, 0, 1].log().numpy(), 1)[0]
    assert minor_decay_rate(WEAK, STRONG) == pytest.approx(-1.5)
    assert decay == pytest.approx(minor_decay_rate(WEAK, STRONG), rel=5e-3)


def test_peak_scales_as_predicted() -> None:
    scales = [1e-5, 1e-7, 1e-9]
    peaks = [turn_of(*run(scale, 0.5, 8.0, points=400)).peak for scale in scales]
    slope = np.polyfit(np.log(scales), np.log(peaks), 1)[0]
    assert slope == pytest.approx(peak_exponent(WEAK, STRONG), abs=2e-3)


def test_equal_strengths_turn_only_at_the_end() -> None:
    assert turning_level(1.0, 1.0) == 1.0
    assert minor_decay_rate(1.0, 1.0) == 0.0
    assert peak_exponent(1.0, 1.0) == 0.0


def test_bad_input_is_named() -> None:
    with pytest.raises(InputError, match="weaker one first"):
        turning_level(2.0, 1.0)
