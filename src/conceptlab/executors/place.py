"""Where a run takes place: which executor trains its cohorts, on what kind of device, how many at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import torch

from conceptlab.errors import InputError
from conceptlab.executors import local
from conceptlab.executors.cohort import Report
from conceptlab.executors.memory import MOST
from conceptlab.recipe import Recipe
from conceptlab.store import Store


@dataclass(frozen=True)
class Place:
    """`free` bytes of one cohort's share of a GPU and cohorts `at_once`, where these are another machine's; `most`
    members in a cohort."""

    device: torch.device
    train: Callable[[Iterable[Recipe], Store, torch.device, Report], None]
    free: float | None = None
    at_once: int | None = None
    most: int = MOST

    @property
    def is_here(self) -> bool:
        """Whether members are trained on this machine."""
        return self.at_once is None


# What a plan reckons with for a GPU that this machine does not have.
PLANNED_GPU = 80 * 2**30


def place(
    executor: str,
    device: str,
    address: str | None = None,
    gpus: float = 1.0,
    most: int | None = None,
    *,
    planned: bool = False,
) -> Place:
    """This machine, or a Ray cluster with a share `gpus` of a GPU for each cohort of at most `most` members. What is
    only `planned` may be for a GPU elsewhere."""
    most = MOST if most is None else most
    if most < 1:
        raise InputError(f"--cohort {most}: a cohort has at least one member")
    if executor == "local":
        if address:
            raise InputError("--address names a Ray cluster; add --executor ray")
        train = partial(local.run, most=most)
        if planned and device == "cuda" and not torch.cuda.is_available():
            return Place(torch.device("cuda"), train, PLANNED_GPU, at_once=1, most=most)
        return Place(local.choose_device(device), train, most=most)
    from conceptlab.executors import ray

    if not 0 < gpus <= 1:
        raise InputError(f"--gpus {gpus:g}: a cohort takes a share of one GPU, more than 0 and at most 1")
    ray.connect(address)
    kind = ray.cluster_device(device)
    train = partial(ray.run, gpus=gpus, most=most)
    return Place(kind, train, ray.free_memory(kind, gpus), ray.at_once(kind, gpus), most)
