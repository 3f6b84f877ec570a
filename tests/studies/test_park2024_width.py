"""Whether the width of the condition sets the pace: exact answers on made curves, and what is drawn of them."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest

from conceptlab.studies.park2024 import STUDY, width
from conceptlab.studies.study import Results

STEPS = np.arange(500, 15_001, 500)
FIRST, LAST = 500.0, 14_000.0
Rises = Mapping[int, tuple[int, int, int]]


def runs(rises: Rises, separation: float = 0.175, seed: int = 0) -> pd.DataFrame:
    """Curves that jump from 0 to 1 at steps of their own: training classes, capability, behaviour, by width."""
    parts = []
    for numbers, (training, capability, behaviour) in rises.items():
        jumps = {
            "training": training,
            width.LOWEST: training,
            "capability": capability,
            "behaviour": behaviour,
        }
        for name, step in jumps.items():
            values = (step <= STEPS).astype(float)
            own = pd.DataFrame({"step": STEPS, "curve": name, "value": values})
            parts.append(own.assign(separation=separation, width=numbers, seed=seed))
    return pd.concat(parts, ignore_index=True)


def test_the_sweep_is_compared_with_itself_told_more_zeros() -> None:
    recipes = STUDY.figure("width").recipes("paper", range(3))
    sweep = {recipe.hash for recipe in STUDY.figure("fig1").recipes("paper", range(3))}
    narrow, wide = recipes[: len(recipes) // 2], recipes[len(recipes) // 2 :]
    assert {recipe.hash for recipe in narrow} <= sweep
    assert [r.with_settings({"world.blanks": width.BLANKS}).hash for r in narrow] == [r.hash for r in wide]


def test_what_is_compared_is_taken_run_by_run() -> None:
    """Two training classes, one of them worse, capability by over-prompts alone, behaviour of 11."""
    row = {"separation": 0.2, "width": 4, "seed": 3, "step": 500, "variable": "", "measure": "accuracy"}
    every = pd.DataFrame(
        [
            {**row, "class": "00", "value": 1.0},
            {**row, "class": "01", "value": 0.4},
            {**row, "class": "11", "value": 0.1},
            {**row, "class": "11", "value": 0.9, "measure": "best_prompt", "variable": "over-prompting"},
            {**row, "class": "11", "value": 0.3, "measure": "best_prompt", "variable": "redraws"},
            {**row, "class": "11", "value": 0.2, "variable": "colour"},
        ]
    )
    found = width.compared(every).set_index("curve")["value"].to_dict()
    assert found == {"training": 0.7, width.LOWEST: 0.4, "capability": 0.9, "behaviour": 0.1}


def test_nothing_counts_before_the_training_classes_are_drawn() -> None:
    times = width.times_of(runs({4: (3000, 2000, 7000), 11: (6000, 5000, 20_000)})).set_index(
        ["width", "curve"]
    )
    assert times.loc[4, "step"].tolist() == [3000, 3000, 7000]
    assert times.loc[11, "step"].tolist()[:2] == [6000, 6000]
    assert math.isnan(times.loc[(11, "behaviour"), "step"])
    assert times["level"].tolist() == [0.95, 0.5, 0.5] * 2


def test_means_are_timed_as_runs_are_and_stand_beside_the_published_ones() -> None:
    """Of the mean of two jumps half is reached with the first, .95 with the second."""
    by_run = pd.concat([runs({4: (3000, 3000, 7000)}), runs({4: (4000, 2000, 9000)}, seed=1)])
    mean = by_run.groupby(["separation", "width", "step", "curve"])["value"].mean().reset_index()
    found = width.beside_published(width.times_of(mean))
    assert found["step"].tolist() == [4000, 3000, 7000]
    assert found["published"].tolist() == [6000, 5300, 10_000]
    assert width.beside_published(width.times_of(mean.assign(separation=0.1)))["published"].isna().all()


def test_noise_that_never_settles_is_no_learning() -> None:
    noise = runs({4: (0, 0, 0)})
    noise["value"] = np.random.default_rng(0).uniform(0.0, 0.45, len(noise))
    assert width.times_of(noise)["step"].isna().all()


def test_delays_are_geometric_means_over_separations_and_bounds_where_it_never_comes() -> None:
    twice = runs({4: (3000, 3000, 7000), 11: (6000, 6000, 20_000)})
    eightfold = runs({4: (1000, 1000, 7000), 11: (8000, 8000, 14_000)}, separation=0.2)
    found = width.delays(width.times_of(pd.concat([twice, eightfold])), FIRST, LAST)
    assert found["training"].low == pytest.approx([4.0])
    assert found["training"].is_exact
    assert found["behaviour"].low == pytest.approx([2.0])
    assert found["behaviour"].high == [math.inf]


def test_one_width_has_no_delay() -> None:
    assert width.delays(width.times_of(runs({4: (3000, 3000, 7000)})), FIRST, LAST) == {}


def drawn_from(by_run: pd.DataFrame, scale: str) -> dict[str, pd.DataFrame]:
    times = width.times_of(by_run)
    means = width.beside_published(times[times["seed"] == 0].drop(columns="seed"))
    return {
        "curves": by_run,
        "times": times,
        "means": means if scale == "paper" else means.assign(published=math.nan),
    }


@pytest.mark.parametrize("scale", ["paper", "small"])
def test_the_figure_has_a_panel_for_every_separation_and_published_curves_at_paper_scale_only(scale) -> None:
    rises = {4: (4000, 4000, 6000), 11: (6000, 6000, 9000)}
    separations = (0.1, 0.15, 0.175, 0.225, 0.25, 0.4)
    by_run = pd.concat([runs(rises, d, seed) for d in separations for seed in range(3)])
    page = STUDY.figure("width").draw(Results([], scale, range(3)), drawn_from(by_run, scale))
    assert [ax.get_title(loc="left") for ax in page.axes] == [f"separation {d:g}" for d in separations]
    text = " ".join(page.get_supxlabel().split())
    assert "training classes 1.50 … 1.50, capability of 11 1.50 … 1.50, behaviour of 11 1.50 … 1.50" in text
    assert ("Stars" in text) == (scale == "paper")
    stars = [len([line for line in ax.lines if line.get_marker() == "*"]) for ax in page.axes]
    assert stars == ([0, 0, 3, 3, 3, 0] if scale == "paper" else [0] * 6)


def test_one_seed_has_no_interval() -> None:
    by_run = runs({4: (4000, 4000, 6000), 11: (6000, 6000, 9000)})
    page = STUDY.figure("width").draw(Results([], "tiny", (0,)), drawn_from(by_run, "tiny"))
    assert "95 %" not in page.get_supxlabel()
