from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from conceptlab.diffusion import Continuous
from conceptlab.errors import InputError
from conceptlab.evaluation import FullSampling, Live, Prompt, build, draw_one, generate, names, observe
from conceptlab.recipe import Evaluation
from conceptlab.training import Cohort
from tests.evaluation.small import context, recipe

ALL_STEPS = {"process": {"name": "discrete", "steps": 12, "beta_max": 0.8}, "loss": "mse"}


def _live(made, measurement, step: int) -> Live:
    cohort = Cohort([made])
    cohort.advance(2)  # an untrained network draws nothing but noise
    known = context(made)
    denoiser, process = cohort.member(0)
    (observed,) = observe(
        [measurement], [known], made.evaluation.images,
        lambda prompts: [draw_one(denoiser, process, made, prompts[0])],
    )  # fmt: skip
    return Live(known, step, "raw", denoiser, process, *observed)


def test_it_is_drawn_at_a_few_evaluations_and_at_the_last():
    measurement = FullSampling(evaluations=3)
    made = recipe(steps=7900, evaluation=Evaluation(count=40, spacing="square", probe={"name": "analytic"}))
    steps = made.evaluation_steps()
    assert measurement.at(made) == (steps[12], steps[26], steps[39])
    assert FullSampling(evaluations=9).at(recipe()) == recipe().evaluation_steps()


def test_rows_come_at_these_steps_only_and_differ_from_the_ordinary_drawing_by_what_they_say():
    made = recipe(steps=10, evaluation=Evaluation(count=5, images=6, probe={"name": "analytic"}))
    measurement = FullSampling(images=5, evaluations=1, steps=4)
    assert not list(measurement.rows(_live(made, measurement, 2)))
    live = _live(made, measurement, 10)
    rows = {(row.cls, row.variable, row.measure): row.value for row in measurement.rows(live)}
    space = live.context.world.space
    assert len(rows) == len(space) * (2 + len(space.names))
    for cls in space:
        code = space.code(cls)
        seen = live.read[f"class {code}"]
        right = [seen[v][:, value].round() for v, value in zip(space.names, cls)]
        ordinary = float((right[0] * right[1]).mean())
        difference = rows[code, "", "full_accuracy"] - ordinary
        assert rows[code, "", "full_difference"] == pytest.approx(difference)
        assert (
            0 <= rows[code, "", "full_accuracy"] <= min(rows[code, v, "full_accuracy"] for v in space.names)
        )


def test_an_ordinary_drawing_with_all_ancestral_steps_is_full_sampling():
    settings = Evaluation(
        count=1, images=6, sampler="ancestral", sampler_steps=12, probe={"name": "analytic"}
    )
    # Of a discrete process all steps are taken, whatever is said.
    measurement = FullSampling(images=6, steps=3)
    live = _live(recipe(**ALL_STEPS, evaluation=settings), measurement, 10)
    rows = list(measurement.rows(live))
    assert all(row.value == 0 for row in rows if row.measure == "full_difference")
    few = replace(live.context.recipe, evaluation=replace(settings, sampler_steps=4))
    prompt = Prompt("one", live.context.world.condition((0, 0)), 4, "00")
    drawn = [draw_one(live.denoiser, live.process, r, [prompt])["one"] for r in (few, live.context.recipe)]
    assert (drawn[0] - drawn[1]).abs().max() > 0.01, "fewer steps draw something else"


def test_it_draws_in_the_precision_of_the_member():
    made = recipe(process={"name": "continuous"}, loss="mse")
    cohort = Cohort([made])
    cohort.advance(2)
    denoiser, process = cohort.member(0)
    assert isinstance(process, Continuous)
    prompt = Prompt("one", context(made).world.condition((1, 0)), 3, "10")
    exact = draw_one(denoiser, process, made, [prompt])["one"]
    rounded = draw_one(denoiser, process, made, [prompt], dtype=torch.bfloat16)["one"]
    assert rounded.dtype == torch.float32
    assert 0 < (exact - rounded).abs().max() < 0.2


def test_a_single_network_rounds_what_a_cohort_rounds():
    """Weights are rounded, statistics of a batch are not: otherwise two networks would be compared."""
    network = {"name": "okawa2023", "features": 16}
    made = recipe(**ALL_STEPS, denoiser=network, precision="bfloat16")
    cohort = Cohort([made])
    cohort.advance(4)
    cohort.settle()
    prompt = Prompt("one", context(made).world.condition((1, 0)), 3, "10")
    (together,) = generate(cohort, "raw", [[prompt]])
    alone = draw_one(*cohort.member(0), made, [prompt], dtype=torch.bfloat16)
    assert torch.equal(together["one"], alone["one"])


def test_it_is_registered_and_checks_its_settings():
    assert "full_sampling" in names()
    with pytest.raises(InputError, match="'full_sampling': images is 0"):
        build([{"name": "full_sampling", "images": 0}])


@pytest.mark.gpu
@pytest.mark.filterwarnings("ignore::UserWarning")  # the compiler's advice
def test_a_member_of_a_cohort_is_fully_sampled_on_cuda_in_its_precision():
    """With as many ancestral steps in the ordinary drawing, which is compiled and recorded for the whole cohort."""
    settings = Evaluation(
        count=1, images=6, sampler="ancestral", sampler_steps=12, probe={"name": "analytic"}
    )
    made = [
        recipe(**ALL_STEPS, evaluation=settings, precision="bfloat16", seed=seed, steps=10) for seed in (0, 1)
    ]
    cohort, measurement = Cohort(made, "cuda"), FullSampling(images=6)
    cohort.advance(2)
    known = [context(each) for each in made]
    seen = observe([measurement], known, 6, lambda prompts: generate(cohort, "raw", prompts))
    for index, (about, observed) in enumerate(zip(known, seen)):
        live = Live(about, 10, "raw", *cohort.member(index), *observed)
        rows = [row for row in measurement.rows(live) if row.measure == "full_difference"]
        assert len(rows) == 4
        # The same noise in the same number of steps; only rounding may move an image over the edge of a class.
        assert all(abs(row.value) <= 2 / 6 for row in rows)
