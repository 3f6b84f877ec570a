"""Figure 6 and `predict` of yang2025: on curves and worlds whose answer is known, and from trained members."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from conceptlab import studies
from conceptlab.store import Store
from conceptlab.studies import Results
from conceptlab.studies.park2024.recipes import sweep
from conceptlab.studies.yang2025 import STUDY, bridge, predict, predict_kinds, worlds
from conceptlab.worlds import Circles
from tests.studies import yang2025_tables as fake

STEPS = np.arange(1, 21) * 50


def run(colour: np.ndarray, seed: int, right: np.ndarray | float = 1.0) -> pd.DataFrame:
    """Measurements of one run: class 11 is small at once and blue as `colour` says."""
    parts = {
        ("11", "colour", "coordinate"): colour,
        ("11", "size", "coordinate"): 1.0,
        ("00", "", "accuracy"): right,
    }
    frames = [
        pd.DataFrame({"step": STEPS, "class": cls, "variable": variable, "measure": measure, "value": value})
        for (cls, variable, measure), value in parts.items()
    ]
    table = pd.concat(frames, ignore_index=True)
    distance = (table["class"] == "11").astype(int) * 2
    return table.assign(seed=seed, separation=0.2, hidden=0.0, distance=distance)


SWING = np.interp(STEPS, [50, 300, 600, 1000], [0.2, 0.7, 0.3, 1.0])
STEADY = np.linspace(0, 1, 20)


def test_a_detour_is_found_and_a_straight_way_or_noise_is_not() -> None:
    noisy = STEADY + 0.01 * np.random.default_rng(0).standard_normal(20)
    rows = pd.concat([run(SWING, 0), run(STEADY, 1), run(noisy, 2)])
    table = bridge.swing_table(bridge.concept_paths(rows)).set_index("seed")
    assert table["swings"].tolist() == [True, False, False]
    # from (1 - .7)²/2 up to (1 - .3)²/2
    assert table.loc[0, "swing"] == pytest.approx((0.7**2 - 0.3**2) / 2, abs=0.02)
    assert table.loc[1, "speed"] == pytest.approx(1 / 19 / 50)


def test_blots_do_not_swing() -> None:
    """The same detour before the model draws says nothing."""
    late = (STEPS > 600).astype(float)
    paths = bridge.concept_paths(run(SWING, 0, late))
    assert paths.loc[paths["draws"], "step"].min() == 650
    assert not bridge.swing_table(paths)["swings"].any()
    never = bridge.swing_table(bridge.concept_paths(run(SWING, 0, 0.0)))
    assert never[["swing", "noise", "speed"]].isna().all(axis=None)


def test_a_seed_of_which_one_run_hardly_draws_is_unknown() -> None:
    swings = fake.bridge(np.random.default_rng(0), 5, 0.1)["swings"]
    whole = swings["seed"].max()
    hardly = (swings["separation"] == swings["separation"].min()) & (swings["seed"] < whole)
    swings.loc[hardly, ["swing", "noise", "speed"]] = math.nan
    for claim in bridge.CLAIMS:
        known = np.isfinite(claim.measure({"swings": swings}).low)
        assert known.tolist() == [False] * int(whole) + [True], claim.id


def test_noise_that_only_low_signal_has_decides_nothing_either_way() -> None:
    """Wild curves whose rises are as large as their noise, and calm ones that hardly rise."""
    runs = [
        {"separation": separation, "seed": seed, "swing": swing + 0.01 * seed, "noise": noise}
        for separation, swing, noise in ((0.1, 0.3, 0.35), (0.4, 0.05, 0.01))
        for seed in range(5)
    ]
    found = bridge._more_at_low({"swings": pd.DataFrame(runs)})
    assert found.low == pytest.approx([-0.09] * 5)
    assert found.high == pytest.approx([0.25] * 5)


def test_a_jump_into_the_first_drawing_is_no_speed() -> None:
    drawing = (STEPS >= 300).astype(float)
    jumps = np.where(STEPS >= 300, STEADY, 5.0)
    table = bridge.swing_table(bridge.concept_paths(run(jumps, 0, drawing)))
    assert table["speed"].item() == pytest.approx(1 / 19 / 50)


def test_speed_does_not_hang_on_how_often_it_was_looked() -> None:
    """The same noise, once with twice as many evaluations in between."""
    noise = 0.05 * np.random.default_rng(1).standard_normal(20)
    coarse = pd.DataFrame({"step": STEPS, "colour": noise, "size": 1.0})
    fine = pd.DataFrame({"step": np.arange(50, 1001, 25)})
    fine = fine.assign(colour=np.interp(fine["step"], STEPS, noise), size=1.0)
    assert bridge._fastest(fine, 50) == pytest.approx(bridge._fastest(coarse, 50))


def test_figure_6_shares_the_members_of_park2024() -> None:
    for scale in ("tiny", "small", "paper"):
        mine = STUDY.figure("fig6").recipes(scale, (0, 1))
        assert {r.hash for r in mine} == {r.hash for r in sweep(scale, (0, 1))}


@pytest.mark.parametrize("name", ["fig6", "predict"])
def test_trained_models_take_few_seeds_unless_told(name: str) -> None:
    figure = STUDY.figure(name)
    assert STUDY.seeds_of(figure, "paper") == tuple(range(5)), "a hundred seeds are for theory"
    assert {r.seed for r in figure.recipes("paper", tuple(range(7)))} == set(range(7)), "told is told"


def test_at_least_twenty_worlds_are_foretold() -> None:
    for scale in ("small", "paper"):
        recipes = worlds.members(scale, (0, 1))
        assert len({repr(recipe.world) for recipe in recipes}) == 24
        assert len({recipe.hash for recipe in recipes}) == 48


def test_signals_become_a_sim_task() -> None:
    """mu² is the signal, sigma² the diversity, a third of the images (two concepts, and the centre) have a concept."""
    found = worlds.foretell(Circles(resolution=16, colour_separation=0.4, size_separation=0.3))
    for signal, diversity, time in zip(found.signal, found.diversity, found.time):
        assert time == pytest.approx(math.log(2) / (diversity + signal / 3))
    assert found.diversity[1] > 10 * found.diversity[0], (
        "sizes vary by ± 3/8 of their distance, colours by ± 1/8"
    )
    calm = worlds.foretell(Circles(resolution=16, colour_separation=0.4, size_jitter=0.0))
    assert calm.diversity[1] == 0
    twice = worlds.foretell(Circles(resolution=16, colour_separation=0.8, size_separation=0.3))
    assert twice.signal[0] == pytest.approx(4 * found.signal[0], rel=0.05)


def test_learning_times_are_read_between_evaluations() -> None:
    steps = [10, 20, 30, 40]
    rows = []
    for cls, values in (
        ("00", [0.5, 0.4, 0.0, 0.0]),
        ("10", [0.5, 0.8, 0.6, 1.0]),
        ("11", [0.0, 0.0, 0.0, 0.0]),
    ):
        rows += [(step, cls, value) for step, value in zip(steps, values)]
    metrics = pd.DataFrame(rows, columns=["step", "class", "value"]).assign(
        variable="colour", measure="coordinate", weights="raw"
    )
    # apart by 0, .4, .6, 1 in the training classes: half of it lies midway between the second and the third
    assert predict.learning_time(metrics, "colour", {"00", "10"}, 0) == pytest.approx(25)
    assert predict.learning_time(metrics.assign(value=0.5), "colour", {"00", "10"}, 0) == math.inf


def test_pairs_put_the_concept_foretold_to_be_slower_on_top() -> None:
    concepts = pd.DataFrame(
        {
            "world": ["a"] * 2 + ["b"] * 2 + ["c"] * 2,
            "seed": 0,
            "variable": ["colour", "size"] * 3,
            "signal": [1.0, 4.0] * 3,
            "predicted": [8.0, 2.0] * 3,
            "time": [30.0, 10.0, math.inf, 10.0, math.inf, math.inf],
        }
    )
    pairs = predict.pair_table(concepts)
    assert pairs["pair"].tolist() == ["colour / size"] * 2, "a pair of which neither was learnt says nothing"
    assert np.exp(pairs[["measured", "sim", "baseline"]].iloc[0]).tolist() == pytest.approx([3, 4, 4])
    assert pairs["measured"].iloc[1] == math.inf
    assert predict.typical_error(pairs.iloc[:1], "sim").low.tolist() == pytest.approx([math.log(4 / 3)])


def test_a_kind_that_is_always_late_is_told_from_one_that_does_not_follow() -> None:
    """Sizes three times later than foretold in every world: ratios follow exactly, and not as foretold."""
    foretold = {"a": (8.0, 2.0), "b": (3.0, 2.0), "c": (1.0, 2.0), "d": (1.0, 6.0)}
    rows = [
        (world, 0, name, 1 / time, time, 10 * time * (3 if name == "size" else 1))
        for world, times in foretold.items()
        for name, time in zip(("colour", "size"), times)
    ]
    concepts = pd.DataFrame(rows, columns=["world", "seed", "variable", "signal", "predicted", "time"])
    pairs = predict.pair_table(concepts)
    assert set(pairs["pair"]) == {"colour / size", "size / colour"}
    alike = predict_kinds.named_alike(pairs)
    assert set(alike["pair"]) == {"colour / size"}
    assert np.exp(alike["measured"]).tolist() == pytest.approx([8 / 6, 3 / 6, 1 / 6, 1 / 18])
    assert np.exp(alike["baseline"]).tolist() == pytest.approx([4, 3 / 2, 1 / 2, 1 / 6])
    (kind,) = predict_kinds.kind_table(pairs).to_dict("records")
    assert kind["worlds"] == 4
    assert (kind["rank"], kind["factor"]) == pytest.approx((1, 1 / 3))
    junk = alike.assign(measured=[0.1, -0.2, 0.3, 0.0])
    assert predict_kinds.kind_table(junk)["rank"].item() == pytest.approx(0, abs=1e-12)
    same = alike.assign(sim=0.5)
    assert math.isnan(predict_kinds.kind_table(same)["rank"].item()), "worlds that do not differ rank nothing"


def test_a_pair_of_which_neither_was_learnt_says_nothing_and_a_seed_without_pairs_counts_against() -> None:
    tables = fake.rivals(np.random.default_rng(0), 3, 0.3)
    pairs = tables["pairs"]
    # Seed 1 lacks a pair that the others have; seed 2 learnt none.
    left = pairs[(pairs["seed"] == 0) | ((pairs["seed"] == 1) & (pairs["sim"] > 0))]
    for claim in predict.CLAIMS:
        found = claim.measure({**tables, "pairs": left})
        assert found.seeds == (0, 1, 2)
        assert np.isfinite(found.low).tolist() == [True, True, False], claim.id


def test_both_figures_draw_what_they_would_meet() -> None:
    rng, results = np.random.default_rng(0), Results([], "small", (0, 1))
    swings = fake.bridge(rng, 2, 0.1)["swings"]
    paths = bridge.concept_paths(pd.concat([run(SWING, 0), run(STEADY, 1)]))
    assert len(bridge.draw_bridge(results, {"swings": swings, "paths": paths}).axes) == 4
    pairs = fake.rivals(rng, 2, 0.3)["pairs"].assign(world="a", pair="colour / size")
    pairs.loc[0, "measured"] = math.inf
    concepts = pd.DataFrame(
        {
            "world": "a",
            "variable": ["colour", "size"],
            "seed": 0,
            "signal": [0.1, 0.2],
            "time": [9.0, math.inf],
        }
    )
    kinds = predict_kinds.kind_table(pairs)
    assert (
        len(predict.draw_predict(results, {"pairs": pairs, "concepts": concepts, "kinds": kinds}).axes) == 4
    )
    none = pairs.iloc[:0]
    empty = {
        "pairs": none,
        "concepts": concepts.assign(time=math.inf),
        "kinds": predict_kinds.kind_table(none),
    }
    page = predict.draw_predict(results, empty)
    assert len(page.axes) == 4
    assert any("no concept was learnt" in " ".join(text.get_text().split()) for text in page.texts)


@pytest.mark.slow
def test_both_figures_run_tiny(tmp_path: Path) -> None:
    chosen = tuple(STUDY.figure(name) for name in ("fig6", "predict"))
    order = studies.Order(STUDY, chosen, "tiny", (0, 1), {})
    runs = studies.run(order, Store(tmp_path), torch.device("cpu"), lambda *_, **__: None)
    assert [len(run.verdicts) for run in runs] == [3, 3]
