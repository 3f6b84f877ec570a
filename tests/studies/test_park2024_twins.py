"""How far twins and seeds lie apart: exact answers, and what is drawn of them."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from conceptlab.studies.bradley2025 import STUDY as BRADLEY2025
from conceptlab.studies.park2024 import STUDY, twins
from conceptlab.studies.study import Results


def runs(times: dict[tuple[float, int], tuple[float, float]]) -> pd.DataFrame:
    rows = [
        {
            "separation": separation,
            "seed": seed,
            "twin": twin,
            "behaviour": time,
            "accuracy": 0.9,
            "end": 15_000.0,
        }
        for (separation, seed), both in times.items()
        for twin, time in zip(("once", "again"), both)
    ]
    return pd.DataFrame(rows)


def test_twins_are_the_sweep_and_what_another_study_trained_of_it():
    recipes = STUDY.figure("twins").recipes("paper", range(2))
    across = {recipe.hash for recipe in BRADLEY2025.figure("across").recipes("paper", range(2))}
    sweep = {recipe.hash for recipe in STUDY.figure("fig1").recipes("paper", range(2))}
    assert {recipe.hash for recipe in recipes} - sweep <= across
    assert len(recipes) == 2 * len(sweep)


def test_spread_is_that_of_twins_about_their_mean_and_of_seeds_about_theirs():
    apart, between = 0.3, 0.8
    times = {
        (0.2, seed): (1000 * math.exp(seed * between), 1000 * math.exp(seed * between + apart))
        for seed in (0, 1)
    }
    found = twins.spread(twins.pairs(runs(times), "behaviour"))
    assert found["twins"].tolist() == pytest.approx([apart / math.sqrt(2)])
    assert found["seeds"].tolist() == pytest.approx([between / math.sqrt(2)])
    assert found["pairs"].tolist() == [2]


def test_what_is_never_reached_is_left_out_of_both_spreads_and_drawn_open():
    table = runs(
        {(0.2, 0): (1000, 1000), (0.2, 1): (2000, math.nan), (0.3, 0): (500, 1000), (0.3, 1): (500, 1000)}
    )
    found = twins.spread(twins.pairs(table, "behaviour"))
    assert found["pairs"].tolist() == [1, 2]
    assert found["twins"].tolist() == pytest.approx([0.0, math.log(2) / math.sqrt(2)])
    assert math.isnan(found["seeds"].iloc[0]), "one seed has no spread"
    assert found["seeds"].iloc[1] == 0
    assert twins.pooled(found, "twins") == pytest.approx(math.sqrt(2 / 3 * math.log(2) ** 2 / 2))
    page = STUDY.figure("twins").draw(Results([], "paper", (0, 1)), {"runs": table, "spread": found})
    text = " ".join(page.get_supxlabel().split())
    assert "4 recipes (2 seeds), each trained twice" in text
    assert "Open: not within the run." in text
    assert "of the 3 pairs that both behave, with 95 % if log times are normal" in text
    low, high = twins.interval(twins.pooled(found, "twins"), 3)
    assert f"{twins.pooled(found, 'twins'):.2f} ({low:.2f} … {high:.2f}) of twins, 0.00 of seeds" in text


def test_an_interval_of_a_spread_holds_the_true_one():
    low, high = twins.interval(1.0, 4)
    assert (low, high) == pytest.approx((0.5991, 2.8736), abs=1e-4)  # from a table of chi-squared
    generator = np.random.default_rng(0)
    seeds, twin = generator.normal(0, 0.4, (2000, 5)), generator.normal(0, 0.2, (2, 2000, 5))
    logs = seeds + twin
    for column, true, measured in (
        ("twins", 0.2, np.sqrt(np.mean((logs[0] - logs[1]) ** 2, axis=1) / 2)),
        ("seeds", math.hypot(0.4, 0.2), np.sqrt(logs.var(axis=2, ddof=1).mean(axis=0))),
    ):
        free = twins.freedom(pd.DataFrame({"pairs": [5]}), column)
        low, high = twins.interval(measured, free.item())
        assert 0.94 <= np.mean((low <= true) & (true <= high)) <= 0.985


def test_a_recipe_of_which_one_twin_is_missing_is_no_pair():
    table = runs({(0.2, 0): (1000, 1000), (0.2, 1): (2000, 3000)}).iloc[:-1]
    assert twins.pairs(table, "behaviour")["seed"].tolist() == [0]
