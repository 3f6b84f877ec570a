"""Where a run takes place: which executor trains its cohorts, on what kind of device, how many at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import torch

from conceptlab.errors import InputError
from conceptlab.executors import local
from conceptlab.executors.cohort import Report
from conceptlab.recipe import Recipe
from conceptlab.store import Store


@dataclass(frozen=True)
class Place:
    """`free` bytes of one cohort's share of a GPU and cohorts `at_once`, where these are another machine's."""

    device: torch.device
    train: Callable[[Iterable[Recipe], Store, torch.device, Report], None]
    free: float | None = None
    at_once: int | None = None


def place(executor: str, device: str, address: str | None = None, gpus: float = 1.0) -> Place:
    """This machine, or a Ray cluster with a share `gpus` of a GPU for each cohort."""
    if executor == "local":
        if address:
            raise InputError("--address names a Ray cluster; add --executor ray")
        return Place(local.choose_device(device), local.run)
    from conceptlab.executors import ray

    if not 0 < gpus <= 1:
        raise InputError(f"--gpus {gpus:g}: a cohort takes a share of one GPU, more than 0 and at most 1")
    ray.connect(address)
    kind = ray.cluster_device(device)
    return Place(kind, partial(ray.run, gpus=gpus), ray.free_memory(kind, gpus), ray.at_once(kind, gpus))
