"""What depends on the prompt, on an oracle, on junk of three kinds and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from conceptlab.measures import chance_variation, prompt_variation


def test_an_oracle_differs_in_all_and_one_that_draws_nothing_in_none():
    assert prompt_variation(np.eye(4)) == 1
    assert prompt_variation(np.tile([0.0, 0.0, 1.0], (4, 1))) == 0
    assert math.isnan(prompt_variation(np.eye(4)[:1]))


def test_by_hand():
    """Pairs differ in .5, 1 and .5."""
    shares = np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 1.0, 0.0]])
    assert prompt_variation(shares) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    "mixture", [[0.125] * 8, [0.7, 0.1, 0.1, 0.1], [0.0, 1.0]], ids=["noise", "mostly one", "one"]
)
@pytest.mark.parametrize("images", [1, 12, 200])
def test_junk_that_ignores_the_prompt_differs_by_chance(mixture: list[float], images: int):
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(images, mixture, size=(2000, 4)) / images
    found = np.mean([prompt_variation(shares) for shares in drawn])
    assert chance_variation(np.array([mixture] * 4), images) == pytest.approx(found, rel=0.03, abs=1e-12)
    # What the mixture is, is estimated too.
    assert np.mean([chance_variation(s, images) for s in drawn]) == pytest.approx(found, rel=0.3, abs=1e-12)
