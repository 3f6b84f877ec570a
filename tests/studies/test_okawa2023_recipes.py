"""What okawa2023 trains: its recipes at every scale, what they share, what may be set, and what paper scale costs."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from conceptlab.cli.settings import parse_settings
from conceptlab.errors import InputError
from conceptlab.evaluation import evaluation_flops
from conceptlab.executors import piece
from conceptlab.recipe import Recipe, flatten
from conceptlab.studies import SCALES, Order, find
from conceptlab.studies.okawa2023 import STUDY, recipes
from conceptlab.studies.okawa2023.settings import MINIMAL, SETTINGS, base, swept
from conceptlab.studies.okawa2023.tables import at_common_steps
from conceptlab.training.cost import training_flops


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
    assert training + drawing < 1600e15
    assert drawing < 0.3 * (training + drawing)
    seeds = {figure.id: len(order.seeds_of(figure)) for figure in order.figures if figure.recipes}
    others = {name: count for name, count in seeds.items() if count != 5}
    assert others == {"fig8": 3, "finetune": 3, "threshold": 3, "frequency": 7}


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
