"""Directions and cosines in feature space: on oracles, on junk, and on the counterexample."""

from __future__ import annotations

import numpy as np
import pytest

from conceptlab.errors import InputError
from conceptlab.measures import cosine_matrix, directions, measured_cosines, orthogonality


def shifted(rng: np.random.Generator, by: list[float], n: int = 4000) -> np.ndarray:
    return rng.normal(size=(n, len(by))) + np.array(by)


def test_directions_and_cosines_have_their_exact_values() -> None:
    base = np.array([[0.0, 0.0], [2.0, 2.0]])
    found = directions([base + np.array([3, 0]), base + 1], base)
    assert np.allclose(found, [[3, 0], [1, 1]])
    assert np.allclose(cosine_matrix(found), [[1, 0.5**0.5], [0.5**0.5, 1]])
    assert np.isnan(cosine_matrix([[0.0, 0.0], [1.0, 0.0]])[0, 1])


@pytest.mark.parametrize(
    ("first", "second", "score"),
    [([3, 0, 0], [0, 3, 0], 1.0), ([3, 0, 0], [3, 0, 0], 0.0), ([3, 0, 0], [3, 3, 0], 1 - 0.5**0.5)],
)
def test_orthogonality_of_known_shifts(first, second, score) -> None:
    rng = np.random.default_rng(0)
    table = measured_cosines([shifted(rng, first), shifted(rng, second)], shifted(rng, [0, 0, 0]))
    assert orthogonality(table) == pytest.approx(score, abs=0.03)


def test_weak_effects_are_not_called_entangled() -> None:
    """Two weak effects at right angles, few images, many features: the plain cosine is far from 0 by bias alone."""
    rng = np.random.default_rng(1)
    plain, fair = [], []
    for _ in range(60):
        groups = [shifted(rng, [0.6] + [0.0] * 99, 200), shifted(rng, [0.0] * 99 + [0.6], 200)]
        base = shifted(rng, [0.0] * 100, 200)
        plain.append(cosine_matrix(directions(groups, base))[0, 1])
        fair.append(measured_cosines(groups, base)[0, 1])
    assert np.mean(plain) > 0.3
    assert abs(np.nanmean(fair)) < 0.15


def test_junk_has_no_direction_in_about_half_of_all_cases() -> None:
    rng = np.random.default_rng(2)
    tables = [
        measured_cosines([shifted(rng, [0.0] * 50, 40)] * 2, shifted(rng, [0.0] * 50, 40)) for _ in range(60)
    ]
    assert 0.2 < np.mean([np.isnan(table[0, 1]) for table in tables]) < 0.8


def test_images_are_flattened_and_bad_input_is_named() -> None:
    rng = np.random.default_rng(3)
    images = rng.normal(size=(6, 3, 4, 4))
    assert directions([images + 1], images).shape == (1, 48)
    with pytest.raises(InputError, match="two images"):
        directions([np.zeros(4)], images)
    with pytest.raises(InputError, match="square table"):
        orthogonality(np.ones((1, 1)))
