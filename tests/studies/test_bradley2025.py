"""bradley2025's experiments at tiny scale: one shared sweep, the notebook on the same members, recipes, docs."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from conceptlab.executors.probes import probe_hash
from conceptlab.store import FigureRun, Store
from conceptlab.studies import Order, run
from conceptlab.studies.bradley2025 import STUDY
from conceptlab.studies.bradley2025.recipes import experiment, experiments, reach_sweep, told
from conceptlab.studies.bradley2025.settings import SIZES
from conceptlab.studies.bradley2025.tables import WHOLE
from conceptlab.studies.study import SCALES
from conceptlab.worlds import build
from tests.notebooks import run_notebook

DOCS = Path(__file__).parents[2] / "docs"
SEEDS = (0, 1)


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[str, FigureRun]:
    figures = tuple(STUDY.figure(name) for name in ("length", "crowding", "told", "k-sweep", "locality"))
    order = Order(STUDY, figures, "tiny", SEEDS, {})
    store = Store(tmp_path_factory.mktemp("bradley2025") / "runs")
    return {
        r.manifest["figure"]: r for r in run(order, store, torch.device("cpu"), lambda members, steps: None)
    }


def test_figures_are_drawn_and_judged_from_shared_members(runs):
    members = {member for r in runs.values() for member in r.manifest["members"]}
    assert len(members) == 16, "three experiments, two more reaches, three things told; two seeds"
    for id_, figure_run in runs.items():
        assert [p.stem for p in figure_run.pictures] == [id_]
        assert [v.id for v in figure_run.verdicts] == [c.id for c in STUDY.figure(id_).claims_at("tiny")]


@pytest.mark.parametrize("id_", ["length", "crowding"])
def test_ranges_that_are_not_trained_at_a_scale_are_not_asked_about(runs, id_):
    """They would stand there without a value for ever, as if more seeds could decide them."""
    figure = STUDY.figure(id_)
    assert {claim.id.rpartition("-")[2] for claim in figure.claims_at("paper")} == {"3", "5"}
    assert figure.claims_at("paper") == figure.claims
    for scale in ("tiny", "small"):
        assert {claim.id.rpartition("-")[2] for claim in figure.claims_at(scale)} == {"3"}
    assert all(verdict.seeds for verdict in runs[id_].verdicts)


def test_everything_asked_for_was_measured(runs):
    curves = runs["length"].tables["curves"]
    plain = curves[curves["variable"] == ""]
    most = SIZES["tiny"].most
    for measure in ("share_met", "share_chance", "share_corrected", "share_error"):
        assert set(plain.loc[plain["measure"] == measure, "k"]) == set(range(1, most + 1)), measure
    for measure in ("objects", "exact_count", "spurious", "detector_exact_count"):
        assert set(plain.loc[plain["measure"] == measure, "k"]) == set(range(most + 1)), measure
    assert {"heat 0.3", "heat 0.7"} <= set(curves.loc[curves["measure"] == "share_met", "variable"])
    expected = plain[plain["measure"] == "spurious_expected"]
    assert expected.loc[expected["experiment"] == "1", "value"].eq(0).all()
    assert expected.loc[expected["experiment"] != "1", "value"].eq(1).all()
    detector = plain[plain["measure"] == "detector_exact_count"]
    assert detector["value"].mean() > 0.95


def test_reaches_differ_and_have_as_many_parameters(runs):
    tables = runs["k-sweep"].tables
    assert set(tables["summary"]["reach"]) == {WHOLE, *SIZES["tiny"].reaches}
    networks = tables["networks"].set_index("reach")["parameters"]
    assert networks.drop(WHOLE).nunique() == 1


def test_a_local_network_does_not_respond_to_what_it_cannot_see(runs):
    tables = runs["locality"].tables
    for measure in ("far_near", "moved_far_near"):
        local = tables["levels"].query(f"measure == '{measure}' and experiment == '3' and reach == 0")
        assert len(local) == 2 * len(SEEDS)  # noise levels
        assert (local["value"] == 0).all(), "what cannot be seen changes nothing"
    assert set(tables["maps"]["measure"]) == {"pixel_map", "removed_map", "moved_map"}
    within = tables["distance"].query(
        "measure == 'moved_mass' and experiment == '3' and reach == 0 and cells == 1"
    )
    assert within["value"].to_numpy() == pytest.approx(1)
    assert set(tables["kept"].columns) >= {"gain", "kept", "experiment"}


@pytest.mark.gpu
def test_members_are_trained_and_measured_on_a_gpu(tmp_path):
    """As at `paper` scale: bfloat16, and the moving average is judged."""
    settings = {"precision": "bfloat16", "ema": 0.9, "evaluation.ema": True}
    order = Order(STUDY, (STUDY.figure("locality"),), "tiny", (0,), settings)
    (made,) = run(order, Store(tmp_path), torch.device("cuda"), lambda members, steps: None)
    for name in ("levels", "mass", "near", "kept", "composition"):
        assert made.tables[name]["experiment"].nunique() == 3, name
        assert made.tables[name]["value" if name != "kept" else "base_share"].notna().all(), name


def test_the_notebook_runs_on_the_same_members(runs, monkeypatch):
    monkeypatch.chdir(runs["length"].store.root.parent)
    names = run_notebook(DOCS / "notebooks" / "bradley2025.ipynb")
    assert names["seen"] == {0: 1, 1: 4, 2: 9, 7: 64, "U-Net": 64}
    assert names["labelled"] == {"all": 3.0, "one": 1.0}
    assert names["oracle"].share == names["oracle"].corrected == 1
    assert abs(names["junk"].corrected) < 0.2 < names["junk"].share
    assert max(names["lemma"].values()) < 1e-12
    hidden, largest, washed_out = names["coupled"].to_numpy()
    assert (hidden < largest).all()
    assert (100 * washed_out < largest).all()
    assert names["coupled"][0.3].to_numpy() == pytest.approx(3 * names["coupled"][0.1].to_numpy(), rel=0.1)
    assert (names["far"].loc["3", 0] == 0).all()
    assert names["own_score"] == pytest.approx(1 - 0.5**0.5 / 3, abs=0.03)
    assert names["scores"]["features"] > 0.98 > 0.8 > names["scores"]["pixels"]
    assert len(names["verdicts"]) == sum(len(r.verdicts) for r in runs.values())


@pytest.mark.parametrize("scale", SCALES)
def test_recipes_are_what_the_paper_asks_for(scale):
    size = SIZES[scale]
    one, two, three = (experiment(scale, name, 3, seed=0) for name in "123")
    assert one.denoiser == two.denoiser
    assert two.world == three.world
    assert three.denoiser["reach"] == size.reach
    assert {build(**r.world).labelled for r in (two, three)} == {"one"}  # type: ignore[attr-defined]
    assert set(one.train) == {"1", "2", "3"}
    # With one object, one label is all labels.
    assert experiment(scale, "1", 1, seed=0) == experiment(scale, "2", 1, seed=0)
    assert size.reach in size.reaches
    assert size.reaches[-1] == build(**size.world).cells - 1  # type: ignore[attr-defined]
    both = {r.hash for r in experiments(scale, SEEDS)} & {r.hash for r in reach_sweep(scale, SEEDS)}
    assert len(both) == 2 * len(SEEDS), "experiments 2 and 3 are part of the sweep"


@pytest.mark.parametrize("scale", SCALES)
def test_what_members_are_told_is_all_that_sets_them_apart(scale):
    places, *others = told(scale, (0,))
    for other in others:
        # Where places are experiment 1 itself, more is measured of them.
        alike = replace(other, world=places.world, evaluation=places.evaluation)
        assert alike == places
        assert replace(build(**other.world), told="location") == build(**places.world)  # type: ignore[type-var]
        assert probe_hash(other.world, other.evaluation.probe) == probe_hash(
            places.world, places.evaluation.probe
        ), "one detector judges them all"
    # Only at paper scale are the colours those of the world as it is, so that places are experiment 1 itself.
    assert (places == experiment(scale, "1", 3, seed=0)) == (scale == "paper")


def test_the_page_names_every_figure_and_claim():
    page = (DOCS / "bradley2025.md").read_text(encoding="utf-8")
    page += (DOCS / "bradley2025_theory.md").read_text(encoding="utf-8")
    for figure in STUDY.figures:
        assert f"`{figure.id}`" in page or f"bradley2025.{figure.id}" in page, figure.id
        for claim in figure.claims:
            assert f"`{claim.id.rpartition('.')[2]}`" in page, claim.id


def test_the_example_of_the_page_says_what_it_shows():
    (source,) = re.findall(
        r"```python\n(.*?)```", (DOCS / "bradley2025.md").read_text(encoding="utf-8"), re.DOTALL
    )
    names: dict[str, Any] = {}
    exec(compile(source, "docs/bradley2025.md", "exec"), names)
    assert names["sample"].conditions.shape == (1, 4, 8, 8)
    assert names["sample"].conditions[0, 0].sum() == 1
    assert names["asked"][0, 0].sum() == 5
    assert names["centres"].shape == (1, 5, 2)
