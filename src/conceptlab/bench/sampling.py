"""`conceptlab bench sample`: drawing for an evaluation, all members at once, against a plain loop over one model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
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
        cases = []
        for case in _cases(name, recipe, members, device):
            tell(case)
            cases.append(case)
            result["cases"].append(vars(case) | {"images_per_s": round(1e3 / case.ms, 1)})
        best = min(cases[1:], key=lambda case: case.ms)
        result[f"ratio_{name}_sample_over_eager"] = round(cases[0].ms / best.ms, 2)
    return result


def _cases(name: str, recipe: Recipe, members: Sequence[int], device: torch.device) -> Iterator[Case]:
    yield _eager(name, recipe, device)
    for count in members:
        yield _together(name, recipe, count, device)


def _eager(name: str, recipe: Recipe, device: torch.device) -> Case:
    """The same batch size as the engine draws at a time."""
    images = BATCH[device.type]
    draw = baselines().eager_sampler(recipe, device.type, images, recipe.evaluation.sampler_steps)
    case = _case("eager loop", name, 1, draw, images, recipe, device)
    del draw
    forget(device)
    return case


def _together(name: str, recipe: Recipe, count: int, device: torch.device) -> Case:
    fast = recipe.with_settings({"precision": "bfloat16"}) if device.type == "cuda" else recipe
    cohort = Cohort([fast.with_settings({"seed": seed}) for seed in range(count)], device)
    world = build_world(**recipe.world)
    classes = [world.condition(cls) for cls in world.space]
    prompts = [
        Prompt(f"prompt {number}", classes[number % len(classes)], IMAGES, str(number))
        for number in range(PROMPTS)
    ]

    case = _case(
        "members together",
        name,
        count,
        lambda: generate(cohort, "raw", [prompts] * count),
        count * PROMPTS * IMAGES,
        recipe,
        device,
    )
    forget(device)
    return case


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
