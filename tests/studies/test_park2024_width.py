"""Whether the width of the condition sets the pace: exact answers on made curves, and what is drawn of them."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from conceptlab.studies.park2024 import STUDY, width
from conceptlab.studies.study import Results

STEPS = np.arange(0, 15_001, 500)


def means(rises: dict[int, tuple[int, int, int]], separation: float = 0.175) -> pd.DataFrame:
    """Curves that jump from 0 to 1 at steps of their own: training classes, capability, behaviour, by width."""
    parts = []
    for numbers, (training, capability, behaviour) in rises.items():
        curves = {
            "training": training <= STEPS,
            "worst": training <= STEPS,
            "capability": capability <= STEPS,
            "behaviour": behaviour <= STEPS,
        }
        table = pd.DataFrame({"step": STEPS, **{name: on.astype(float) for name, on in curves.items()}})
        parts.append(table.assign(separation=separation, width=numbers))
    return pd.concat(parts, ignore_index=True)


def test_the_sweep_is_compared_with_itself_told_more_zeros() -> None:
    recipes = STUDY.figure("width").recipes("paper", range(3))
    sweep = {recipe.hash for recipe in STUDY.figure("fig1").recipes("paper", range(3))}
    narrow, wide = recipes[: len(recipes) // 2], recipes[len(recipes) // 2 :]
    assert {recipe.hash for recipe in narrow} <= sweep
    assert [r.with_settings({"world.blanks": width.BLANKS}).hash for r in narrow] == [r.hash for r in wide]


def test_times_are_those_of_the_means_beside_the_published_ones() -> None:
    times = width.times_of(means({4: (3000, 2000, 7000), 11: (6000, 5000, 20_000)})).set_index(
        ["width", "curve"]
    )
    assert times.loc[(4, "training"), "step"] == 3000
    # Read into noise: nothing counts before the training classes are drawn.
    assert times.loc[(4, "capability"), "step"] == 3000
    assert times.loc[(4, "behaviour"), "step"] == 7000
    assert times.loc[(11, "training"), "step"] == 6000
    assert math.isnan(times.loc[(11, "behaviour"), "step"])
    assert times.loc[11, "published"].tolist() == [6000, 5300, 10_000]
    assert times["level"].tolist() == [0.95, 0.5, 0.5] * 2


def test_noise_that_never_settles_is_no_learning() -> None:
    noise = means({4: (0, 0, 0)})
    generator = np.random.default_rng(0)
    for name in ("training", "worst", "capability", "behaviour"):
        noise[name] = generator.uniform(0.0, 0.45, len(noise))
    assert width.times_of(noise)["step"].isna().all()


@pytest.mark.parametrize(("behaviour", "span"), [(14_000, "1.50 to 2.00"), (10_500, "1.50")])
def test_the_figure_says_how_much_later_and_shows_published_curves_at_paper_scale_only(
    behaviour, span
) -> None:
    found = means({4: (4000, 4000, 7000), 11: (6000, 6000, behaviour)})
    times = width.times_of(found)
    draw = STUDY.figure("width").draw
    for scale, shown, stars in (
        ("paper", times, 3),
        ("small", times.assign(published=math.nan), 0),
    ):
        page = draw(Results([], scale, (0,)), {"means": found, "times": shown})
        text = " ".join(page.get_supxlabel().split())
        assert f"comes {span} times as late" in text
        assert ("Stars" in text) == (scale == "paper")
        assert len([line for line in page.axes[0].lines if line.get_marker() == "*"]) == stars
