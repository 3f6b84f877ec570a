"""bradley2025's figures of theory and locality: numbers against exact answers, and claims that can say all they say."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from conceptlab.claims import Claim, calibrate, judge
from conceptlab.studies import Results
from conceptlab.studies.bradley2025 import across, cpc, features, lights, locality
from conceptlab.theory import random_cpc

Tables = dict[str, pd.DataFrame]
Rng = np.random.Generator
PAGE = Path(__file__).parents[2] / "docs" / "bradley2025_theory.md"
CLAIMS = {
    c.id.removeprefix("bradley2025."): c for room in (cpc, features, locality, across) for c in room.CLAIMS
}


# --- tables with an effect as large as one likes ---


def coupled(rng: Rng, seeds: int, slope: float) -> Tables:
    """Peak errors that grow as a power of the coupling."""
    rows = [
        (seed, kind, e, 1.0, "relative", e**slope * np.exp(0.1 * rng.normal()))
        for seed, kind, e in itertools.product(range(seeds), ("modes",), (0.03, 0.1, 0.3, 0.9))
    ]
    return {"errors": pd.DataFrame(rows, columns=["seed", "coupling", "epsilon", "sigma", "unit", "value"])}


def faded(rng: Rng, seeds: int, left: float) -> Tables:
    rows = []
    for seed in range(seeds):
        end = left * np.exp(0.3 * rng.normal())
        for sigma, value in ((0.1, 0.01), (1.0, 1.0), (30.0, end)):
            rows.append((seed, "modes", 0.3, sigma, "relative", value))
    return {"errors": pd.DataFrame(rows, columns=["seed", "coupling", "epsilon", "sigma", "unit", "value"])}


def ranked(rng: Rng, seeds: int, noise: float) -> Tables:
    """Errors that fall with noise, with so much scatter; 3.8 makes rank correlations scatter around -.9."""
    sigma = np.geomspace(0.03, 30, 25)
    parts = [
        pd.DataFrame(
            {"seed": seed, "sigma": sigma, "value": 100 - np.arange(25) + noise * rng.normal(size=25)}
        )
        for seed in range(seeds)
    ]
    return {"errors": pd.concat(parts).assign(coupling="modes", epsilon=0.3, unit="relative")}


def pairs(rng: Rng, seeds: int, distance: float) -> Tables:
    far = distance + 0.003 * rng.normal(size=seeds)
    return {
        "counterexample": pd.DataFrame(
            {"seed": range(seeds), "cosine_entangled": 0.0, "distance_entangled": far}
        )
    }


def scores(column: str, pixels: float, combine: Callable[[float, float], float]) -> Callable[..., Tables]:
    def build(rng: Rng, seeds: int, effect: float) -> Tables:
        rows = []
        for seed in range(seeds):
            value = combine(pixels, effect) * np.exp(0.02 * rng.normal())
            rows += [(seed, "pixels", pixels), (seed, "features", value)]
        return {"scores": pd.DataFrame(rows, columns=["seed", "space", column])}

    return build


def kept(rng: Rng, seeds: int, strength: float) -> Tables:
    rows = []
    for seed, model in itertools.product(range(seeds), range(8)):
        rows.append((seed, model, 3, strength * model + rng.normal(), float(model)))
    return {"kept": pd.DataFrame(rows, columns=["seed", "reach", "trained", "gain", "kept"])}


def shares(rng: Rng, seeds: int, margin: float) -> Tables:
    rows = []
    for seed in range(seeds):
        value = 0.5 + margin + 0.02 * rng.normal()
        rows += [
            (seed, "1", 3, -1, "condition_share", -4.0, 0.01),
            (seed, "1", 3, -1, "condition_share", 4.0, value),
        ]
    columns = ["seed", "experiment", "trained", "reach", "measure", "level", "value"]
    return {"levels": pd.DataFrame(rows, columns=columns)}


def masses(rng: Rng, seeds: int, share: float) -> Tables:
    rows = [(seed, 3, 4, -4.0, 4, share + 0.02 * rng.normal()) for seed in range(seeds)]
    return {"mass": pd.DataFrame(rows, columns=["seed", "trained", "cell", "level", "radius", "value"])}


def networks(rng: Rng, seeds: int, strength: float) -> Tables:
    """Networks whose time grows with their reach, and with how little orthogonal they are."""
    rows = []
    for seed, number in itertools.product(range(seeds), range(8)):
        time = np.exp(strength * number + rng.normal())
        rows.append((seed, "okawa2023", str(number), float(number), -float(number), time))
    columns = ["seed", "study", "setting", "reach", "orthogonality_bottleneck", "time"]
    return {"members": pd.DataFrame(rows, columns=columns)}


def separations(rng: Rng, seeds: int, strength: float) -> Tables:
    """Times that follow the separation in every seed, and the reach within a separation."""
    rows = []
    for seed, separation in itertools.product(range(seeds), (0.2, 0.3, 0.4)):
        own = rng.normal()
        reach, time = 10 * separation + own, np.exp(5 * separation + strength * own + rng.normal())
        time = time if time < 20 else np.inf  # some never generalise
        rows.append((seed, "park2024", f"{separation:g}", reach, time))
    return {"members": pd.DataFrame(rows, columns=["seed", "study", "setting", "reach", "time"])}


@dataclass(frozen=True)
class Case:
    """A claim's tables, with the size of the effect where it holds, where it fails, and exactly at its threshold."""

    build: Callable[[Rng, int, float], Tables]
    holds: float
    fails: float
    null: float
    seeds: int = 8


CASES = {
    "cpc.approximate": Case(coupled, 1.0, 0.1, 0.5),
    "cpc.decay": Case(faded, 0.01, 0.9, 0.1),
    "cpc.always": Case(ranked, 0.1, 20.0, 3.8, 12),
    "features.not-sufficient": Case(pairs, 0.2, 0.0, 0.01),
    "features.orthogonal": Case(scores("orthogonality", 0.6, lambda p, e: p + e), 0.3, -0.1, 0.1),
    "features.compose": Case(scores("error", 0.3, lambda p, e: p / e), 10.0, 1.0, 2.0),
    "locality.gain": Case(kept, 2.0, -2.0, 0.0),
    "locality.conditions": Case(shares, 0.3, -0.3, 0.0),
    "locality.neighbours": Case(masses, 0.9, 0.2, 0.5),
    "across.local": Case(networks, 1.0, -1.0, 0.0),
    "across.orthogonal": Case(networks, 1.0, -1.0, 0.0),
    "across.seeds": Case(separations, 4.0, -4.0, 0.0, 12),
}
IDENTITIES = {"cpc.lemma", "cpc.composition", "features.necessary"}


def _verdict(claim: Claim, tables: Tables) -> str:
    return judge([claim], tables, "paper")[0].verdict


def test_every_claim_is_tested() -> None:
    assert set(CLAIMS) == {*CASES, *IDENTITIES}


@pytest.mark.parametrize("name", CASES)
def test_says_reproduced_not_reproduced_and_inconclusive(name: str) -> None:
    case, claim, rng = CASES[name], CLAIMS[name], np.random.default_rng(0)
    assert _verdict(claim, case.build(rng, case.seeds, case.holds)) == "reproduced"
    assert _verdict(claim, case.build(rng, case.seeds, case.fails)) == "not reproduced"
    assert _verdict(claim, case.build(rng, case.seeds, case.null)) == "inconclusive"


def _false_positives(name: str, datasets: int) -> float:
    case = CASES[name]
    build = lambda rng: case.build(rng, case.seeds, case.null)  # noqa: E731
    return calibrate(CLAIMS[name], build, datasets=datasets).reproduced


@pytest.mark.parametrize("name", CASES)
def test_null_data_rarely_reproduce(name: str) -> None:
    """The first 60 of the 500 data sets below, so that a gross error shows at once."""
    assert _false_positives(name, 60) <= 0.1


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_at_most_one_null_in_twenty_reproduces(name: str) -> None:
    assert _false_positives(name, 500) <= 0.05


@pytest.mark.parametrize("name", sorted(IDENTITIES))
def test_an_identity_fails_by_one_wrong_case(name: str) -> None:
    frame = pd.DataFrame({"case": [0, 1], "error": [0.0, 1e-12]})
    frame = frame.assign(identity="composition" if name == "cpc.composition" else "pixels")
    assert _verdict(CLAIMS[name], {"identity": frame}) == "reproduced"
    frame.loc[1, "error"] = 1e-6
    assert _verdict(CLAIMS[name], {"identity": frame}) == "not reproduced"


def _unknown(name: str, tables: Tables, table: str, rows: pd.Series) -> int:
    """Of how many seeds nothing is known where some rows of a table have no number."""
    column = "error" if table == "identity" else "value"
    gone = tables[table].assign(**{column: tables[table][column].mask(rows)})
    return CLAIMS[name].measure({**tables, table: gone}).unknown


def test_what_has_no_number_is_not_passed_over() -> None:
    """A dead network has no locality, an error that is no number is no zero: the others do not speak for it."""
    rng = np.random.default_rng(0)
    two = pd.concat([shares(rng, 3, 0.3)["levels"].assign(experiment=name) for name in "12"])
    dead = two["seed"].eq(1) & two["experiment"].eq("2")
    assert _unknown("locality.conditions", {"levels": two}, "levels", dead) == 1
    mass = pd.concat([masses(rng, 3, 0.9)["mass"]] * 2, ignore_index=True)
    assert _unknown("locality.neighbours", {"mass": mass}, "mass", pd.Series(range(6)).eq(4)) == 1
    errors = pd.concat(
        [faded(rng, 3, 0.01)["errors"].assign(epsilon=e) for e in (0.1, 0.3)], ignore_index=True
    )
    assert _unknown("cpc.decay", {"errors": errors}, "errors", errors.index.to_series().eq(2)) == 1
    errors = ranked(rng, 3, 0.1)["errors"].reset_index(drop=True)
    assert _unknown("cpc.always", {"errors": errors}, "errors", errors.index.to_series().eq(30)) == 1
    identity = pd.DataFrame({"case": [0, 0, 1, 1], "identity": "composition", "error": 0.0})
    assert _unknown("cpc.composition", {"identity": identity}, "identity", pd.Series(range(4)).eq(3)) == 1


def test_what_is_not_orthogonal_is_no_counterexample() -> None:
    tables = pairs(np.random.default_rng(0), 8, 0.2)
    tables["counterexample"]["cosine_entangled"] = 0.3
    assert _verdict(CLAIMS["features.not-sufficient"], tables) == "inconclusive"


def test_a_separation_at_which_no_network_generalises_says_nothing_and_hides_nothing() -> None:
    tables = separations(np.random.default_rng(0), 5, 4.0)
    measure = CLAIMS["across.seeds"].measure
    alone = measure(tables)
    never = tables["members"].query("setting == '0.2'").assign(setting="0.1", time=np.inf)
    both = measure({"members": pd.concat([tables["members"], never], ignore_index=True)})
    assert both.unknown == alone.unknown == 0
    assert np.sign(both.low.mean()) == np.sign(alone.low.mean()) == 1


# --- figures ---


@pytest.mark.parametrize("room", [cpc, features])
def test_theory_figures_make_tables_and_draw_them(room, monkeypatch: pytest.MonkeyPatch) -> None:
    if room is cpc:
        monkeypatch.setitem(cpc._SIZES, "tiny", cpc._Size(2, 5, (0.3, 0.9), 60))
    else:
        monkeypatch.setitem(features._CASES, "tiny", 2)
        monkeypatch.setitem(features._POINTS, "tiny", 60)
    results = Results([], "tiny", (0, 1))
    (figure,) = room.FIGURES
    assert not figure.recipes("paper", (0,))
    tables = figure.tables(results)
    assert all(len(table) for table in tables.values())
    assert len(figure.draw(results, tables).axes) >= 7
    verdicts = judge(figure.claims, tables, "tiny")
    assert all(v.verdict == "reproduced" for v in verdicts if v.kind == "identity")


def test_exact_and_coupled_jacobians_are_told_apart() -> None:
    table = cpc.jacobians(random_cpc(0), 0.9).set_index(["kind", "i", "j"])["value"]
    assert table["exact", 0, 3] < 1e-12 < 1e-4 < table["modes", 0, 3]


def test_the_feature_map_is_invertible_and_light_moves_only_the_corner() -> None:
    images = lights.lit_scenes(("disc left",), 20, 0)
    torch.testing.assert_close(lights.constancy_inverse(lights.constancy(images)), images)
    moved = lights.constancy(0.5 * images) - lights.constancy(images)
    assert moved[..., 0, 0] == pytest.approx(np.log(0.5))
    moved[..., 0, 0] = 0
    assert moved.abs().max() < 1e-6


def test_entangled_pairs_have_orthogonal_means_and_only_the_split_ones_fail() -> None:
    for seed in range(2):
        row = features.counterexample(seed, 300)
        assert abs(row["cosine_entangled"]) < 1e-10
        assert abs(row["cosine_composing"]) < 1e-10
        assert abs(row["distance_composing"]) < 0.05 < row["distance_entangled"]


# --- the page ---


def test_the_pages_examples_run_and_say_what_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(first, str(PAGE), "exec"), names)
    assert names["largest"] < 1e-10
    assert names["errors"][0.03] < names["errors"][0.7] > 100 * names["errors"][30.0]
    exec(compile(second, str(PAGE), "exec"), names)
    assert names["scores"]["pixels"] == pytest.approx(0.73, abs=0.03)
    assert names["scores"]["features"] > 0.98
    assert "pixels" in capsys.readouterr().out


def test_the_page_names_every_claim() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert all(f"`{name.partition('.')[2]}`" in page for name in CLAIMS)
