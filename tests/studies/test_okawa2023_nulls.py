"""Learners without the effect that a claim of okawa2023 is about: whatever else they have, it is not reproduced."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

from conceptlab.claims import Verdict, judge
from conceptlab.concepts import ConceptSpace, Variable
from conceptlab.studies.okawa2023 import STUDY
from conceptlab.studies.okawa2023.data import leaving
from conceptlab.studies.okawa2023.order import prediction_errors, suddenness, toy_fits
from conceptlab.theory.toy import success_probability
from tests.studies import okawa_tables as fake

CLAIMS = {claim.id.removeprefix("okawa2023."): claim for claim in STUDY.claims}
SEEDS = 5


def _judged(name: str, tables: fake.Tables) -> Verdict:
    return judge([CLAIMS[name]], tables, "paper")[0]


# --- Figure 7 ---


def _learner(kind: str) -> fake.Tables:
    """Mean curves at distances 1 to 3: abilities that multiply, that are never combined, or that come all together."""
    steps, parts = np.arange(1, 41) * 50, []
    for seed in range(SEEDS):
        noise = np.random.default_rng(seed)
        rate = 0.002 * np.exp(0.2 * noise.standard_normal())
        for variables, distance in ((3, 1), (3, 2), (4, 1), (4, 2), (4, 3)):
            n = distance if kind == "multiplies" else 1
            curve = success_probability(steps, rate, n)
            if kind.startswith("never") and distance > 1:
                curve = 0 * curve
            if kind != "never at all":
                curve = np.clip(curve + 0.02 * noise.standard_normal(len(steps)), 0, 1)
            keys = {"seed": seed, "variables": variables, "distance": distance}
            parts.append(pd.DataFrame({"step": steps, "value": curve, **keys}))
    return {"fits": toy_fits(pd.concat(parts, ignore_index=True))}


@pytest.mark.parametrize(
    ("kind", "verdict"),
    [
        ("multiplies", "reproduced"),
        ("never", "not reproduced"),
        ("all together", "not reproduced"),
        # Nothing is drawn, so the guess that nothing ever is has no error: no ratio is smaller, and none is a number.
        ("never at all", "inconclusive"),
    ],
)
def test_the_toy_model_tells_only_what_multiplies(kind: str, verdict: str) -> None:
    found = _judged("fig7.predicts", _learner(kind))
    assert found.verdict == verdict
    if kind == "never at all":
        assert found.seeds == found.censored == SEEDS  # they count against it
        assert found.value is None
        assert "no value" not in found.note


def test_one_curve_that_the_toy_model_misses_is_enough() -> None:
    fits = _learner("multiplies")["fits"]
    missed = fits.assign(rmse=fits["rmse"].where(fits["distance"] < 3, 2 * fits["never"]))
    assert _judged("fig7.predicts", {"fits": missed}).verdict == "not reproduced"


# --- Figure 10 ---


def test_a_delay_by_distance_alone_is_no_delay_of_a_gender() -> None:
    """Of men three classes in four are held out, of women one: men are later by that alone."""
    jitter = np.exp(0.02 * np.random.default_rng(0).standard_normal((5, SEEDS)))
    groups = [("male", 0), ("female", 0), ("male", 1), ("female", 1), ("male", 2)]
    times = {group: 100 * 4.0 ** group[1] * factor for group, factor in zip(groups, jitter)}
    assert _judged("fig10.gender", fake.gender(times)).verdict == "inconclusive"
    later = {(g, d): time * (2 if g == "male" else 1) for (g, d), time in times.items()}
    assert _judged("fig10.gender", fake.gender(later)).verdict == "reproduced"


# --- Figure 13 ---


def test_a_class_that_the_probes_read_differently_is_not_averaged_away() -> None:
    share = fake.VALUES["fig13.probes"](np.full(SEEDS, 0.01))["disagreement"]
    seven = [share[share["class"] == "000"].assign(**{"class": f"{i}"}) for i in range(7)]
    worst = share[share["class"] == "111"].assign(value=0.2 + 0.01 * np.arange(SEEDS))
    assert _judged("fig13.probes", {"disagreement": share}).verdict == "reproduced"
    tables = {"disagreement": pd.concat([*seven, worst])}
    assert tables["disagreement"]["value"].mean() < CLAIMS["fig13.probes"].threshold
    assert _judged("fig13.probes", tables).verdict == "not reproduced"


# --- Figure 6 ---


def test_what_a_judge_makes_of_noise_is_no_bottom_to_rise_from() -> None:
    """The mean rises as suddenly as the product once something is drawn; before, noise is half right."""
    steps = np.arange(1, 31) * 10.0
    rise = np.clip((steps - 150) / 100, 0, 1)
    noise = np.where(steps < 100, np.linspace(0, 0.9, len(steps)), 0.0)
    drawn = (steps >= 100).astype(float)
    parts = []
    for cls, distance, whole, mean in (
        ("000", 0, drawn, drawn), ("001", 0, drawn, drawn), ("111", 2, rise, np.maximum(rise, noise)),
    ):  # fmt: skip
        for measure, value in (("accuracy", whole), ("additive", mean)):
            rows = {"step": steps, "class": cls, "distance": distance, "measure": measure, "value": value}
            parts.append(pd.DataFrame(rows).assign(seed=0, variable=""))
    rises = suddenness(pd.concat(parts, ignore_index=True))
    assert rises["mean"].tolist() == pytest.approx(rises["product"].tolist())


def test_a_joint_accuracy_anywhere_between_its_bounds_is_no_product() -> None:
    """The product lies between both bounds, too: alone against these it is the better guess of whatever does."""
    rng = np.random.default_rng(0)
    single = rng.uniform(0.3, 0.85, (SEEDS, 12, 2))
    most, least = single.min(axis=2), (single.sum(axis=2) - 1).clip(min=0)
    joint = rng.uniform(least, most)
    parts = []
    for cls, values in (("00", np.ones((SEEDS, 12, 3))), ("11", np.dstack([joint, single]))):
        for place, variable in enumerate(("", "a", "b")):
            rows = pd.DataFrame(values[:, :, place]).rename_axis("seed").rename_axis("step", axis=1)
            rows = rows.stack().rename("value").reset_index()
            parts.append(rows.assign(**{"class": cls}, distance=int(cls != "00"), variable=variable))
    curves = pd.concat(parts, ignore_index=True).assign(measure="accuracy")
    tables = {"rules": prediction_errors(curves), "curves": curves}
    bounds = tables["rules"][tables["rules"]["rule"] != "middle"]
    errors = bounds.pivot_table(index="seed", columns="rule", values="error")
    assert (errors["product"] < errors.drop(columns="product").min(axis=1)).all()
    assert _judged("fig6.product", tables).verdict == "inconclusive"


# --- Figure 9 ---


def test_what_was_never_wrong_is_not_left_unrepaired() -> None:
    tables = fake.VALUES["fig9.not-repaired"](np.full(SEEDS, 0.2))["finals"]
    sound = (tables["mode"] == "before") & (tables["seed"] > 0)
    tables = tables.assign(value=tables["value"].mask(sound, 0.9))
    found = _judged("fig9.not-repaired", {"finals": tables})
    assert found.verdict == "inconclusive"
    assert "4 of 5 seeds have no value" in found.note
    none = tables.assign(value=tables["value"].mask(tables["mode"] == "before", 0.9))
    assert "no class was misgeneralised" in _judged("fig9.not-repaired", {"finals": none}).note


def test_what_was_composed_and_is_forgotten_counts_as_overwritten() -> None:
    """101 was never trained: it is the paper's own example."""
    kept = fake.VALUES["fig9.overwrites"](0.01 * np.arange(SEEDS))["finals"]
    assert _judged("fig9.overwrites", {"finals": kept}).verdict == "not reproduced"
    lost = (kept["mode"] != "before") & (kept["class"] == "101")
    forgotten = kept.assign(value=kept["value"].mask(lost, 0.0))
    assert _judged("fig9.overwrites", {"finals": forgotten}).verdict == "reproduced"


# --- distance, correlation ---


@pytest.mark.parametrize(("signal", "verdict"), [(1.0, "reproduced"), (0.0, ""), (-1.0, "not reproduced")])
def test_a_weighted_distance_must_tell_more_than_hamming(signal: float, verdict: str) -> None:
    """Times grow with Hamming distance in any case; within a distance with the cost of what is altered, not at all, or
    against it."""
    space = ConceptSpace([Variable(name, ("0", "1")) for name in ("shape", "size", "colour")])
    rng, rows = np.random.default_rng(0), []
    for seed, centre, cls in product(range(SEEDS), space, space):
        altered = [cost for cost, a, b in zip((1.3, 0.7, 1.0), centre, cls) if a != b]
        if len(altered) > 1:
            log = 2 * len(altered) + signal * (sum(altered) - len(altered)) + 0.1 * rng.standard_normal()
            rows.append(
                {"seed": seed, "distance": len(altered) - 1, "weighted": sum(altered), "time": np.exp(log)}
            )
    found = _judged("distance.beyond-hamming", {"times": pd.DataFrame(rows)}).verdict
    assert found == verdict if verdict else found != "reproduced"


def test_scatter_about_the_product_is_no_departure_from_it() -> None:
    """Scatter that grows with the correlation makes the difference without its sign grow, too."""
    rho = np.linspace(0, 1, 5)
    rng = np.random.default_rng(1)
    scatter = np.array([rng.permutation([0.2, -0.2, 0.1, -0.1, 0.15]) for _ in range(SEEDS)]) * (0.01 + rho)
    table = fake.TRENDS["correlation.leaves-product"](-scatter)["departures"]
    assert _judged("correlation.leaves-product", {"departures": table}).verdict == "inconclusive"
    table["correlation"] /= 4
    assert not leaving(table)["leaves"].any()


@pytest.mark.parametrize(("depth", "verdict"), [(0.002, "inconclusive"), (0.3, "reproduced")])
def test_differences_that_no_images_resolve_are_no_departure(depth: float, verdict: str) -> None:
    """In perfect order in every seed, which is all that a rank would see."""
    below = depth * np.linspace(0, 1, 5) * (1 + 0.01 * np.arange(SEEDS)[:, None])
    table = fake.TRENDS["correlation.leaves-product"](below)["departures"]
    table["correlation"] /= 4
    assert _judged("correlation.leaves-product", {"departures": table}).verdict == verdict


def test_where_the_joint_accuracy_leaves_the_product_is_told() -> None:
    below = np.array([[0.0, 0.0, 0.01, 0.10, 0.30]] * SEEDS) + 0.001 * np.arange(SEEDS)[:, None] * [
        0,
        1,
        -9,
        1,
        1,
    ]
    table = fake.TRENDS["correlation.leaves-product"](below)["departures"]
    table["correlation"] /= 4
    found = leaving(table).set_index("correlation")
    assert found.index[found["leaves"]].tolist() == [0.75, 1.0]
    assert found["difference"][1.0] == pytest.approx(-0.302)
    assert not leaving(table[table["seed"] == 0])["leaves"].any()  # one seed has no spread
    assert leaving(table[table["correlation"] > 0]).empty  # nothing to compare with
