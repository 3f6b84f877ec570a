"""What runs on a worker of a Ray cluster: training a probe or a cohort in the store, as far as this node sees it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from conceptlab import cache
from conceptlab.executors.archive import pack, unpack
from conceptlab.executors.cohort import run_cohort
from conceptlab.executors.memory import free_bytes, halving
from conceptlab.executors.probes import prepare_probe, probe_hash
from conceptlab.recipe import Part, Recipe
from conceptlab.store import Store
from conceptlab.store.files import Busy

# Seconds to wait for a folder whose lock a dying worker still holds.
PATIENCE = 600.0

# The store's folder as the driver knows it, the file by which to recognise it, and the driver's environment.
Place = tuple[str, str, dict[str, str]]


def sees(place: Place) -> bool:
    """Whether this node shares the store's file system."""
    return (Path(place[0]) / place[1]).exists()


def free() -> float:
    """Free memory of the GPU that Ray gave this task."""
    return free_bytes(torch.device("cuda"))


def _enter(place: Place, supplies: bytes | None = None) -> Store:
    """The store as this node sees it; a node that does not has one of its own, with what it was sent."""
    root, _, environment = place
    os.environ.update({name: value for name, value in environment.items() if value})
    torch.set_num_threads(1)
    if sees(place):
        return Store(root)
    store = Store(cache.folder("ray") / cache.key(root))
    if supplies is not None:
        unpack(supplies, store.root)
    return store


def probe(place: Place, world: Part, part: Part, judges: bool) -> bytes | None:
    """Train a probe; its archive where the driver does not see it."""
    store = _enter(place)
    patiently(lambda: prepare_probe(store, world, part, judges=judges))
    return None if sees(place) else pack(store.root, [store.probe_path(probe_hash(world, part))])


def train_cohort(
    place: Place,
    recipes: list[dict[str, Any]],
    device: str,
    progress: tuple[Any, int],
    supplies: bytes | None,
) -> bytes | None:
    """Train a cohort; the archive of its members where the driver does not see them."""
    store, group = _enter(place, supplies), [Recipe.from_dict(data) for data in recipes]
    actor, number = progress
    made = 0

    def tell(members: Sequence[str], steps: int) -> None:
        nonlocal made
        made += steps * len(members)
        actor.tell.remote(number, made // len(group))

    def train(part: list[Recipe]) -> None:
        patiently(lambda: run_cohort(part, store, torch.device(device), tell))

    halving(group, train)
    return None if sees(place) else pack(store.root, [store.member_path(recipe) for recipe in group])


def patiently(work: Callable[[], None]) -> None:
    """Do some work whose folder may still be locked by a worker that is about to die."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return work()
        except Busy:
            if time.monotonic() > deadline:
                raise
            time.sleep(1.0)
