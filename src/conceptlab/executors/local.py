"""The executor that needs nothing else: this machine.

On a CPU every member is a process of its own with one thread, as many at once as there are cores: measured faster
than stacking convolutions, and a member's numbers do not depend on how many others run. On a GPU recipes that fit
together are trained together, cohort after cohort.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import torch

from conceptlab.errors import InputError
from conceptlab.executors import room
from conceptlab.executors.cohort import Report, run_cohort, starts_from_failed
from conceptlab.executors.memory import MOST, fitting, free_bytes, halving
from conceptlab.executors.probes import prepare_probe, unlearned
from conceptlab.executors.processes import Processes, tell
from conceptlab.executors.room import least_bytes
from conceptlab.recipe import Part, Recipe
from conceptlab.store import Store
from conceptlab.store.files import Busy, locked
from conceptlab.training import cohort_key
from conceptlab.training.cost import check_start
from conceptlab.training.threads import one_thread

# A world, a probe of it, and whether that is to judge.
NeededProbe: TypeAlias = tuple[Part, Part, bool]


def choose_device(name: str) -> torch.device:
    available = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if name == "auto":
        name = "cuda" if available["cuda"] else "cpu"
    if not available.get(name, False):
        here = ", ".join(kind for kind, there in available.items() if there)
        raise InputError(f"--device {name} is not available on this machine; choose auto or one of: {here}")
    return torch.device(name)


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def pending(recipes: Iterable[Recipe], store: Store) -> list[Recipe]:
    """The recipes still to be trained, each once, those that others start from first."""
    found: dict[str, Recipe] = {}

    def add(recipe: Recipe) -> None:
        if recipe.before is not None:
            add(recipe.before)
        found.setdefault(recipe.hash, recipe)

    for recipe in recipes:
        add(recipe)
    return [recipe for recipe in found.values() if not store.is_done(recipe)]


def check_starts(todo: Iterable[Recipe], store: Store) -> None:
    """What is to be fine-tuned needs the weights it starts from, of a network like its own: found out before hours of
    other work."""
    for recipe in todo:
        check_start(recipe)
        before = recipe.before
        if before is None or not store.is_done(before) or starts_from_failed(recipe, store):
            continue
        if not store.member(before).checkpoint_steps:
            raise InputError(
                f"a member is to be fine-tuned from {store.member_path(before)}, which has no checkpoint; "
                "bring its checkpoints folder there, or train both anew with another --out"
            )


def generations(recipes: Sequence[Recipe]) -> list[list[Recipe]]:
    """Recipes grouped so that whatever one starts from lies in an earlier group."""
    groups: dict[int, list[Recipe]] = {}
    for recipe in recipes:
        depth, before = 0, recipe.before
        while before is not None:
            depth, before = depth + 1, before.before
        groups.setdefault(depth, []).append(recipe)
    return [groups[depth] for depth in sorted(groups)]


def cohorts(
    recipes: Sequence[Recipe], device: torch.device, free: float | None = None, most: int = MOST
) -> list[list[Recipe]]:
    """Who trains with whom, `most` at once. `free` bytes of a GPU, where it is another machine's, must be told."""
    if device.type == "cpu":
        return [[recipe] for recipe in recipes]
    grouped: dict[str, list[Recipe]] = {}
    for recipe in recipes:
        grouped.setdefault(cohort_key(recipe), []).append(recipe)
    free = free_bytes(device) if free is None else free
    return [cohort for group in grouped.values() for cohort in fitting(group, free, most)]


def run(
    recipes: Iterable[Recipe], store: Store, device: torch.device, report: Report, most: int = MOST
) -> None:
    """Train everything that is not there yet. Interrupt it at will; the same call continues."""
    todo = pending(recipes, store)
    check_starts(todo, store)
    on_cpu = device.type == "cpu"
    workers = (_at_once(todo) if on_cpu else cores()) if todo else 1
    with contextlib.ExitStack() as until_the_end:
        processes = until_the_end.enter_context(Processes(workers, report)) if workers > 1 else None
        _prepare_probes(needed_probes(todo), store, processes)
        if not on_cpu:  # a GPU has its members in this process
            until_the_end.close()
            processes = None
        for generation in generations(todo):
            left = generation
            while left:
                groups = cohorts(left, device, most=most)
                if processes is None:
                    busy = _in_this_process(groups, store, device, report)
                else:
                    busy = _in_processes(groups, store, processes)
                left = _waited_for(busy, store)


def _prepare_probes(probes: Sequence[NeededProbe], store: Store, processes: Processes | None) -> None:
    """Train those that are not there yet, and let none judge that may not."""
    missing = unlearned(store, [(world, part) for world, part, _ in probes])
    if processes is not None and len(missing) > 1:
        processes.each(_probe, [(world, part, str(store.root)) for world, part in missing])
    with one_thread():
        for world, part, judges in probes:
            prepare_probe(store, world, part, judges=judges)


def _waited_for(busy: Sequence[Recipe], store: Store) -> list[Recipe]:
    """What other processes were training and left undone. Two runs of one command would otherwise end each other."""
    for recipe in busy:
        with locked(store.member_path(recipe), wait=True):
            pass
    return pending(busy, store)


def _at_once(recipes: Sequence[Recipe]) -> int:
    """Members to train at the same time on a CPU: one for each core, unless there is no memory for so many."""
    device = torch.device("cpu")
    largest = max(least_bytes(r, device) for r in {recipe.seedless: recipe for recipe in recipes}.values())
    return min(cores(), len(recipes), max(1, int(room.free_bytes() / largest)))


def needed_probes(recipes: Iterable[Recipe]) -> list[NeededProbe]:
    """Every world with the probes it needs, once."""
    found: dict[str, NeededProbe] = {}
    for recipe in recipes:
        for part, judges in ((recipe.evaluation.probe, True), (recipe.evaluation.second_probe, False)):
            if part:
                found.setdefault(repr((recipe.world, part, judges)), (recipe.world, part, judges))
    return list(found.values())


def _in_this_process(
    groups: list[list[Recipe]], store: Store, device: torch.device, report: Report
) -> list[Recipe]:
    """Train one cohort after the other; those are returned of which another process is training some."""
    busy: list[Recipe] = []
    # On a GPU the CPU only reads what was drawn, for all members one after the other: with every core it has.
    with one_thread() if device.type == "cpu" else contextlib.nullcontext():
        for group in groups:
            try:
                halving(group, lambda part: run_cohort(part, store, device, report))
            except Busy:
                busy += group
    return busy


def _in_processes(groups: list[list[Recipe]], store: Store, processes: Processes) -> list[Recipe]:
    """The same, as many at once as there are workers."""
    tasks = [([recipe.to_dict() for recipe in group], str(store.root)) for group in groups]
    return [recipe for number in processes.each(_work, tasks) for recipe in groups[number]]


# --- inside a worker process ----------------------------------------------------------------------------------


def _work(recipes: list[dict[str, Any]], root: str) -> None:
    run_cohort([Recipe.from_dict(data) for data in recipes], Store(Path(root)), torch.device("cpu"), tell)


def _probe(world: Part, part: Part, root: str) -> None:
    prepare_probe(Store(Path(root)), world, part, judges=False)
