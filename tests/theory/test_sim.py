from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import chi2

from conceptlab.errors import InputError
from conceptlab.theory import Sim, sample_second_moment
from conceptlab.theory.truncation import ball_probability, truncated_variances


def test_strengths_are_those_of_the_paper() -> None:
    sim = Sim((1, 2), (0.05, 0.3), d=4)
    assert sim.strengths.tolist() == pytest.approx([0.05**2 + 0.5, 0.3**2 + 2, 0, 0])
    assert sim.composition().tolist() == [1, 2, 0, 0]
    assert sim.composition([1]).tolist() == [0, 2, 0, 0]


def test_sigma_comes_as_one_number_per_concept_or_per_axis() -> None:
    expected = [0.04, 0.04, 0.0]
    for sigma in (0.2, np.float32(0.2), (0.2, 0.2), np.array([0.2, 0.2, 0.0])):
        assert Sim((1, 2), sigma, d=3).variances.tolist() == pytest.approx(expected)  # type: ignore[arg-type]


def test_sigma_as_variance_and_origin_cluster_are_explicit() -> None:
    assert Sim((1, 2), 0.05, spread="variance").strengths.tolist() == pytest.approx([0.55, 2.05])
    assert Sim((1, 2), 0.0, origin=True).strengths.tolist() == pytest.approx([1 / 3, 4 / 3])


@pytest.mark.parametrize(
    "sim",
    [
        Sim((1, 2), 0.3),
        Sim((1, 2, 1.5), (0.1, 0.5, 0.3), d=5, origin=True, rotation=7),
        Sim((1, 2), (0.4, 0.2, 0.3), d=3, radius=0.5, rotation=1),
        Sim((1, 2), 0.09, spread="variance", radius=0.5, origin=True),
    ],
)
def test_population_moment_is_the_limit_of_samples(sim: Sim) -> None:
    points = sim.draw(200_000, seed=0).points
    error = (sample_second_moment(points) - sim.second_moment).abs().max()
    assert error < 6e-3  # standard error of the largest entry is about 1e-3


def test_rotation_is_orthogonal_and_undone() -> None:
    sim = Sim((1, 2), d=6, rotation=3)
    assert torch.allclose(sim.axes.T @ sim.axes, torch.eye(6, dtype=torch.float64), atol=1e-12)
    assert torch.allclose(sim.to_axes(sim.composition()), Sim((1, 2), d=6).composition(), atol=1e-12)
    assert not torch.equal(sim.axes, Sim((1, 2), d=6, rotation=4).axes)


def test_same_seed_same_draw() -> None:
    sim = Sim((1, 2), 0.1, origin=True, radius=0.15)
    first, again, other = sim.draw(50, 1), sim.draw(50, 1), sim.draw(50, 2)
    assert torch.equal(first.points, again.points)
    assert not torch.equal(first.points, other.points)
    assert torch.bincount(first.clusters).tolist() == [50, 50, 50]


def test_truncation_keeps_every_point_near_its_centre() -> None:
    sim = Sim((1, 2), 0.4, d=3, radius=0.5)
    points, clusters = sim.draw(2000, seed=0)
    assert (points - sim.centres[clusters]).norm(dim=1).max() <= 0.5


@pytest.mark.parametrize("d", [1, 2, 3, 10])
def test_equal_variances_reduce_to_chi_square(d: int) -> None:
    v, r = np.full(d, 0.25), 0.7 * np.sqrt(d)
    x = r**2 / 0.25
    assert ball_probability(v, r) == pytest.approx(chi2.cdf(x, d), abs=1e-10)
    expected = 0.25 * chi2.cdf(x, d + 2) / chi2.cdf(x, d)
    assert truncated_variances(v, r) == pytest.approx(np.full(d, expected), abs=1e-10)


def test_unequal_variances_against_monte_carlo() -> None:
    v = np.array([0.0025, 0.25, 4.0, 0.0])
    x = np.random.default_rng(0).normal(size=(1_000_000, 4)) * np.sqrt(v)
    inside = (x**2).sum(1) <= 0.49
    assert ball_probability(v, 0.7) == pytest.approx(inside.mean(), abs=2e-3)
    assert truncated_variances(v, 0.7) == pytest.approx((x[inside] ** 2).mean(0), abs=2e-3)


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: Sim(()), "at least one"),
        (lambda: Sim((1, 2, 3), d=2), "s must not exceed d"),
        (lambda: Sim((1, 2), -0.1), "not negative"),
        (lambda: Sim((1, 2), (0.1, 0.1, 0.1), d=4), "s or d of them"),
        (lambda: Sim((1, float("nan"))), "finite"),
        (lambda: Sim((1, 2), spread="std"), "did you mean|known"),  # type: ignore[arg-type]
        (lambda: Sim((1, 2), 3.0, radius=0.01), "raise the radius"),
        (lambda: Sim((1, 2), radius=-1.0), "positive"),
        (lambda: Sim((1, 2)).draw(0, 0), "at least 1"),
        (lambda: Sim((1, 2)).composition([2]), "0 to 1"),
    ],
)
def test_bad_input_is_named(make, word: str) -> None:
    with pytest.raises(InputError, match=word):
        make()
