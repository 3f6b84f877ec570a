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
from conceptlab.evaluation import evaluation_flops
from conceptlab.executors import piece
from conceptlab.recipe import Recipe, flatten, parse_settings
from conceptlab.store import Store
from conceptlab.store.files import write_sheet
from conceptlab.studies import SCALES, Order, Results, find, run
from conceptlab.studies.okawa2023 import STUDY, recipes
from conceptlab.studies.okawa2023.order import prediction_errors, probe_tables
from conceptlab.studies.okawa2023.settings import MINIMAL, SETTINGS, base, swept
from conceptlab.studies.okawa2023.signatures import summary
from conceptlab.studies.okawa2023.tables import at_common_steps, emergence
from conceptlab.studies.quickstart_figures import samples_over_training
from conceptlab.training.cost import training_flops
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
            chance, gap, delay, instead = made.signatures
            assert chance.shown == signs["at_chance"].sum()
            assert chance.of == instead.of == signs["held_out"].notna().sum()
            assert (gap.shown, gap.of) == (signs["no_gap"].sum(), signs["gap"].notna().sum())
            assert delay.of == signs["rare_delay"].notna().sum()
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
    assert made.tables["corrected"]["value"].between(0, 1).all()
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


# --- sweeps ---


@pytest.mark.parametrize("scale", SCALES)
def test_every_recipe_of_every_scale_builds(scale) -> None:
    made = {r.hash: r for figure in STUDY.figures for r in figure.recipes(scale, [0])}
    assert all(training_flops(recipe) > 0 for recipe in made.values())
    assert all(Recipe.from_dict(recipe.to_dict()).hash == name for name, recipe in made.items())


@pytest.mark.parametrize("scale", SCALES)
def test_members_are_recognised_by_their_recipes(scale) -> None:
    setting, seeds = SETTINGS[scale], [0]
    assert [recipes.centre_of(r) for r in recipes.centres(scale, seeds)] == list(setting.centres)
    assert [recipes.correlation_of(r) for r in recipes.correlation(scale, seeds)] == list(
        setting.correlations
    )
    found = {recipes.rarity_of(r) for r in recipes.frequency(scale, seeds)}
    assert {found_way for found_way, _ in found} == {"base", "drawn rarely", "natural", "balanced"}
    assert {share for way, share in found if way == "drawn rarely"} == set(setting.shares)
    assert {share for way, share in found if way == "natural"} == {
        round(count / (3 * setting.images + count), 3) for count in setting.rare
    }
    assert {s for way, s in found if way == "balanced"} == {s for way, s in found if way == "natural"}
    switches = [recipes.switch_of(r, scale) for r in recipes.ablation(scale, seeds)]
    assert switches == ["base", *setting.switches]
    counts = [recipes.count_of(r, "001") for r in recipes.samples(scale, seeds, ("001",))]
    assert counts == [setting.images, *setting.counts["001"]]
    tuned = [recipes.tuning_of(r) for r in recipes.figure9(scale, seeds)]
    assert [(t["added"], t["mode"]) for t in tuned[:3]] == [
        ("", "before"), ("101", "old data kept"), ("101", "new class alone"),
    ]  # fmt: skip


def test_fine_tuning_continues_the_adversarial_member_at_its_rate() -> None:
    before, kept, alone, *_ = recipes.figure9("paper", [3])
    assert tuple(before.train) == ("000", "100", "001", "111")
    assert kept.before
    assert alone.before
    assert kept.before.hash == alone.before.hash == before.hash
    assert kept.optimiser.learning_rate == before.optimiser.learning_rate
    assert set(kept.train) == {*before.train, "101"}
    assert set(alone.train) == {"101"}


@pytest.mark.parametrize(
    ("figure", "setting"),
    [
        ("fig8", "train.001=5"),  # its own series
        ("fig8", "train.000=5"),  # the training set is what it varies, whichever class
        ("fig9", "train.010=5"),  # would leave nothing to add in fine-tuning
        ("finetune", "optimiser.learning_rate=0.1"),
        ("ablation", "denoiser.norm=group"),  # measured otherwise than the base, and yet the same training
        ("ablation", 'denoiser={"name": "film"}'),
        ("frequency", "shares.001=0.5"),
    ],
)
def test_what_a_figure_varies_is_refused_before_training(figure: str, setting: str) -> None:
    order = Order(STUDY, (STUDY.figure(figure),), "small", None, parse_settings([setting]))
    with pytest.raises(InputError, match=rf"okawa2023.{figure} varies .* itself .*leave it out"):
        order.all_recipes()


@pytest.mark.parametrize(
    ("figure", "setting"),
    [("finetune", "steps=50"), ("ablation", "evaluation.images=8"), ("fig8", "denoiser.norm=group")],
)
def test_what_a_figure_does_not_compare_may_be_set(figure: str, setting: str) -> None:
    """Fine-tuning takes other steps than what it starts from, and sweeps are measured otherwise than the base: that is
    not what they are about."""
    order = Order(STUDY, (STUDY.figure(figure),), "small", (0,), parse_settings([setting]))
    name = setting.partition("=")[0]
    assert len(order.all_recipes()) == len(replace(order, settings={}).all_recipes())
    assert len({str(flatten(recipe)[name]) for recipe in order.all_recipes()}) == 1


def test_the_paper_scale_is_the_authors() -> None:
    (recipe,) = base("paper", [0])
    assert (recipe.steps, recipe.batch, recipe.prediction) == (7900, 64, "eps")
    assert (recipe.optimiser.name, recipe.optimiser.learning_rate, recipe.optimiser.decay) == (
        "adam",
        1e-4,
        "linear",
    )
    assert recipe.train == dict.fromkeys(MINIMAL, 1250)
    assert recipe.evaluation.sampler_steps == 50


def test_paper_scale_stays_within_what_is_told() -> None:
    order = Order(*find("okawa2023"), "paper", None, {})
    training = sum(training_flops(r) for r in order.all_recipes())
    drawing = sum(evaluation_flops(r) for r in order.all_recipes())
    assert training + drawing < 1070e15
    assert drawing < 0.3 * (training + drawing)
    assert {f.id for f in order.figures if len(order.seeds_of(f)) == 3} == {
        "fig8", "frequency", "centres", "correlation", "finetune", "distance", "threshold", "spread",
        "unseen", "ablation",
    }  # fmt: skip


@pytest.mark.parametrize("scale", SCALES)
def test_sweeps_are_measured_where_the_base_is_and_share_what_agrees(scale) -> None:
    (fine,), (coarse,) = base(scale, [0]), swept(scale, [0])
    assert set(coarse.evaluation_steps()) <= set(fine.evaluation_steps())
    assert fine.hash in {r.hash for r in recipes.centres(scale, [0])}
    few = {r.hash for r in recipes.samples(scale, [0])}
    natural = [r for r in recipes.frequency(scale, [0]) if recipes.rarity_of(r)[0] == "natural"]
    assert {r.hash for r in natural} <= few


@pytest.mark.parametrize("figure", ["fig9", "finetune"])
def test_pieces_hold_what_is_fine_tuned_from(figure) -> None:
    wanted = Order(*find(f"okawa2023.{figure}"), "paper", None, {}).all_recipes()
    shares = [piece(wanted, number, 3) for number in (1, 2, 3)]
    assert sorted(r.hash for share in shares for r in share) == sorted(r.hash for r in wanted)
    for share in shares:
        own = {recipe.hash for recipe in share}
        assert all(recipe.before.hash in own for recipe in share if recipe.before is not None)


def test_times_are_compared_at_common_evaluations() -> None:
    curves = pd.DataFrame({"seed": 0, "way": ["fine"] * 4 + ["coarse"] * 2, "step": [1, 2, 3, 4, 2, 4]})
    assert sorted(at_common_steps(curves, ["way"])["step"]) == [2, 2, 4, 4]


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
    assert [signature.share for signature in summary(tables)] == ["0 of 5"] * 4
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
