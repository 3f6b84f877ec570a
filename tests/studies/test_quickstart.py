"""The claims of the quickstart can fail, can be undecided, and hardly ever hold by chance."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from conceptlab.claims import calibrate, judge
from conceptlab.studies import quickstart
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
            rows.append({**shared, "time": times[distance][seed], "last": STEPS[-1], "final": final})
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
        finals = np.clip(generator.normal(quickstart.THRESHOLD, 0.08, seeds), 0, 1)
        return tables(ORDERED | {d: (ORDERED[d] * 2)[:seeds] for d in ORDERED}, finals.tolist())

    assert calibrate(CLAIMS["quickstart.order"], order, datasets=500).reproduced <= 0.05
    assert calibrate(CLAIMS["quickstart.held-out"], held_out, datasets=500).reproduced <= 0.05


def test_the_world_is_the_three_variable_one():
    recipe = quickstart.recipes("small", [0])[0]
    world = Shapes(**{k: v for k, v in recipe.world.items() if k != "name"})
    assert world.space.names == ("shape", "size", "colour")
    assert {world.space.code(c) for c in world.space} == set(DISTANCES)
