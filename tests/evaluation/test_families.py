"""Capability families and what needs weights: on a judge that is told what to see, and on live small networks."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from conceptlab.concepts import Class
from conceptlab.evaluation import Context, Live, Measurement, build, generate, observe
from conceptlab.evaluation.interventions import Composed, Direction, Scaled
from conceptlab.evaluation.norms import fixed_batch, gradient, groups
from conceptlab.evaluation.prompts import stronger
from conceptlab.training import Cohort, CohortDenoiser, Objective
from tests.evaluation.small import NETWORKS, context, recipe

BLUES = [[0.0, 0.0, 1.0], [0.2, 0.2, 0.8], [0.4, 0.4, 0.6]]
TARGET = (1, 1)


def measurement(name: str, **settings) -> Measurement:
    return build([{"name": name, **settings}])[0]


def told(made: Measurement, setting: Context, right) -> dict[tuple[str, str], float]:
    """Rows of a family when the judge sees the target in image i of a prompt exactly if right(prompt, i)."""

    def draw(prompts):
        return [{p.name: torch.zeros(p.images, 3, 16, 16) for p in asked} for asked in prompts]

    def see(prompts) -> dict[str, dict[str, np.ndarray]]:
        seen = {}
        for prompt in prompts:
            hit = np.array([right(prompt, i) for i in range(prompt.images)], dtype=float)
            table = np.stack([1 - hit, hit], axis=1)
            seen[prompt.name] = {"colour": table, "size": table}
        return seen

    first = made.prompts(setting, 4)
    seen = see(first)
    seen |= see(made.refinements(setting, seen))
    network, process = Cohort([setting.recipe]).member(0)
    live = Live(setting, 10, "raw", network, process, draw([first])[0], seen, seen)
    return {(row.measure, row.variable): row.value for row in made.rows(live)}


def test_guidance_never_leads_away_from_the_class_itself():
    made, setting = measurement("guidance", images=4, classes=["00"]), context(recipe())
    assert (0, 0) in setting.split.train
    names = [prompt.name for prompt in made.prompts(setting, 4)]
    assert names
    assert not any("away from 00" in name for name in names)


def test_the_only_training_class_has_nothing_to_be_told_from():
    setting = context(recipe(train={"00": 20}))
    for name in ("latent", "guidance"):
        made = measurement(name, images=4, classes=["00"])
        assert made.prompts(setting, 4) == []
        assert told(made, setting, lambda prompt, i: True) == {}


class Says:
    """A probe that sees one class in everything."""

    def __init__(self, cls: Class) -> None:
        self.cls = cls

    def probabilities(self, images: torch.Tensor) -> dict[str, torch.Tensor]:
        return {n: torch.eye(2)[v].expand(len(images), -1) for n, v in zip(("colour", "size"), self.cls)}


@pytest.mark.parametrize("name", ["prompt_search", "latent", "guidance", "redraws"])
def test_what_one_probe_sees_alone_is_told_apart_from_what_both_agree_on(name):
    """An empty image, which a CNN may take for a small object, must not win."""
    made = measurement(name, images=4)
    for second, both in ((TARGET, 1.0), ((0, 1), 0.0), (None, 1.0)):
        other = None if second is None else Says(second)
        setting = replace(context(recipe()), judge=Says(TARGET), second=other)
        network, process = Cohort([setting.recipe]).member(0)
        (observed,) = observe(
            [made],
            [setting],
            4,
            lambda prompts: [{p.name: torch.ones(p.images, 3, 16, 16) for p in asked} for asked in prompts],
        )
        rows = list(made.rows(Live(setting, 10, "raw", network, process, *observed)))
        assert {row.value for row in rows if row.measure == "prompt_capability"} == {1.0}
        assert {row.value for row in rows if row.measure == "agreed_capability"} == {both}


def test_over_prompting_reports_the_prompt_that_won():
    made = measurement("over_prompting", variable="colour", values=BLUES, images=8)
    setting = context(recipe())
    asked = made.prompts(setting, 4)
    assert [p.condition[:3].tolist() for p in asked] == [pytest.approx(blue) for blue in BLUES]
    assert all(p.condition[3].item() == pytest.approx(0.25) and p.stream == "11" for p in asked)
    rows = told(made, setting, lambda prompt, i: "0.2,0.2,0.8" in prompt.name)
    assert rows["prompt_capability", "over-prompting"] == 1
    assert rows["winner", "over-prompting: colour=0.2,0.2,0.8"] == 1
    junk = told(made, setting, lambda prompt, i: False)
    assert junk["prompt_capability", "over-prompting"] == 0


def test_redraws_are_the_ordinary_prompt_with_fresh_noise():
    made, setting = measurement("redraws", count=4, images=8), context(recipe())
    asked = made.prompts(setting, 4)
    assert len({p.stream for p in asked}) == 4
    assert all(torch.equal(p.condition, setting.world.condition(TARGET)) for p in asked)


def test_the_search_refines_around_the_best_of_its_grid_and_never_scores_what_it_chose_on():
    made, setting = measurement("prompt_search", strengths=[1.0, 2.0], finer=1.5, images=8), context(recipe())
    assert len(made.prompts(setting, 4)) == 4

    def right(prompt, i: int) -> bool:
        # Colour three times as strong is what it takes; on the way there even images show it.
        strength = float(prompt.name.split("colour × ")[1].split(",")[0])
        return strength == 3 or (strength == 2 and i % 4 == 0)

    rows = told(made, setting, right)
    assert rows["prompt_capability", "search"] == 1
    assert any(name.startswith("search: colour × 3") for measure, name in rows if measure == "winner")
    lucky = told(made, setting, lambda prompt, i: i % 2 == 0)
    assert lucky["prompt_capability", "search"] == 0, "right on the images that chose, wrong on the others"


def test_strength_moves_along_the_line_between_values():
    setting = context(recipe())
    own, red = setting.world.condition(TARGET), setting.world.condition((0, 1))
    assert torch.equal(stronger(setting, TARGET, {"colour": 1.0}), own)
    assert torch.allclose(stronger(setting, TARGET, {"colour": 0.0}), red)
    assert torch.allclose(stronger(setting, TARGET, {"colour": 2.0}), 2 * own - red)


def linear(matrix: torch.Tensor):
    return lambda condition: {"a": condition @ matrix, "b": 2 * condition @ matrix}


def test_linear_interventions_on_a_linear_embedding_have_exact_answers():
    torch.manual_seed(0)
    embed, world = linear(torch.randn(4, 6)), context(recipe()).world

    def condition(cls: Class) -> torch.Tensor:
        return world.condition(cls)

    colour = Direction(condition((0, 0)), condition((1, 0)))
    size = Direction(condition((0, 0)), condition((0, 1)))
    own = embed(condition(TARGET)[None])
    # A linear embedding composes: the sum of the directions is the class itself.
    summed = Composed(((colour, 1.0), (size, 1.0)))(embed, condition(TARGET)[None])
    unscaled = Scaled(((colour, 1.0),))(embed, condition(TARGET)[None])
    for name, value in own.items():
        torch.testing.assert_close(summed[name], value)
        torch.testing.assert_close(unscaled[name], value)
    # Scaling by three the component of class 10 along colour moves it twice the direction further.
    big = embed(condition((1, 0))[None])
    scaled = Scaled(((colour, 3.0),))(embed, condition((1, 0))[None])
    start, way = colour.of(embed)
    for name in scaled:
        torch.testing.assert_close(scaled[name], big[name] + 2 * way[name])
        assert not torch.equal(start[name], scaled[name])


def live(network: str = "per block", **changes) -> tuple[Live, Cohort]:
    made = recipe(denoiser=NETWORKS[network], **changes)
    cohort = Cohort([made])
    cohort.advance(2)
    return Live(context(made), made.steps, "raw", *cohort.member(0), {}, {}), cohort


def test_guidance_goes_away_from_nothing_if_it_was_trained_and_from_neighbours_if_not():
    made = measurement("guidance", weights=[1.0], images=4)
    plain, dropped = recipe(), recipe(condition_dropout=0.1)
    assert [p.name for p in made.prompts(context(plain), 4)] == [
        "guidance 11: away from 01, weight 1",
        "guidance 11: away from 10, weight 1",
    ]
    (only,) = made.prompts(context(dropped), 4)
    assert only.guidance is not None
    assert only.guidance.against.abs().sum() == 0


def test_patching_a_checkpoint_with_its_own_embedding_changes_nothing_and_the_live_model_is_left_alone():
    now, cohort = live()
    before = {k: v.clone() for k, v in now.denoiser.state_dict().items()}
    checkpoint = cohort.checkpoint(0)
    other = Cohort([recipe(seed=5)]).checkpoint(0)
    made = measurement("patch", images=8)
    same, different = (
        list(made.rows(replace(now, kept=lambda held=held: {4: held}))) for held in (checkpoint, other)
    )
    assert [(row.cls, row.measure, row.variable, row.step) for row in same] == [
        ("11", "agreed_capability", "patch", 4)
    ]
    assert len(different) == 1
    assert all(torch.equal(v, before[k]) for k, v in now.denoiser.state_dict().items())
    assert not list(made.rows(replace(now, step=1))), "only the last evaluation has the last embedding"


@pytest.mark.parametrize("network", NETWORKS)
def test_disentanglement_of_a_live_network_is_that_of_its_embeddings(network):
    now, _ = live(network)
    rows = {(r.cls, r.variable, r.measure): r.value for r in measurement("disentanglement").rows(now)}
    world = now.context.world
    with torch.no_grad():
        e = {
            code: now.denoiser.embed(world.condition(world.space.parse(code))[None])
            for code in ("00", "01", "10")
        }
    expected = [
        1 - abs(torch.cosine_similarity(e["01"][n] - e["00"][n], e["10"][n] - e["00"][n]).item())
        for n in e["00"]
    ]
    assert rows["00", "", "disentanglement"] == pytest.approx(np.mean(expected), abs=1e-4)
    assert rows["00", "", "disentanglement_spread"] == pytest.approx(np.std(expected), abs=1e-4)
    assert ("11", "", "disentanglement") in rows


@pytest.mark.parametrize("network", NETWORKS)
def test_norms_are_those_of_the_named_weights_and_of_a_finite_difference(network):
    now, _ = live(network)
    rows = {(r.variable, r.measure): r.value for r in measurement("norms", batch=6).rows(now)}
    first = [
        m.weight
        for n, m in now.denoiser.condition_embedding.named_modules()
        if isinstance(m, torch.nn.Linear) and m.in_features == 4
    ]
    colour = math.sqrt(sum(w[:, :3].double().square().sum().item() for w in first))
    assert rows["colour", "weight_norm"] == pytest.approx(colour, rel=1e-6)
    assert set(groups(now)) == {"colour", "size", "embedding", "convolutions"}
    assert all(math.isfinite(v) and v > 0 for v in rows.values())
    # Along its own gradient the objective changes by the norm times the step.
    batch = fixed_batch(now.context.recipe, 6)
    assert all(torch.equal(a, b) for a, b in zip(batch, fixed_batch(now.context.recipe, 6)))
    found = gradient(now, batch, CohortDenoiser(now.denoiser))
    whole = math.sqrt(sum(g.double().square().sum().item() for g in found.values()))
    losses = []
    for sign in (1, -1):
        with torch.no_grad():
            for name, p in now.denoiser.named_parameters():
                p.add_(sign * (1 if sign == 1 else 2) * 1e-3 / whole * found[name])
        losses.append(_loss(now, batch))
    assert (losses[0] - losses[1]) / 2e-3 == pytest.approx(whole, rel=0.02)


def _loss(now: Live, batch) -> float:
    """The member's objective on a batch, by the engine."""
    cohort = Cohort([now.context.recipe])
    parts = {"denoiser": now.denoiser, "process": now.process}
    cohort.begin_from(
        0, {f"raw.{part}.{name}": p for part, m in parts.items() for name, p in m.named_parameters()}
    )
    with torch.no_grad():
        return cohort.each("raw", Objective(cohort.denoiser, cohort.process, cohort.recipe), *batch).item()


def test_all_families_run_on_a_live_model_in_two_rounds():
    made = recipe(condition_dropout=0.1)
    cohort = Cohort([made])
    cohort.advance(1)
    families = build(
        [
            {"name": "prompt_search", "strengths": [1.0, 2.0], "images": 2},
            {"name": "latent", "factors": [2.0], "images": 2},
            {"name": "guidance", "images": 2},
        ]
    )
    setting = context(made)
    (observed,) = observe(families, [setting], 2, lambda prompts: generate(cohort, "raw", prompts))
    now = Live(setting, 1, "raw", *cohort.member(0), *observed)
    rows = [row for family in families for row in family.rows(now)]
    assert {row.variable for row in rows if row.measure == "prompt_capability"} == {
        "search",
        "latent",
        "guidance",
    }
    assert all(0 <= row.value <= 1 for row in rows)
