"""Circles: the recipe of park2024 and the concept signals that follow from it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.ndimage import gaussian_filter

from conceptlab.errors import InputError
from conceptlab.worlds import Circles, Shapes, concept_signal


def test_classes_read_colour_then_size() -> None:
    world = Circles(colour_separation=0.2)
    assert world.space.words((0, 0)) == "red, big"
    assert world.space.words((1, 1)) == "blue, small"
    assert world.condition((0, 0)).tolist() == pytest.approx([0.6, 0.4, 0.4, 0.65])
    assert world.condition((1, 1)).tolist() == pytest.approx([0.4, 0.4, 0.6, 0.25])


def test_blanks_widen_the_condition_by_zeros_and_change_nothing_else() -> None:
    plain, wide = Circles(), Circles(blanks=7)
    assert wide.condition_shape == (11,)
    assert wide.condition((1, 1)).tolist() == [*plain.condition((1, 1)).tolist(), *[0.0] * 7]
    short, long = plain.sample((1, 0), 5, seed=0), wide.sample((1, 0), 5, seed=0)
    assert torch.equal(short.images, long.images)
    assert torch.equal(torch.cat((short.conditions, torch.zeros(5, 7)), 1), long.conditions)


def test_factors_keep_the_ranges_of_the_recipe() -> None:
    factors = Circles(colour_separation=0.4).draw((1, 1), 2000, seed=0)
    limits = {"size": (0.1, 0.4), "x": (-0.5, 0.5), "y": (-0.5, 0.5), "background": (0.8, 1.0)}
    limits["colour"] = (0.25, 0.75)
    for name, (low, high) in limits.items():
        values = factors[name]
        assert low <= values.min() < low + 0.01
        assert high - 0.01 < values.max() <= high


def test_render_is_mask_blur_mix_noise() -> None:
    """Against the recipe written out with scipy's Gaussian filter, for one image."""
    world = Circles(noise=0.0)
    factors = world.draw((0, 0), 1, seed=4)
    x, y, size = (factors[name].item() for name in ("x", "y", "size"))
    grid = np.linspace(-1, 1, 32)
    mask = (np.hypot(grid[None, :] - x, grid[:, None] - y) < size).astype(float)
    mask = gaussian_filter(mask, 1.0)
    colour, background = factors["colour"][0].numpy(), factors["background"][0].numpy()
    expected = mask * colour[:, None, None] + (1 - mask) * background[:, None, None]
    assert np.abs(world.render(factors)[0].numpy() - expected).max() < 1e-5
    noisy = Circles().render(factors) - world.render(factors)
    inside = noisy[(world.render(factors) < 0.99)]
    assert inside.std().item() == pytest.approx(0.001, rel=0.1)


@pytest.mark.parametrize(
    ("variable", "base", "expected"),
    [("colour", (0, 0), 0.0074), ("colour", (0, 1), 0.00088), ("size", (0, 0), 0.043)],
)
def test_concept_signal_is_the_published_one(variable: str, base: tuple[int, int], expected: float) -> None:
    """d=.2, s=.4, at the class means of colour and size; all published digits."""
    world = Circles(colour_separation=0.2, size_separation=0.4, colour_jitter=0.0, size_jitter=0.0)
    signal = concept_signal(world, variable, base, n=1024)
    half = 0.5 * 10 ** (np.floor(np.log10(expected)) - 1)
    assert abs(signal.value - expected) <= half
    assert signal.standard_error < half


def test_signal_grows_as_the_square_of_the_separation() -> None:
    small, large = (Circles(colour_separation=d, colour_jitter=0.0) for d in (0.1, 0.3))
    ratio = concept_signal(large, "colour", n=64).value / concept_signal(small, "colour", n=64).value
    assert ratio == pytest.approx(9, rel=1e-3)


def test_signal_of_no_difference_is_zero_and_of_black_and_white_is_exact() -> None:
    assert concept_signal(Circles(colour_separation=0.0), "colour", n=16).value == 0
    # Flipping the background changes by 1 every pixel but those the object covers.
    world = Shapes(
        variables=("background", "size"), shapes=("square",), sizes=(("half", 0.5),), size_jitter=0.0
    )
    signal = concept_signal(world, "background", (0, 0), n=64)
    assert signal.value == pytest.approx(1 - np.pi * 0.25 / 4, abs=0.02)


def test_signal_averages_over_values_and_classes() -> None:
    world = Shapes(resolution=16)
    by_class = {cls: concept_signal(world, "shape", cls, n=32).value for cls in world.space}
    mean = np.mean(list(by_class.values()))
    assert concept_signal(world, "shape", n=32).value == pytest.approx(mean)
    assert by_class[0, 0, 0] > 2 * by_class[0, 1, 0], "there is less of a small object to see"


def test_standard_error_covers_the_spread_between_seeds() -> None:
    signals = [concept_signal(Circles(), "size", (0, 0), n=64, seed=seed) for seed in range(12)]
    spread = torch.tensor([s.value for s in signals]).std().item()
    stated = np.mean([s.standard_error for s in signals])
    assert 0.4 < spread / stated < 2.0


@pytest.mark.parametrize(
    "settings",
    [
        {"colour_separation": -0.1},
        {"size_separation": 0.9},
        {"background": [0.9, 0.1]},
        {"blur": 0},
        {"blanks": -1},
    ],
)
def test_settings_outside_the_recipe_are_refused(settings: dict) -> None:
    with pytest.raises(InputError, match="world 'circles'"):
        Circles(**settings)


def test_signal_needs_a_known_variable_and_two_pairs() -> None:
    with pytest.raises(InputError, match="unknown concept variable 'shape'"):
        concept_signal(Circles(), "shape")
    with pytest.raises(InputError, match="use 2 or more"):
        concept_signal(Circles(), "size", n=1)
