"""Plans: counted against what a run really draws and holds, once for what thousands of members share."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from typing import Any, cast

import pytest
import torch

from conceptlab import executors
from conceptlab.concepts import Split
from conceptlab.errors import InputError
from conceptlab.evaluation import (
    Context,
    FullSampling,
    Live,
    build,
    drawn_images,
    evaluation_flops,
    full_sampling,
    generate,
    observe,
)
from conceptlab.executors.cohort import _contexts
from conceptlab.executors.plan import plan
from conceptlab.recipe import Evaluation, Recipe
from conceptlab.store import Store
from conceptlab.training import Cohort
from conceptlab.training.cost import RATE, member_bytes, model_flops, training_flops, training_memory
from conceptlab.worlds import build as build_world
from tests.tiny import tiny_recipe

CPU = torch.device("cpu")


@pytest.mark.parametrize(
    "measurements",
    [
        ({"name": "accuracy"},),
        ({"name": "accuracy"}, {"name": "edges"}),
        ({"name": "accuracy"}, {"name": "redraws", "count": 3, "images": 6}),
        ({"name": "accuracy"}, {"name": "latent", "images": 2}, {"name": "guidance", "images": 2}),
        ({"name": "prompt_search", "strengths": [1.0, 2.0], "classes": ["111"], "images": 2},),
    ],
)
def test_drawings_are_counted_as_they_are_drawn(tmp_path, measurements):
    base = tiny_recipe()
    recipe = replace(base, evaluation=replace(base.evaluation, measurements=measurements))
    executors.prepare_probe(Store(tmp_path), recipe.world, recipe.evaluation.probe, judges=True)
    cohort, drawn = Cohort([recipe]), 0

    def draw(prompts):
        nonlocal drawn
        drawn += sum(p.images * (2 if p.guidance else 1) for p in prompts[0])
        return generate(cohort, "raw", prompts)

    observe(build(measurements), _contexts([recipe], Store(tmp_path), torch.device("cpu")), 4, draw)
    assert drawn_images(recipe, 4) == drawn


def test_evaluation_counts_every_step_both_weights_and_the_last_images():
    evaluation = Evaluation(count=4, images=4, final_images=10, sampler_steps=3, ema=True)
    recipe = tiny_recipe(evaluation=evaluation)
    assert evaluation_flops(recipe) == model_flops(recipe) * 3 * 2 * 8 * (3 * 4 + 10)


@pytest.mark.parametrize(
    ("process", "steps"),
    [({"name": "discrete", "steps": 12, "beta_max": 0.8}, 12), ({"name": "continuous"}, 7)],
)
def test_full_sampling_is_planned_with_all_its_steps(tmp_path, process, steps):
    evaluation = Evaluation(count=4, images=4, sampler_steps=3, ema=True)
    full = {"name": "full_sampling", "images": 5, "evaluations": 2, "steps": 7}
    without = tiny_recipe(process=process, evaluation=evaluation)
    measured = replace(evaluation, measurements=(*evaluation.measurements, full))
    recipe = replace(without, evaluation=measured)
    # Of both weights, at 2 evaluations, 5 images of each of 8 classes; the ordinary drawing is shared with accuracy.
    more = model_flops(recipe) * 2 * 2 * 5 * 8 * steps
    assert evaluation_flops(recipe) == evaluation_flops(without) + more
    found, base = (plan([r], Store(tmp_path), CPU) for r in (recipe, without))
    assert found.flops - base.flops == more
    assert found.seconds - base.seconds == pytest.approx(more / RATE["cpu"])


def test_full_sampling_draws_what_is_planned(monkeypatch):
    recipe = tiny_recipe(process={"name": "discrete", "steps": 12, "beta_max": 0.8})
    full, world, drawn = FullSampling(images=5, evaluations=2), build_world(**recipe.world), []
    context = Context(recipe, world, Split(world.space, recipe.train), cast(Any, None), None)
    monkeypatch.setattr(full_sampling, "read", lambda judge, images: {})
    monkeypatch.setattr(
        full_sampling,
        "draw_one",
        lambda denoiser, process, asked, prompts, dtype: drawn.append(
            sum(prompt.images for prompt in prompts) * asked.evaluation.sampler_steps
        ),
    )
    member = Cohort([recipe]).member(0)
    for step in full.at(recipe):
        for weights in recipe.evaluation.weights:
            full._fully_drawn(Live(context, step, weights, *member, {}, {}))
    assert len(drawn) == 4
    assert sum(drawn) == full.own_passes(context)


def test_a_plan_counts_members_cohorts_and_what_is_done(tmp_path):
    recipes = [tiny_recipe(seed=s) for s in range(3)] + [tiny_recipe(batch=8)]
    store = Store(tmp_path)
    executors.run(recipes[:1], store, CPU, lambda members, steps: None)
    found = plan(recipes, store, CPU)
    assert (found.members, found.done, found.cohorts, found.largest) == (4, 1, 3, 1)
    assert found.model_steps == 36
    assert found.training_flops == sum(training_flops(r) for r in recipes[1:])
    on_gpu = plan(recipes, store, torch.device("cuda"), free=2**34)
    assert (on_gpu.cohorts, on_gpu.largest, on_gpu.lanes) == (2, 2, 1)
    assert plan(recipes[:1], store, CPU).memory == 0


def test_what_others_start_from_is_planned_too(tmp_path):
    before = tiny_recipe()
    after = tiny_recipe(start=before.to_dict(), train={"111": 20})
    found = plan([after], Store(tmp_path), CPU)
    assert (found.members, found.done, found.cohorts, found.model_steps) == (1, 0, 2, 24)


def test_memory_is_that_of_the_hungriest_cohort(tmp_path):
    small, large = tiny_recipe(), tiny_recipe(batch=64)
    found = plan([small, tiny_recipe(seed=1), large], Store(tmp_path), CPU)
    assert found.memory == training_memory([large], "cpu")
    assert member_bytes(large) > 2 * member_bytes(small)


def test_seeds_cost_a_plan_next_to_nothing(tmp_path, monkeypatch):
    """What recipes share is spelt out, built and counted once, not for each of ten thousand seeds."""
    calls: Counter[str] = Counter()

    def counting(kind: Any, name: str) -> None:
        function = getattr(kind, name)

        def counted(*args, **kwargs):
            calls[name] += 1
            return function(*args, **kwargs)

        monkeypatch.setattr(kind, name, counted)

    counting(Recipe, "differences")
    counting(Recipe, "to_dict")
    counting(json, "dumps")
    base = [tiny_recipe(), tiny_recipe(batch=8)]
    recipes = [recipe.with_seed(seed) for recipe in base for seed in range(500)]
    found = plan(recipes, Store(tmp_path), torch.device("cuda"), free=2**34)
    assert (found.members, found.cohorts, found.largest) == (1000, 32, 32)
    assert calls["differences"] == len(base)
    assert calls["to_dict"] <= len(base)
    assert calls["dumps"] < 100


def test_a_plan_does_not_wait_for_what_it_does_not_need(tmp_path):
    """Each of these takes as long to load as to plan thousands of members."""
    script = (
        "import sys; from conceptlab.cli import main; "
        "code = main(['run', 'okawa2023.fig5', '--scale', 'paper', '--seeds', '2', '--plan', '--device', 'cpu']); "
        "heavy = ('torch._dynamo', 'sympy', 'networkx', 'scipy.stats', 'scipy.optimize', 'plotly.graph_objects'); "
        "sys.exit(code or ' '.join(name for name in heavy if name in sys.modules) or None)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2 (0 done already)" in done.stdout


@pytest.mark.skipif(torch.cuda.is_available(), reason="for machines without a GPU")
def test_a_gpu_that_is_not_here_can_be_planned_for_but_not_used(tmp_path) -> None:
    where = executors.place("local", "cuda", planned=True)
    found = plan(
        [tiny_recipe(seed=s) for s in range(3)], Store(tmp_path), where.device, where.free, where.at_once
    )
    assert (found.cohorts, found.largest, found.lanes) == (1, 3, 1)
    with pytest.raises(InputError, match="--device cuda is not available"):
        executors.place("local", "cuda")
