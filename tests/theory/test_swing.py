from __future__ import annotations

import numpy as np
import pytest

from conceptlab.errors import InputError
from conceptlab.theory import find_swings, noise_level, swing_size


def _zigzag(*corners: float, points: int = 50) -> np.ndarray:
    """A curve through the given values, straight between them."""
    return np.interp(np.arange((len(corners) - 1) * points + 1) / points, np.arange(len(corners)), corners)


@pytest.mark.parametrize(
    ("corners", "name"),
    [
        ((3, 0), "single descent"),
        ((3, 1, 2, 0), "double descent"),
        ((9, 3, 4, 1, 2, 0), "triple descent"),
        ((9, 5, 6, 3, 4, 1, 2, 0), "quadruple descent"),
        ((9, 8, 9, 8, 9, 8, 9, 8, 9, 8), "5-fold descent"),
        ((0, 0), "flat"),
    ],
)
def test_oracle_curves(corners: tuple[float, ...], name: str) -> None:
    found = find_swings(_zigzag(*corners), 0.1)
    assert found.names() == [name]
    if name != "flat":
        assert found.value[0].tolist() == list(corners)
        assert found.index[0].tolist() == [50 * k for k in range(len(corners))]


def test_moves_below_the_noise_level_do_not_count() -> None:
    curve = _zigzag(3, 1, 1.5, 0)
    assert find_swings(curve, 0.49).descents == [2]
    assert find_swings(curve, 0.51).descents == [1]
    assert find_swings(curve, 0.49).largest_ascent == pytest.approx([0.5])


def test_rise_at_the_start_or_end_is_no_swing_by() -> None:
    assert not find_swings(_zigzag(1, 2, 0), 0.1).swings_by[0]
    assert not find_swings(_zigzag(2, 0, 1), 0.1).swings_by[0]


def test_batch_equals_one_by_one_with_own_levels() -> None:
    rng = np.random.default_rng(0)
    curves = np.cumsum(rng.normal(size=(60, 300)), axis=1)
    levels = rng.uniform(1, 6, size=60)
    together = find_swings(curves, levels)
    for k in range(60):
        alone = find_swings(curves[k], levels[k])
        used = together.index[k] >= 0
        assert together.index[k][used].tolist() == alone.index[0][alone.index[0] >= 0].tolist()


def test_every_move_exceeds_the_level_and_alternates() -> None:
    curves = np.cumsum(np.random.default_rng(1).normal(size=(200, 400)), axis=1)
    moves = find_swings(curves, 4.0).moves
    real = np.isfinite(moves)
    assert (np.abs(moves[real]) > 4).all()
    pairs = real[:, 1:] & real[:, :-1]
    assert (moves[:, 1:] * moves[:, :-1] < 0)[pairs].all()


def test_swing_size_is_where_the_detector_stops_seeing() -> None:
    rng = np.random.default_rng(2)
    corners = np.sort(rng.uniform(0.1, 5, size=(50, 1)), axis=1) + rng.uniform(0, 4, size=(50, 6))
    curves = np.array([_zigzag(*row, 0.0) for row in corners])
    size = swing_size(curves)
    assert (size > 0).any()
    assert (find_swings(curves, size * 0.999).swings_by == (size > 0)).all()
    assert not find_swings(curves, size * 1.001 + 1e-12).swings_by.any()


def test_junk_is_not_a_swing() -> None:
    """White noise on a decaying curve: at the estimated level at most 2 % of 1,000 curves seem to swing."""
    rng = np.random.default_rng(3)
    smooth = 2 * np.exp(-np.linspace(0, 6, 300))
    for sigma in (1e-3, 0.05):
        curves = smooth + sigma * rng.normal(size=(1000, 300))
        level = noise_level(curves)
        assert np.median(level) == pytest.approx(2 * sigma * np.sqrt(2 * np.log(300)), rel=0.1)
        assert (find_swings(curves, level).descents >= 2).mean() <= 0.02


def test_a_real_swing_is_found_in_noise() -> None:
    rng = np.random.default_rng(4)
    curves = _zigzag(2, 0.3, 0.9, 0, points=100) + 0.03 * rng.normal(size=(200, 301))
    found = find_swings(curves, noise_level(curves))
    assert (found.descents == 2).mean() >= 0.99


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: find_swings(np.zeros((2, 3, 4)), 0.1), "must be"),
        (lambda: find_swings([1.0], 0.1), "must be"),
        (lambda: find_swings([1.0, np.nan], 0.1), "not finite"),
        (lambda: find_swings([1.0, 0.0], -1.0), "not negative"),
        (lambda: find_swings(np.zeros((3, 5)), [0.1, 0.1]), "one per curve"),
        (lambda: noise_level(np.zeros(5)), "at least 8"),
    ],
)
def test_bad_input_is_named(call, word: str) -> None:
    with pytest.raises(InputError, match=word):
        call()
