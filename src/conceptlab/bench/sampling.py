"""`conceptlab bench sample`: drawing for an evaluation, all members at once, against a plain loop over one model."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from conceptlab.bench.measure import Case, baselines, blocks, machine, matrix_rate, peak_memory, summarise
from conceptlab.bench.training import NETWORKS, Tell, check, forget
from conceptlab.evaluation import Prompt, generate
from conceptlab.evaluation.generate import BATCH
from conceptlab.recipe import Recipe
from conceptlab.training import Cohort
from conceptlab.training.cost import model_flops
from conceptlab.worlds import build as build_world

# An evaluation of park2024: images of nine prompts.
PROMPTS, IMAGES = 9, 32

# Training steps and evaluations of a run at paper scale (quickstart: its only one).
RUNS = {"park2024": (15_000, 40), "okawa2023": (7_900, 40), "quickstart": (1_000, 12)}

# Sampler steps as the studies use them: at paper scale on a GPU, at smaller scales on a CPU.
STEPS = {"cuda": 50, "cpu": 10}


def bench_sample(
    networks: Sequence[str], members: Sequence[int], device: torch.device, tell: Tell = lambda _: None
) -> dict[str, Any]:
    """Cases in milliseconds per image, and images per second, for each network; each is told when measured."""
    check(networks, members)
    result: dict[str, Any] = {"machine": machine(device), "unit": "ms per image", "cases": []}
    if device.type == "cuda":
        result["matrix_tflops"] = round(matrix_rate(device), 1)
    for name in networks:
        recipe = NETWORKS[name].with_settings({"evaluation.sampler_steps": STEPS[device.type]})

        def measured(case: Case) -> Case:
            tell(case)
            result["cases"].append(vars(case) | {"images_per_s": round(1e3 / case.ms, 1)})
            return case

        eager = measured(_eager(name, recipe, device))
        together = [(measured(case), share) for case, share in _together(name, recipe, members, device)]
        best, share = min(together, key=lambda both: both[0].ms)
        result[f"ratio_{name}_sample_over_eager"] = round(eager.ms / best.ms, 2)
        result[f"ratio_{name}_evaluations_over_training"] = float(f"{share:.3g}")  # it may be tiny
    return result


def _eager(name: str, recipe: Recipe, device: torch.device) -> Case:
    """The same batch size as the engine draws at a time."""
    images = BATCH[device.type]
    draw = baselines().eager_sampler(recipe, device.type, images, recipe.evaluation.sampler_steps)
    case = _case("eager loop", name, 1, draw, images, recipe, device)
    del draw
    forget(device)
    return case


def _together(
    name: str, recipe: Recipe, members: Sequence[int], device: torch.device
) -> Iterator[tuple[Case, float]]:
    """So many members at once, and what drawing takes over a whole run, as a share of its training."""
    fast = recipe.with_settings({"precision": "bfloat16"}) if device.type == "cuda" else recipe
    world = build_world(**recipe.world)
    classes = [world.condition(cls) for cls in world.space]
    prompts = [
        Prompt(f"prompt {number}", classes[number % len(classes)], IMAGES, str(number))
        for number in range(PROMPTS)
    ]
    steps, evaluations = RUNS[name]
    for count in members:
        cohort, images = (
            Cohort([fast.with_settings({"seed": s}) for s in range(count)], device),
            PROMPTS * IMAGES,
        )
        draw = partial(generate, cohort, "raw", [prompts] * count)
        case = _case("members together", name, count, draw, count * images, recipe, device)
        training = steps * statistics.median(blocks(lambda cohort=cohort: cohort.advance(1), device, 5, 5, 5))
        del cohort, draw
        forget(device)
        yield case, evaluations * images * count * case.ms / training


def _case(
    label: str,
    name: str,
    members: int,
    draw: Callable[[], object],
    images: int,
    recipe: Recipe,
    device: torch.device,
) -> Case:
    times = [time / images for time in blocks(draw, device, 1, 5, 1)]
    flops = float(model_flops(recipe) * recipe.evaluation.sampler_steps)
    return replace(summarise(label, name, 1, times, flops, peak_memory(device)), members=members)
