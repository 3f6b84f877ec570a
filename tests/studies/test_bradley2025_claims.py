"""Claims of bradley2025's experiments: each can be reproduced, contradicted and undecided, and rarely sees what is not
there."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from conceptlab.claims import calibrate, judge
from conceptlab.errors import InputError
from conceptlab.studies.bradley2025 import crowding, k_sweep, length, told
from conceptlab.studies.bradley2025.tables import WHOLE, base_of, summary
from conceptlab.studies.study import Results

CLAIMS = {
    claim.id.removeprefix("bradley2025."): claim
    for room in (length, k_sweep)
    for figure in room.FIGURES
    for claim in figure.claims
}
# What each experiment keeps where the claims hold; reversed, they fail; all alike, there is nothing to find.
KEPT = {"1": 0.7, "2": 0.5, "3": 0.9}


def table(rng: np.random.Generator, effect: float, seeds: int = 6) -> dict[str, pd.DataFrame]:
    rows = []
    for seed in range(seeds):
        for trained in (3, 5):
            for experiment, level in KEPT.items():
                for reach in (0, 1, 7) if experiment == "3" else (WHOLE,):
                    far = -0.3 if reach == 7 else 0.0
                    kept = 0.7 + effect * (level + far - 0.7) + 0.03 * rng.standard_normal()
                    rows.append((seed, experiment, trained, reach, kept, 20 * kept))
    columns = ["seed", "experiment", "trained", "reach", "kept", "k_max"]
    return {"summary": pd.DataFrame(rows, columns=columns).assign(experiment_reach=1, most=30)}


def own(name: str, tables: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """What the claim's figure has: `length` one reach, `k-sweep` one training range."""
    rows = tables["summary"]
    kept = (
        rows[rows["reach"].isin([1, WHOLE])]
        if CLAIMS[name].figure == "length"
        else rows[rows["trained"] == 3]
    )
    return {"summary": kept}


@pytest.mark.parametrize("name", CLAIMS)
def test_each_claim_can_hold_and_fail_and_be_undecided(name):
    rng = np.random.default_rng(0)
    claim = CLAIMS[name]
    assert judge([claim], own(name, table(rng, 1.0)), "paper")[0].verdict == "reproduced"
    assert judge([claim], own(name, table(rng, -1.0)), "paper")[0].verdict == "not reproduced"
    assert judge([claim], own(name, table(rng, 0.0, seeds=3)), "paper")[0].verdict == "inconclusive"
    empty = {"summary": table(rng, 1.0)["summary"].iloc[:0]}
    assert judge([claim], empty, "paper")[0].verdict == "inconclusive"


# The claims of `length` differ in which experiments they compare, not in how.
@pytest.mark.parametrize("name", ["all-labelled-further-3", "local-k-max-5", "reach"])
def test_chance_is_rarely_taken_for_an_effect(name):
    found = calibrate(CLAIMS[name], lambda rng: own(name, table(rng, 0.0, seeds=5)), datasets=200)
    assert found.reproduced <= 0.05 + 2 * (0.05 * 0.95 / 200) ** 0.5


def test_summary_on_curves_whose_answer_is_known():
    shares = {"1": [1.0, 1.0, 1.0, 0.9, 0.6], "2": [0.8, 0.7, 0.6, 0.4, 0.2], "3": [0.02] * 5}
    rows = [
        {"seed": 0, "experiment": e, "trained": 3, "reach": WHOLE, "step": 9, "k": k, "variable": "", "measure": m,
         "value": value}
        for e, values in shares.items()
        for k, value in enumerate(values, start=1)
        for m in ("share_met", "share_corrected")
    ]  # fmt: skip
    found = summary(pd.DataFrame(rows)).set_index("experiment")
    assert base_of("1", 3) == found.loc["1", "base"] == 3
    assert base_of("3", 5) == found.loc["2", "base"] == 1
    assert found.loc["1", "k_max"] == 4
    assert found.loc["2", "k_max"] == 1
    assert found.loc["1", "kept"] == pytest.approx(0.75)
    assert found.loc["2", "kept"] == pytest.approx(0.3 / 0.8)
    assert found.loc["2", "base_share"] == 0.8
    # What was never learned is not kept.
    assert found.loc["3", "k_max"] == 0
    assert pd.isna(found.loc["3", "kept"])


def _k_max(local: list[int], other: list[int], most: int = 12) -> dict[str, pd.DataFrame]:
    rows = [
        (seed, experiment, 3, WHOLE, float("nan"), value, most)
        for experiment, values in (("3", local), ("2", other))
        for seed, value in enumerate(values)
    ]
    columns = ["seed", "experiment", "trained", "reach", "kept", "k_max", "most"]
    return {"summary": pd.DataFrame(rows, columns=columns)}


def test_k_max_at_the_most_conditions_is_a_lower_bound():
    claim = CLAIMS["local-k-max-3"]
    found = claim.measure(_k_max([12, 9, 0], [4, 12, 12]))
    assert found.low.tolist() == [8, -np.inf, -np.inf]
    assert found.high.tolist() == [np.inf, -3, -12]
    # Both kept everything that was asked for: nobody knows which goes further.
    assert claim.measure(_k_max([12], [12])).unknown == 1
    local, other = [11, 12, 12, 11, 12, 12], [2, 3, 4, 3, 2, 3]
    assert judge([claim], _k_max(local, other), "paper")[0].verdict == "reproduced"
    assert judge([claim], _k_max(other, local), "paper")[0].verdict == "not reproduced"
    # As far as they were asked all keep everything: exact differences of 0 would say "not reproduced".
    assert judge([claim], _k_max([12] * 6, [12] * 6), "paper")[0].verdict == "inconclusive"


ALONE = {claim.id.removeprefix("bradley2025."): claim for claim in crowding.CLAIMS}


def alone(rng: np.random.Generator, local: float, other: float, seeds: int = 6) -> dict[str, pd.DataFrame]:
    """What experiments 3 and 2 keep of conditions that stand alone; of others less."""
    rows = [
        (seed, experiment, trained, place, kept - (place == "crowded") * 0.4 + 0.03 * rng.standard_normal())
        for seed in range(seeds)
        for trained in (3, 5)
        for experiment, kept in (("3", local), ("2", other))
        for place in ("alone", "crowded")
    ]
    return {"summary": pd.DataFrame(rows, columns=["seed", "experiment", "trained", "place", "kept"])}


@pytest.mark.parametrize("name", ALONE)
def test_each_claim_of_crowding_can_hold_and_fail_and_be_undecided(name):
    rng, claim = np.random.default_rng(0), ALONE[name]
    assert judge([claim], alone(rng, 1.0, 0.6), "paper")[0].verdict == "reproduced"
    assert judge([claim], alone(rng, 0.6, 1.0), "paper")[0].verdict == "not reproduced"
    assert judge([claim], alone(rng, 0.9, 0.9, seeds=3), "paper")[0].verdict == "inconclusive"


def test_crowding_on_members_whose_answer_is_known(monkeypatch):
    """Two of three conditions that stand alone are met at four conditions, and one of four that do not."""
    told = {
        ("nearest 1", 4): (0.0, 2),
        ("nearest 2", 4): (0.5, 2),
        ("nearest 3", 4): (1.0, 1),
        ("nearest 5", 4): (0.5, 2),
        ("nearest 5", 1): (1.0, 9),
    }
    rows = [
        {"seed": 0, "experiment": "3", "trained": 3, "reach": 2, "step": 9, "k": k, "variable": variable,
         "measure": measure, "value": value}
        for (variable, k), pair in told.items()
        for measure, value in zip(("share_met", "conditions"), pair)
    ]  # fmt: skip
    base = {"seed": [0], "experiment": ["3"], "trained": [3], "reach": [2], "base_share": [0.8]}
    monkeypatch.setattr(crowding, "labelled_metrics", lambda _: pd.DataFrame(rows))
    monkeypatch.setattr(crowding, "length_tables", lambda _: {"summary": pd.DataFrame(base)})
    found = crowding.crowding_tables(Results([], "small", [0]))["summary"].set_index("place")
    assert found["conditions"].to_dict() == {"alone": 3, "crowded": 4}
    assert found["share"].to_dict() == pytest.approx({"alone": 2 / 3, "crowded": 1 / 4})
    assert found.loc["alone", "kept"] == pytest.approx(2 / 3 / 0.8)


def test_crowding_of_members_measured_before_says_so(monkeypatch):
    old = pd.DataFrame({"step": [9], "variable": [""]})
    monkeypatch.setattr(crowding, "labelled_metrics", lambda _: old)
    with pytest.raises(InputError, match="train them again"):
        crowding.crowding_tables(Results([], "small", [0]))


def test_the_claim_of_places_and_colours_can_hold_and_fail_and_be_undecided():
    rng, (claim,) = np.random.default_rng(0), told.CLAIMS

    def table(places: float, colours: float, seeds: int = 6) -> dict[str, pd.DataFrame]:
        rows = [
            (seed, what, kept + 0.03 * rng.standard_normal())
            for seed in range(seeds)
            for what, kept in (("location", places), ("colour", colours), ("both", 0.5))
        ]
        return {"summary": pd.DataFrame(rows, columns=["seed", "told", "kept_corrected"])}

    assert judge([claim], table(0.9, 0.4), "paper")[0].verdict == "reproduced"
    assert judge([claim], table(0.4, 0.9), "paper")[0].verdict == "not reproduced"
    assert judge([claim], table(0.7, 0.7, seeds=3), "paper")[0].verdict == "inconclusive"
