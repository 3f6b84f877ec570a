"""`conceptlab bench train`: this engine against the loop the authors write and against the best loop for one model."""

from __future__ import annotations

import gc
import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from conceptlab.bench.measure import Case, baselines, blocks, machine, matrix_rate, peak_memory, summarise
from conceptlab.errors import InputError, unknown
from conceptlab.executors import cores
from conceptlab.recipe import Optimiser, Recipe
from conceptlab.training import Cohort
from conceptlab.training.cost import model_flops
from conceptlab.worlds import OKAWA2023, QUICKSTART

# Hears of a case as soon as it is measured: a benchmark takes minutes, and what was measured outlives a later failure.
Tell = Callable[[Case], object]

NETWORKS: dict[str, Recipe] = {
    "park2024": Recipe(
        world={"name": "circles"},
        train={"00": 2048, "01": 2048, "10": 2048},
        denoiser={"name": "park2024"},
        process={"name": "continuous", "gamma_min": -5.0, "gamma_max": 10.0},
        optimiser=Optimiser(weight_decay=0.01, clip=0.01),
        pixels="unit",
    ),
    "okawa2023": Recipe(
        world={"name": "shapes", **OKAWA2023},
        train=dict.fromkeys(("000", "100", "010", "001"), 1250),
        denoiser={"name": "okawa2023", "features": 128},
        process={"name": "discrete", "steps": 500},
        optimiser=Optimiser(name="adam", learning_rate=1e-4),
        pixels="unit",
    ),
    "quickstart": Recipe(
        world={"name": "shapes", **QUICKSTART},
        train=dict.fromkeys(("000", "100", "010", "001"), 500),
        denoiser={"name": "film"},
        prediction="v",
        optimiser=Optimiser(learning_rate=2e-3, weight_decay=0.01),
    ),
}

MOST_MEMBERS = 256
"""Many more than fill any device; on a CPU of two cores they already take an hour."""


def bench_train(
    networks: Sequence[str], members: Sequence[int], device: torch.device, tell: Tell = lambda _: None
) -> dict[str, Any]:
    """Cases and ratios for each network; each case is told when it is measured."""
    check(networks, members)
    result: dict[str, Any] = {"machine": machine(device), "cases": []}
    if device.type == "cuda":
        result["matrix_tflops"] = round(matrix_rate(device), 1)
    for name in networks:
        cases = []
        for case in _on_gpu(name, members, device) if device.type == "cuda" else _on_cpu(name, max(members)):
            tell(case)
            cases.append(case)
        result["cases"] += [vars(case) for case in cases]
        result |= _ratios(name, cases, result.get("matrix_tflops"))
    return result


def check(networks: Sequence[str], members: Sequence[int]) -> None:
    """Refuse what cannot be measured before anything is."""
    for name in networks:
        if name not in NETWORKS:
            raise unknown("network", name, NETWORKS)
    for count in members:
        if count < 1:
            raise InputError(f"--members {count}: at least one member is needed")
        if count > MOST_MEMBERS:
            raise InputError(
                f"--members {count}: at most {MOST_MEMBERS} are measured together; time grows with them, and what one "
                "takes of it does not change any more"
            )


def _on_gpu(name: str, members: Sequence[int], device: torch.device) -> Iterator[Case]:
    recipe, loops = NETWORKS[name], baselines()
    flops = 3.0 * model_flops(recipe) * recipe.batch
    # Each is made when its turn comes: beside another it would share its memory and its workers.
    for label, make, n in (
        ("a0", lambda: loops.authors_loop(recipe, "cuda"), 8),
        ("a1", lambda: loops.careful_loop(recipe), 20),
    ):
        step = make()
        yield summarise(label, name, 1, blocks(step, device, 20, n, 10), flops, peak_memory(device))
        del step
        forget(device)
    for count in (1, *members):
        fast = recipe.with_settings({"precision": "bfloat16"})
        cohort = Cohort([fast.with_settings({"seed": seed}) for seed in range(count)], device)
        cohort.advance(5)
        times = blocks(lambda cohort=cohort: cohort.advance(1), device, 20, 15, 5)
        yield summarise("b" if count == 1 else "c", name, count, times, flops, peak_memory(device))
        del cohort
        forget(device)


def forget(device: torch.device) -> None:
    """Give back what a case held, so that the next one starts alike."""
    gc.collect()
    if device.type != "cuda":
        return
    torch.compiler.reset()
    # A cohort switches it off, and a loop that comes next would not.
    torch.backends.cuda.enable_cudnn_sdp(True)
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats(device)


def _on_cpu(name: str, members: int) -> Iterator[Case]:
    """Members in processes of one thread each, as the executor runs them, against one loop with all threads."""
    recipe, loops = NETWORKS[name], baselines()
    flops = 3.0 * model_flops(recipe) * recipe.batch
    step = loops.in_memory_loop(recipe, "cpu")
    yield summarise("loop, all threads", name, 1, blocks(step, torch.device("cpu"), 10, 9, 3), flops)
    context = multiprocessing.get_context("spawn")
    steps, times, workers = 30, [], min(cores(), members)
    with context.Pool(workers, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        # Warmed up, as the loop is: each loads torch first.
        pool.map(_train, [(name, 0, 1)] * workers, chunksize=1)
        for _ in range(5):
            begun = time.perf_counter()
            inside = pool.map(_train, [(name, seed, steps) for seed in range(members)], chunksize=1)
            whole = time.perf_counter() - begun
            # Building data and networks is paid once in a run of thousands of steps: leave it out.
            times.append((whole - _setup(inside, whole)) * 1e3 / steps)
    yield summarise("processes", name, members, times, flops)


def _train(task: tuple[str, int, int]) -> tuple[float, float]:
    name, seed, steps = task
    begun = time.perf_counter()
    cohort = Cohort([NETWORKS[name].with_settings({"seed": seed})])
    cohort.advance(2)
    ready = time.perf_counter()
    cohort.advance(steps)
    return ready - begun, time.perf_counter() - ready


def _setup(inside: list[tuple[float, float]], whole: float) -> float:
    """The share of the wall time that went into building, the processes being busy all the time."""
    building = sum(ready for ready, _ in inside)
    return whole * building / (building + sum(trained for _, trained in inside))


def _ratios(name: str, cases: Sequence[Case], matrix: float | None) -> dict[str, float]:
    by_name = {case.name: case for case in cases if case.name != "c"}
    together = [case for case in cases if case.name == "c"]
    found: dict[str, float] = {}
    if together:
        best = min(together, key=lambda case: case.ms)
        for baseline in ("a0", "a1", "b"):
            found[f"ratio_{name}_c_over_{baseline}"] = round(by_name[baseline].ms / best.ms, 2)
        if matrix and best.tflops:
            found[f"ratio_{name}_of_matrix_rate"] = round(best.tflops / matrix, 3)
    if "processes" in by_name:
        found[f"ratio_{name}_processes_over_loop"] = round(
            by_name["loop, all threads"].ms / by_name["processes"].ms, 2
        )
    return found
