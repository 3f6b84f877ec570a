"""okawa2023 from end to end: everything at tiny scale, CelebA on a small folder, and simulated learners as oracles."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import torch
from matplotlib.figure import Figure

from conceptlab.claims import judge
from conceptlab.errors import InputError
from conceptlab.store import Store
from conceptlab.store.files import write_sheet
from conceptlab.studies import Order, Results, find, run
from conceptlab.studies.okawa2023 import STUDY, recipes
from conceptlab.studies.okawa2023.order import prediction_errors, probe_tables
from conceptlab.studies.okawa2023.settings import base
from conceptlab.studies.okawa2023.signatures import summary
from conceptlab.studies.okawa2023.tables import emergence
from conceptlab.studies.quickstart_figures import samples_over_training
from tests.celeba_folder import write_folder
from tests.studies.okawa_members import write_members

ILLUSTRATIONS = {"fig2", "fig3", "fig4", "fig11"}
CPU = torch.device("cpu")


def _quiet(members: object, steps: int) -> None:
    pass


def test_every_figure_at_tiny_scale_from_one_shared_sweep(tmp_path: Path) -> None:
    study, figures = find("okawa2023")
    order = Order(study, figures, "tiny", (0, 1), {})
    runs = run(order, Store(tmp_path), CPU, _quiet)
    assert len(runs) == 23
    assert len(order.all_recipes()) < sum(len(order.recipes(figure)) for figure in figures) / 1.5
    for figure, made in zip(figures, runs):
        assert made.pictures, figure.id
        assert (made.path / "figures" / f"{figure.id}.pdf").stat().st_size > 1000
        assert len(made.verdicts) == len(figure.claims)
        tables = made.tables
        # What may be empty: a judge without a second one, and rules to be told apart once something is drawn.
        empty = {name for name, table in tables.items() if not len(table)}
        assert empty <= {"disagreement", "rules"}, figure.id
        if figure.id not in ILLUSTRATIONS:
            signs = tables["signatures"]
            assert {"at_chance", "no_gap", "no_delay", "drawn_instead", "drawn_share"} <= set(signs)
            assert len(signs) == len(order.recipes(figure))
            chance, gap, delay, same, instead = made.signatures
            assert chance.shown == signs["at_chance"].sum()
            assert chance.of == instead.of == signs["held_out"].notna().sum()
            assert (gap.shown, gap.of) == (signs["no_gap"].sum(), signs["gap"].notna().sum())
            assert delay.of == signs["rare_delay"].notna().sum()
            assert (same.shown, same.of) == (signs["same_for_all"].sum(), len(signs))
        else:
            assert made.signatures == []


def test_celeba_needs_a_folder_and_runs_on_one(tmp_path: Path) -> None:
    study, figures = find("okawa2023.fig10")
    with pytest.raises(InputError, match=r"okawa2023.fig10 needs world.folder: get the aligned.*mmlab"):
        run(Order(study, figures, "tiny", (0,), {}), Store(tmp_path / "runs"), CPU, _quiet)
    with pytest.raises(InputError, match="is not a CelebA folder"):
        run(
            Order(study, figures, "tiny", (0,), {"world.folder": "nowhere"}),
            Store(tmp_path / "runs"),
            CPU,
            _quiet,
        )
    assert not (tmp_path / "runs").exists()  # a mistake claims no folder
    folder = write_folder(tmp_path / "celeba", per_class=40)
    order = Order(study, figures, "tiny", (0, 1), {"world.folder": str(folder)})
    (made,) = run(order, Store(tmp_path / "runs"), CPU, _quiet)
    assert made.pictures
    assert set(made.tables["gender"]["gender"]) == {"female", "male"}
    corrected = made.tables["corrected"]
    assert corrected["value"].between(0, 1).all()
    assert corrected.groupby(["seed", "step"]).size().unique().tolist() == [8], "every class at every step"
    others = [
        ["hair", [["black", "Black_Hair"], ["blond", "Blond_Hair"]]],
        ["smiling", [["yes", "Smiling"], ["no", "-Smiling"]]],
        ["sex", [["f", "-Male"], ["m", "Male"]]],
    ]
    order = Order(study, figures, "tiny", (0,), {"world.folder": str(folder), "world.variables": others})
    (made,) = run(order, Store(tmp_path / "others"), CPU, _quiet)
    assert set(made.tables["gender"]["gender"]) == {"black", "blond"}
    assert {verdict.verdict for verdict in made.verdicts} == {"inconclusive"}


def test_fewer_seeds_never_take_the_place_of_more(tmp_path: Path) -> None:
    order = Order(*find("okawa2023.fig5"), "tiny", (0, 1), {})
    store = write_members(order.all_recipes(), tmp_path)
    run(order, store, CPU, _quiet)
    (again,) = run(replace(order, seeds=(1,)), store, CPU, _quiet)
    assert again.manifest["seeds"] == [0, 1]
    assert {verdict.seeds for verdict in again.verdicts} == {2}
    assert "--seeds 2" in again.manifest["command"]


# --- Figures 9 and 13 ---


def test_linear_probes_read_real_images_right_and_something_in_empty_ones(tmp_path: Path) -> None:
    """An empty image is no class, but linear probes must name one: as the worst class is read if nothing is drawn."""
    recipe = base("paper", [0])[0]
    store = write_members([recipe], tmp_path)
    member = store.member(recipe)
    tables = probe_tables(Results([member], "paper", (0,)))
    readings = (
        tables["readings"]
        .query("reader == 'linear'")
        .pivot(index="class", columns="variable", values="value")
    )
    assert readings[""].min() == 1.0
    empty = tables["empty"].set_index("variable")["read"]
    assert dict(empty) == {"shape": "triangle", "size": "small", "colour": "blue"}
    ground = torch.zeros(8, 2, *member.world.image_shape)
    write_sheet(member.path / "samples" / f"{recipe.steps:08d}.png", ground)
    blank = probe_tables(Results([store.member(recipe)], "paper", (0,)))["readings"]
    read = blank.query("reader == 'linear' and variable == ''").set_index("class")["value"]
    assert read["111"] == 1.0
    assert read.drop("111").max() == 0.0


def test_noise_that_looks_like_a_class_does_not_emerge() -> None:
    steps, parts = range(10, 110, 10), []
    for cls, curve in {"000": [0, 0, 0, 0, 1, 1, 1, 1, 1, 1], "001": [1, 1, 1, 0, 0, 1, 1, 1, 1, 1]}.items():
        parts.append(pd.DataFrame({"step": steps, "class": cls, "value": curve, "distance": 0}))
    held_out = [1, 1, 1, 1, 0, 0, 0, 1, 1, 1]
    parts.append(pd.DataFrame({"step": steps, "class": "011", "value": held_out, "distance": 1}))
    curves = pd.concat(parts).assign(seed=0, variable="", measure="accuracy")
    times = emergence(curves).set_index("class")["time"]
    assert dict(times) == {"000": 60.0, "001": 60.0, "011": 80.0}


def test_rules_for_the_joint_accuracy_are_told_apart_where_something_is_drawn() -> None:
    """Independent variables, and a share of empty images, which are wrong in all of them at once: the product is exact
    among the others, however many are empty; where most are, nothing can be told."""
    parts = []
    for step, empty in enumerate((0.0, 0.2, 0.4, 0.8)):
        right = {"shape": 0.6, "size": 0.8, "colour": 0.5, "": 0.24}
        rows = [{"variable": v, "measure": "accuracy", "value": (1 - empty) * p} for v, p in right.items()]
        rows.append({"variable": "nothing", "measure": "drawn", "value": empty})
        parts.append(pd.DataFrame(rows).assign(step=step))
    held_out = pd.concat(parts).assign(distance=1, **{"class": "111"})
    # Noise looks like a class before the model draws, and says nothing of how variables go together.
    noise = held_out[held_out["step"] == 0].assign(step=-1, value=0.5)
    trained = [
        pd.DataFrame({"step": range(-1, 4), "value": [0.0, 1, 1, 1, 1], "class": cls})
        for cls in ("000", "001")
    ]
    trained = pd.concat(trained).assign(distance=0, variable="", measure="accuracy")
    curves = pd.concat([held_out, noise, trained], ignore_index=True).assign(seed=0)
    rules = prediction_errors(curves).set_index("rule")
    assert rules["points"]["product"] == 3
    assert rules["error"]["product"] == pytest.approx(0.0, abs=1e-12)
    assert rules["error"]["minimum"] == pytest.approx(0.26)


def test_where_one_sheet_is_kept_several_of_its_drawings_are_shown(tmp_path: Path) -> None:
    recipe = base("small", [0])[0]
    member = write_members([recipe], tmp_path).member(recipe)
    classes = [member.world.space.parse(code) for code in ("000", "111")]
    ax = Figure().subplots()
    samples_over_training(ax, member, classes)
    assert ax.get_xlabel() == "training step"
    (member.path / "samples" / f"{member.sample_steps[0]:08d}.png").unlink()
    ax = Figure().subplots()
    samples_over_training(ax, member, classes)
    assert ax.get_xlabel() == f"drawings at step {recipe.steps:,}"
    assert len(ax.get_xticks()) == 2


# --- simulated learners ---


def _verdicts(figure: str, tmp_path: Path, *, effects: bool, seeds: int = 5) -> tuple[dict[str, str], dict]:
    found = STUDY.figure(figure)
    wanted = found.recipes("small", range(seeds))
    store = write_members(wanted, tmp_path / str(effects), effects=effects)
    tables = found.tables(Results([store.member(r) for r in wanted], "small", range(seeds)))
    verdicts = judge(found.claims, tables, "paper")
    return {v.id.removeprefix("okawa2023."): v.verdict for v in verdicts}, tables


def test_a_learner_with_the_papers_effects_reproduces_them(tmp_path: Path) -> None:
    order, tables = _verdicts("fig5", tmp_path, effects=True)
    assert order == {"fig5.order": "reproduced", "fig5.held-out": "reproduced"}
    signs = tables["signatures"]
    assert not (signs["at_chance"] | signs["no_gap"] | signs["no_delay"]).any()
    assert [signature.share for signature in summary(tables)] == ["0 of 5"] * 5
    multiplied, _ = _verdicts("fig6", tmp_path, effects=True)
    assert multiplied["fig6.sudden"] == multiplied["fig6.product"] == "reproduced"
    tuned, tables = _verdicts("fig9", tmp_path, effects=True)
    assert tuned == {
        "fig9.misgeneralises": "reproduced", "fig9.not-repaired": "reproduced", "fig9.overwrites": "not reproduced",
    }  # fmt: skip
    adversarial = tables["signatures"].query("mode == 'before'")
    # Small circles are drawn as small triangles, and the table says so.
    assert set(adversarial["worst"] + adversarial["drawn_instead"]) <= {"010110", "011111"}
    instead = summary({"signatures": adversarial})[-1]
    assert instead.shown == instead.of == len(adversarial)
    assert re.match(r"(010 as 110|011 as 111) in \d of 5 members, \d+% of its images", instead.seen)


def test_switches_without_a_finished_base_are_refused(tmp_path: Path) -> None:
    _, *wanted = recipes.ablation("small", [0])
    store = write_members(wanted, tmp_path, effects=True)
    with pytest.raises(InputError, match="nothing to compare with"):
        STUDY.figure("ablation").tables(Results([store.member(r) for r in wanted], "small", [0]))


def test_a_learner_without_them_does_not(tmp_path: Path) -> None:
    order, tables = _verdicts("fig5", tmp_path, effects=False)
    assert order["fig5.order"] != "reproduced"
    assert tables["signatures"]["rare_delay"].median() < 1.5
    tuned, _ = _verdicts("fig9", tmp_path, effects=False)
    assert tuned["fig9.misgeneralises"] == "not reproduced"
    assert tuned["fig9.not-repaired"] == "inconclusive"  # nothing was wrong that could be repaired
