from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from conceptlab.errors import InputError
from conceptlab.theory import (
    Sim,
    find_stages,
    minor_decay_rate,
    peak_exponent,
    symmetric,
    turning_level,
)


def _run(mu: tuple[float, ...], scale: float, correlation: float, t: float, points: int = 800):
    sim = Sim(mu, 0.05)
    times = torch.linspace(0, t, points, dtype=torch.float64)
    u = symmetric.flow(symmetric.correlated_start(scale, correlation, len(mu)), sim.strengths, times)
    return sim, times, symmetric.jacobian(u)


def test_turning_point_of_a_minor_entry() -> None:
    """mu=(1,2), sigma=.05: the theory says w_22 = .7696; a small start turns at .769."""
    sim, times, w = _run((1, 2), 1e-4, 0.5, 8.0)
    (turn,) = find_stages(times, w, sim.strengths).minors
    assert turn.predicted_level == pytest.approx(0.7696, abs=5e-5)
    assert turn.level == pytest.approx(0.769, abs=1e-3)
    assert (turn.weak, turn.strong) == (0, 1)
    assert turn.peak > 0


def test_turning_condition_is_exact_in_two_dimensions() -> None:
    """Without noise term w_12 turns where w_11(3a_1+a_2) + w_22(3a_2+a_1) = 2(a_1+a_2), at any start."""
    sim, times, w = _run((1, 2), 0.01, 0.99, 4.0)
    (turn,) = find_stages(times, w, sim.strengths).minors
    weak, strong = sim.strengths.tolist()
    w11 = float(np.interp(turn.time, times.numpy(), w[:, 0, 0].numpy()))
    total = w11 * (3 * weak + strong) + turn.level * (3 * strong + weak)
    assert total == pytest.approx(2 * (weak + strong), rel=1e-4)


def test_turning_point_and_decay_become_exact_for_a_small_start() -> None:
    """From W(0) ~ 1e-8 the neglected terms vanish; the rate's window lets w_22 be 1 % short of 1."""
    sim, times, w = _run((1, 2), 1e-8, 0.5, 14.0)
    (turn,) = find_stages(times, w, sim.strengths).minors
    assert turn.level == pytest.approx(turn.predicted_level, abs=5e-4)
    assert turn.predicted_decay == pytest.approx(-1.5)
    assert turn.decay == pytest.approx(turn.predicted_decay, rel=5e-3)


def test_peak_scales_as_predicted() -> None:
    sim, scales = Sim((1, 2), 0.05), [1e-5, 1e-7, 1e-9]
    times = torch.linspace(0, 8, 400, dtype=torch.float64)
    starts = torch.stack([symmetric.correlated_start(scale, 0.5) for scale in scales])
    w = symmetric.jacobian(symmetric.flow(starts, sim.strengths, times))
    peaks = [find_stages(times, w[:, k], sim.strengths).minors[0].peak for k in range(3)]
    slope = np.polyfit(np.log(scales), np.log(peaks), 1)[0]
    assert slope == pytest.approx(peak_exponent(*sim.strengths.tolist()), abs=2e-3)


def test_stages_follow_the_strengths() -> None:
    sim, times, w = _run((1, 4, 2), 1e-4, 0.2, 20.0)
    found = find_stages(times, w, sim.strengths)
    assert found.order == [1, 2, 0]
    assert [stage.concept for stage in found.stages if stage.name == "growth"] == [1, 2, 0]
    assert found.stages[0].name == "initial growth"
    assert found.stages[-1].name == "convergence"
    assert any(stage.name == "suppression" for stage in found.stages)
    starts = [stage.start for stage in found.stages]
    assert starts == sorted(starts)
    assert len(found.minors) == 3


def test_nothing_learnt_nothing_found() -> None:
    times = torch.linspace(0, 1, 5)
    found = find_stages(times, torch.zeros(5, 2, 2), torch.tensor([1.0, 1.0]))
    assert [stage.name for stage in found.stages] == ["initial growth"]
    assert all(math.isinf(t) for t in found.half_times)
    assert found.minors == []  # equal strengths: no entry is predicted to turn


def test_equal_strengths_turn_only_at_the_end() -> None:
    assert turning_level(1.0, 1.0) == 1.0
    assert minor_decay_rate(1.0, 1.0) == 0.0
    assert peak_exponent(1.0, 1.0) == 0.0


def test_bad_input_is_named() -> None:
    with pytest.raises(InputError, match="weaker one first"):
        turning_level(2.0, 1.0)
    with pytest.raises(InputError, match="must be"):
        find_stages(torch.zeros(4), torch.zeros(5, 2, 2), torch.ones(2))
