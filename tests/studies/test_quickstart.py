"""The claims of the quickstart can fail, can be undecided, and hardly ever hold by chance."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from conceptlab.claims import calibrate, judge
from conceptlab.studies import quickstart
from conceptlab.studies.emergence_claims import THRESHOLD, drawn_by_half, emergence
from conceptlab.studies.quickstart_figures import since_drawn
from conceptlab.worlds import Shapes

DISTANCES = {"000": 0, "001": 0, "010": 0, "100": 0, "011": 1, "101": 1, "110": 1, "111": 2}
STEPS = [5, 20, 46, 82, 128, 184, 250, 327, 413, 510, 617, 735, 862, 1000]
CLAIMS = {claim.id: claim for claim in quickstart.CLAIMS}


def tables(times: dict[int, list[float]], finals: list[float]) -> dict[str, pd.DataFrame]:
    """Tables as the study makes them, from emergence times by distance and the worst final accuracy, by seed."""
    rows, curves = [], []
    for seed, final in enumerate(finals):
        for code, distance in DISTANCES.items():
            shared = {"seed": seed, "class": code, "distance": distance}
            rows.append({**shared, "time": times[distance][seed], "last": STEPS[-1]})
            for step in STEPS:
                value = final if code == "111" else 1.0
                flat = {"weights": "raw", "variable": "", "measure": "accuracy", "step": step, "value": value}
                curves.append({**shared, **flat})
    return {"times": pd.DataFrame(rows), "curves": pd.DataFrame(curves)}


def verdict(claim: str, made: dict[str, pd.DataFrame]) -> str:
    return judge([CLAIMS[claim]], made, "small")[0].verdict


ORDERED = {0: [40, 50, 45, 40], 1: [90, 110, 100, 95], 2: [250, 300, 410, 260]}
TURNED = {0: ORDERED[2], 1: ORDERED[1], 2: ORDERED[0]}
MIXED = {0: [40, 300, 45, 100], 1: [90, 110, 30, 95], 2: [250, 60, 410, 50]}


@pytest.mark.parametrize(
    ("times", "expected"), [(ORDERED, "reproduced"), (TURNED, "not reproduced"), (MIXED, "inconclusive")]
)
def test_the_order(times, expected):
    assert verdict("quickstart.order", tables(times, [1.0] * 4)) == expected


@pytest.mark.parametrize(
    ("finals", "expected"),
    [
        ([0.97, 0.95, 1.0, 0.96], "reproduced"),
        ([0.2, 0.3, 0.1, 0.25], "not reproduced"),
        ([0.97, 0.5, 1.0, 0.7], "inconclusive"),
    ],
)
def test_held_out_classes(finals, expected):
    assert verdict("quickstart.held-out", tables(ORDERED, finals)) == expected


def _read_in_noise(measure: str = "accuracy") -> pd.DataFrame:
    """Seed 0 draws from step 82 on, seed 1 never. Before, the judge takes noise for class 111, in seed 0 for 000, too;
    another measure says all along that everything is right."""
    rows = []
    for seed, begins in ((0, 82), (1, 10**6)):
        for step in STEPS:
            right = {code: step >= begins * (1 + distance) for code, distance in DISTANCES.items()}
            right |= {"111": step < 82 or right["111"], "000": seed == 0 or right["000"]}
            rows += [(seed, step, code, DISTANCES[code], float(value)) for code, value in right.items()]
    table = pd.DataFrame(rows, columns=["seed", "step", "class", "distance", "value"])
    table = table.assign(measure=measure, weights="raw", variable="")
    other = "corrected" if measure == "accuracy" else "accuracy"
    return pd.concat([table, table.assign(measure=other, value=1.0)], ignore_index=True)


@pytest.mark.parametrize("measure", ["accuracy", "corrected"])
def test_what_a_judge_reads_in_noise_is_no_emergence(measure):
    """Neither of the held-out class 111 nor of the training class 000: two training classes at once are drawn at 82."""
    curves = _read_in_noise(measure)
    found = emergence(curves, measure=measure).set_index(["seed", "class"])["time"]
    assert found[0].to_dict() == {
        **dict.fromkeys(("000", "001", "010", "100"), 82),
        **dict.fromkeys(("011", "101", "110"), 184),
        "111": 250,
    }
    assert found[1].isna().all(), "a model that never draws has learnt nothing"
    assert drawn_by_half(curves[curves["seed"] == 0], measure) == 82
    assert drawn_by_half(curves, measure) == np.inf


def test_paths_begin_where_all_seeds_draw():
    curves = _read_in_noise()
    assert since_drawn(curves[curves["seed"] == 0])["step"].min() == 82
    assert since_drawn(curves)["step"].min() == STEPS[0], "seed 1 never draws: everything is shown"


def test_one_training_class_is_enough_where_there_is_no_other():
    curves = _read_in_noise()
    alone = curves[curves["class"].isin(["001", "011"])]
    assert emergence(alone).set_index(["seed", "class"])["time"][0].to_dict() == {"001": 82, "011": 184}


def test_a_class_never_reached_is_censored_not_dropped():
    never = {**ORDERED, 1: [float("nan"), 110, 100, 95], 2: [float("nan"), 300, 410, 260]}
    found = judge([CLAIMS["quickstart.order"]], tables(never, [1.0] * 4), "small")[0]
    assert found.censored >= 1
    assert found.seeds == 4


@pytest.mark.parametrize("seeds", [4, 5, 8])
def test_by_chance_neither_holds(seeds):
    def order(generator: np.random.Generator) -> dict[str, pd.DataFrame]:
        """All distances emerge alike: any order is luck."""
        drawn = {d: np.exp(generator.normal(5, 0.5, seeds)).tolist() for d in range(3)}
        return tables(drawn, [1.0] * seeds)

    def held_out(generator: np.random.Generator) -> dict[str, pd.DataFrame]:
        """The typical seed ends exactly at the threshold."""
        finals = np.clip(generator.normal(THRESHOLD, 0.08, seeds), 0, 1)
        return tables(ORDERED | {d: (ORDERED[d] * 2)[:seeds] for d in ORDERED}, finals.tolist())

    assert calibrate(CLAIMS["quickstart.order"], order, datasets=500).reproduced <= 0.05
    assert calibrate(CLAIMS["quickstart.held-out"], held_out, datasets=500).reproduced <= 0.05


def test_the_world_is_the_three_variable_one():
    recipe = quickstart.recipes("small", [0])[0]
    world = Shapes(**{k: v for k, v in recipe.world.items() if k != "name"})
    assert world.space.names == ("shape", "size", "colour")
    assert {world.space.code(c) for c in world.space} == set(DISTANCES)
