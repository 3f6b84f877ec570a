"""Capability, turning point, change point, disentanglement: exact answers, oracles and junk."""

from __future__ import annotations

import math

import numpy as np
import pytest

from conceptlab.measures.capability import best_on_half, best_prompt, chosen_on_half
from conceptlab.measures.changepoint import kink_rank, with_kink
from conceptlab.measures.disentanglement import corner_disentanglement, disentanglement, recovery_time
from conceptlab.measures.turning import nearest_approach, running_median, turning_point

STEPS = np.round(15_000 * (np.arange(1, 41) / 40) ** 2)


def test_the_best_prompt_is_found_and_an_oracle_scores_one():
    bad, good = np.zeros(8, bool), np.ones(8, bool)
    found = best_prompt([bad, good, bad])
    assert (found.held_out, found.naive, found.winner) == (1.0, 1.0, 1)
    # Chosen on even images, scored on odd ones, and the reverse: the first prompt is right on even images only.
    even = np.arange(8) % 2 == 0
    assert best_prompt([even, bad]).held_out == pytest.approx((0.0 + 0.5 * (1.0 + 0.0)) / 2)
    assert chosen_on_half([bad, even]) == 1
    assert chosen_on_half([~even | (np.arange(8) < 3), even]) == 1, "right on more images, but on odd ones"
    found = best_on_half([bad, even])
    assert (found.held_out, found.naive, found.winner) == (0.0, 0.5, 1)


def test_choosing_among_equal_prompts_gains_nothing_held_out_but_much_naively():
    rng = np.random.default_rng(0)
    found = [best_prompt(list(rng.random((5, 32)) < 0.4)) for _ in range(600)]
    held_out, naive = np.mean([f.held_out for f in found]), np.mean([f.naive for f in found])
    assert held_out == pytest.approx(0.4, abs=0.015)
    assert naive > 0.48


@pytest.mark.parametrize(
    ("progress", "turn"),
    [
        ([0.5, 0.3, 0.05, 0.0, 0.02, 0.01, 0.4, 0.8, 0.95], 6),  # a plateau: its end, not its lowest point
        ([0.5, 0.2, 0.0, 0.35, 0.6, 0.9, 0.9, 1.0, 1.0], 3),  # the minimum, a running median of .2 at step 3
        ([0.4, 0.6, 0.7, 0.8, 0.9, 0.9, 1.0, 1.0, 1.0], 1),  # no memorisation
        ([0.5, 0.3, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], math.nan),  # never leaves
        ([0.5, 0.1, 0.0, 0.9, 0.0, 0.0, 0.5, 0.8, 0.9], 6),  # a single outlier is not a turn
        ([0.5, 0.2, 0.0, 0.6, 0.7, 0.0, 0.9, 0.9, 1.0], 3),  # nor is one that falls back
    ],
)
def test_the_turn_is_where_memorisation_ends(progress, turn):
    assert turning_point(range(1, 10), progress) == pytest.approx(turn, nan_ok=True)


def test_the_turn_of_noisy_trajectories_is_near_the_true_one():
    rng = np.random.default_rng(1)
    errors = []
    for true in rng.uniform(2000, 9000, 200):
        clean = np.where(true > STEPS, 0.5 * np.exp(-STEPS / 500), 1 - np.exp(-(STEPS - true) / 1500))
        noisy = clean + rng.normal(0, 0.03, len(STEPS))
        errors.append(np.log(turning_point(STEPS, noisy) / true))
    assert abs(np.median(errors)) < 0.08
    assert np.quantile(np.abs(errors), 0.9) < 0.2


def test_nearest_approach_and_median():
    assert nearest_approach([[0.5, 0.5], [0.0, 0.9], [1.0, 1.0]], [0, 1]) == pytest.approx(0.1)
    assert running_median([0, 9, 1]).tolist() == [0, 1, 1]
    assert running_median([3, 4]).tolist() == [3, 4]


def smooth_loss(rng: np.random.Generator) -> np.ndarray:
    return (0.02 + 3 * STEPS**-0.6) * np.exp(rng.normal(0, 0.01, len(STEPS)))


def test_a_kink_is_found_where_it_is_and_a_smooth_curve_has_none():
    rng = np.random.default_rng(2)
    silent, injected = [], []
    for _ in range(60):
        time = float(rng.choice(STEPS[8:30]))
        loss = smooth_loss(rng)
        silent.append(kink_rank(STEPS, loss, time))
        injected.append(kink_rank(STEPS, with_kink(STEPS, loss, time), time))
    assert np.mean(silent) == pytest.approx(0.5, abs=0.12)
    assert np.mean(injected) > 0.95


def test_an_exact_kink_ranks_first_and_short_or_odd_curves_are_unknown():
    x = np.log(STEPS)
    kinked = np.sinh(-x - 0.5 * np.maximum(0, x - x[20]))
    assert kink_rank(STEPS, kinked, STEPS[20]) == 1.0
    assert kink_rank(STEPS, 0 * STEPS, STEPS[20]) == 0.5, "where all are alike it is in the middle"
    assert math.isnan(kink_rank(STEPS[:10], kinked[:10], STEPS[5]))
    assert math.isnan(kink_rank(STEPS, kinked, STEPS[1]))
    assert math.isnan(kink_rank(STEPS, kinked, math.nan))
    assert math.isnan(kink_rank(STEPS, kinked * np.nan, STEPS[20]))


def test_disentanglement_of_known_directions():
    assert disentanglement([1, 0], [0, 2]) == 1
    assert disentanglement([1, 1], [-2, -2]) == pytest.approx(0)
    assert disentanglement([1, 0], [1, 1]) == pytest.approx(1 - math.sqrt(0.5))
    assert math.isnan(disentanglement([0, 0], [1, 0]))
    corner = corner_disentanglement([1, 1, 1], {"a": [2, 1, 1], "b": [1, 2, 1], "c": [2, 1, 1]})
    assert corner == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("values", "time"),
    [
        ([0.8, 0.4, 0.2, 0.4, 0.6, 0.9], 3.5),  # level .5, halfway between steps 3 and 4
        ([0.8, 0.2, 0.6, 0.2, 0.1, 0.8], 4 + 0.35 / 0.7),  # only the last crossing, after the minimum
        ([0.8, 0.1, 0.6, 0.2, 0.9, 0.9], 3 + 0.25 / 0.7),  # of two crossings the last
        ([0.8, 0.4, 0.2, 0.2, 0.3, 0.3], math.nan),  # never comes back
        ([0.8, 0.2, 0.9, 0.3, 0.3, 0.3], math.nan),  # comes back and is lost again
        ([0.2, 0.4, 0.5, 0.6, 0.7, 0.8], 0),  # never fell: disentangled from the start
        ([0.8, math.nan, 0.2, 0.4, 0.6, 0.9], math.nan),
    ],
)
def test_recovery_after_the_minimum(values, time):
    assert recovery_time(range(6), values) == pytest.approx(time, nan_ok=True)
