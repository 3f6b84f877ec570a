from __future__ import annotations

import math

import numpy as np
import pandas as pd

from conceptlab.measures import drawing_since, draws_by, emergence_table, emergence_time

STEPS = np.arange(100, 1100, 100)


def test_a_step_is_found_where_it_is():
    assert emergence_time(STEPS, STEPS >= 400, 0.8) == 400


def test_a_share_at_the_threshold_has_reached_it_however_it_was_kept():
    """The single that is nearest to .95, which metrics are kept in, is less than the double."""
    for kind in (np.float32, np.float64):
        curve = np.where(STEPS >= 400, 19 / 20, 0).astype(kind)
        assert emergence_time(STEPS, curve, 0.95) == 400
        assert emergence_time(STEPS, pd.Series(curve).astype(float), 0.95) == 400


def test_a_lucky_evaluation_is_not_emergence():
    curve = np.array([0, 1, 0, 1, 1, 0, 1, 1, 1, 1.0])
    assert emergence_time(STEPS, curve, 0.8) == 700


def test_never_stays_never():
    assert math.isnan(emergence_time(STEPS, np.zeros(10), 0.8))
    assert math.isnan(emergence_time(STEPS, STEPS >= 900, 0.8)), "two evaluations at the end are not three"
    assert math.isnan(emergence_time(STEPS, np.full(10, np.nan), 0.8))


def test_junk_curves_hardly_ever_emerge():
    generator = np.random.default_rng(0)
    times = [emergence_time(STEPS, generator.uniform(0, 1, 10), 0.9) for _ in range(2000)]
    assert np.mean(np.isfinite(times)) < 0.02  # 8 windows × .1^3


def test_a_table_of_times():
    rows = [
        {
            "seed": seed,
            "class": cls,
            "step": s,
            "measure": "accuracy",
            "weights": "raw",
            "variable": "",
            "value": s >= at,
        }
        for seed in (0, 1)
        for cls, at in (("00", 200), ("11", 600 + 100 * seed), ("10", 5000))
        for s in STEPS
    ]
    # Single variables and the moving average are other curves, which must not be mixed in.
    rows += [
        {**row, **other, "value": 0.0} for row in rows for other in ({"variable": "size"}, {"weights": "ema"})
    ]
    table = emergence_table(pd.DataFrame(rows), 0.8, by=["seed", "class"]).set_index(["seed", "class"])
    assert table.loc[(0, "00"), "time"] == 200
    assert table.loc[(1, "11"), "time"] == 700
    assert math.isnan(table.loc[(0, "10"), "time"])
    assert table["last"].unique().tolist() == [900]  # from there on three in a row cannot be seen


def test_a_model_draws_since_its_last_training_class_does():
    steps = [10, 20, 30, 40, 50]
    early, late = [0.2, 0.6, 0.7, 0.8, 0.9], [0.0, 0.6, 0.5, 0.5, 0.6]
    table = pd.DataFrame(
        [
            {"step": s, "class": c, "value": v}
            for c, vs in (("0", early), ("1", late))
            for s, v in zip(steps, vs)
        ]
    )
    assert drawing_since(table, 0.5) == 20
    assert drawing_since(table, 0.55) != drawing_since(table, 0.55), "never three times in a row"
    assert drawing_since(table[table["class"] == "0"], 0.65) == 30


def test_one_reading_of_noise_is_not_drawing():
    """An untrained network's noise is read as one class whatever is asked for; two at once is drawing."""
    noise = {
        "a": [1.0, 1.0, 1.0, 0.2, 0.9, 1.0, 1.0],
        "b": [0.0, 0.0, 0.0, 0.9, 0.9, 0.9, 1.0],
        "rare": [0.0] * 7,
    }
    rows = [(step, cls, v) for cls, curve in noise.items() for step, v in zip(range(10, 80, 10), curve)]
    table = pd.DataFrame(rows, columns=["step", "class", "value"])
    assert math.isnan(drawing_since(table, 0.8))
    assert drawing_since(table, 0.8, classes=2) == 50
    assert drawing_since(table, 0.8, classes=1) == 10


def test_every_model_draws_by_its_own_training_classes():
    """Model a draws from step 20 on, b never; what is asked of them is another table."""
    seen = pd.DataFrame(
        [
            (model, step, cls, float(model == "a" and step >= 20))
            for model in "ab"
            for step in (10, 20, 30, 40)
            for cls in "01"
        ],
        columns=["model", "step", "class", "value"],
    )
    rows = pd.DataFrame({"model": ["a", "a", "b", "a"], "step": [10, 30, 40, 20]}, index=[7, 5, 3, 1])
    assert draws_by(rows, seen, ["model"], 0.8).to_dict() == {7: False, 5: True, 3: False, 1: True}
