"""The executor for more than one machine: every cohort is a Ray task.

Scheduling, placement and retries are Ray's. What makes a task safe to retry is what makes a local run safe to kill:
members are locked while they train, finished ones are never trained again, and an unfinished one goes on from its last
state. So a worker or node that dies costs the steps since the last evaluation, and a driver that dies costs nothing.

Results land in the run folders of the store. Nodes that share its file system write there; others train in their own
cache and send finished members back.
"""

from __future__ import annotations

import contextlib
import os
import socket
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch

from conceptlab import plugins
from conceptlab.errors import InputError, first_line
from conceptlab.executors import ray_worker
from conceptlab.executors.archive import pack, unpack
from conceptlab.executors.cohort import Report
from conceptlab.executors.local import check_starts, cohorts, cores, generations, needed_probes, pending
from conceptlab.executors.memory import MOST
from conceptlab.executors.probes import probe_hash
from conceptlab.recipe import Recipe
from conceptlab.store import Store
from conceptlab.store.files import make_folder

# A task is tried again so often when its worker or node dies; what kills every worker would otherwise run for ever.
RETRIES = 8

# Seconds in which a cluster answers.
_PATIENCE = 20.0

# What a worker needs of the driver's environment.
_ENVIRONMENT = (plugins.VARIABLE, "CONCEPTLAB_CACHE")


def connect(address: str | None) -> None:
    """Join the cluster at an address (`auto`, `host:6379`); without one, use this machine alone."""
    ray = _ray()
    if ray.is_initialized():
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    address = address or os.environ.get("RAY_ADDRESS")
    try:
        if address:
            _reach(address)
            ray.init(address=address, **quiet)
        else:
            # Without this word Ray joins whatever cluster happens to run on this machine, somebody else's too.
            ray.init(address="local", num_cpus=cores(), include_dashboard=False, **quiet)
    except (OSError, RuntimeError, ValueError, OverflowError) as error:
        raise InputError(_unconnected(address, error)) from error


def _reach(address: str) -> None:
    """Find out in seconds that nobody listens at a host and port: Ray tries for many minutes, without a word."""
    host, _, port = address.rpartition(":")
    if host and port.isdecimal() and "/" not in host:  # not `auto`, nor `ray://…`
        socket.create_connection((host.strip("[]"), int(port)), _PATIENCE).close()


def _unconnected(address: str | None, error: Exception) -> str:
    if not address:
        return f"Ray does not start on this machine ({first_line(error)}); leave --executor ray out to do without it"
    return f"no Ray cluster answers at '{address}' ({first_line(error)}); is `ray start` running there?"


def cluster_device(name: str) -> torch.device:
    """The kind of device that cohorts get: a GPU where the cluster has any and nothing else is asked for."""
    has_gpu = _ray().cluster_resources().get("GPU", 0) > 0
    if name == "auto":
        name = "cuda" if has_gpu else "cpu"
    if name == "mps" or (name == "cuda" and not has_gpu):
        raise InputError(f"--device {name}: the Ray cluster has no such device; choose auto or cpu")
    return torch.device(name)


def free_memory(device: torch.device, gpus: float) -> float | None:
    """Bytes of a GPU that a cohort with a share of it may take, asked of the first one that Ray gives out."""
    if device.type != "cuda":
        return None
    ray = _ray()
    return gpus * ray.get(ray.remote(ray_worker.free).options(num_gpus=gpus, max_retries=RETRIES).remote())


def at_once(device: torch.device, gpus: float) -> int:
    """Cohorts that the cluster, as it is now, runs at the same time."""
    resources = _ray().cluster_resources()
    by_core = int(resources.get("CPU", 1))
    return max(1, min(by_core, int(resources["GPU"] / gpus)) if device.type == "cuda" else by_core)


def run(
    recipes: Iterable[Recipe],
    store: Store,
    device: torch.device,
    report: Report,
    gpus: float = 1.0,
    most: int = MOST,
) -> None:
    """Train everything that is not there yet, each cohort with one core and, on a GPU, a share `gpus` of it."""
    ray = _ray()
    todo = pending(recipes, store)
    if not todo:
        return
    check_starts(todo, store)
    wants = {"num_cpus": 1, "num_gpus": gpus if device.type == "cuda" else 0, "max_retries": RETRIES}
    with _token(store) as token:
        place = (str(store.root.resolve()), token, {name: os.environ.get(name, "") for name in _ENVIRONMENT})
        shared = _is_shared(place)
        probe = ray.remote(ray_worker.probe).options(num_cpus=1, max_retries=RETRIES)
        _collect([probe.remote(place, *needed) for needed in needed_probes(todo)], store)
        free = free_memory(device, gpus)
        train = ray.remote(ray_worker.train_cohort).options(**wants)
        for generation in generations(todo):
            groups = cohorts(generation, device, free, most)
            meter = _Meter(groups, report)
            tasks = [
                train.remote(
                    place,
                    [recipe.to_dict() for recipe in group],
                    device.type,
                    (meter.actor, number),
                    None if shared else _supplies(store, group),
                )
                for number, group in enumerate(groups)
            ]
            try:
                _collect(tasks, store, meter.read)
            except BaseException:
                for task in tasks:
                    ray.cancel(task, force=True)
                raise


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise InputError("--executor ray needs Ray: pip install 'conceptlab[ray]'") from None
    return ray


@contextlib.contextmanager
def _token(store: Store) -> Iterator[str]:
    """A file by which a node sees whether it shares the store's file system."""
    path = make_folder(store.root) / f".ray-{uuid.uuid4().hex}"
    path.touch()
    try:
        yield path.name
    finally:
        path.unlink(missing_ok=True)


def _is_shared(place: ray_worker.Place) -> bool:
    """Whether every node sees the store."""
    ray = _ray()
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    nodes = [node["NodeID"] for node in ray.nodes() if node["Alive"]]
    look = ray.remote(ray_worker.sees)
    asked = [
        look.options(num_cpus=0, scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=True)).remote(
            place
        )
        for node in nodes
    ]
    return all(ray.get(asked))


def _supplies(store: Store, group: Sequence[Recipe]) -> bytes:
    """What a node that does not see the store needs for a cohort: probes, and the members it starts from."""
    paths = [store.probe_path(probe_hash(world, part)) for world, part, _ in needed_probes(group)]
    paths += [store.member_path(recipe.before) for recipe in group if recipe.before is not None]
    return pack(store.root, dict.fromkeys(paths))


def _collect(tasks: list[Any], store: Store, meanwhile: Callable[[], None] = lambda: None) -> None:
    """Wait for all tasks, unpacking what comes back; the first that fails stops the run."""
    ray = _ray()
    waiting = list(tasks)
    while waiting:
        done, waiting = ray.wait(waiting, timeout=0.5)
        meanwhile()
        for task in done:
            try:
                returned = ray.get(task)
            except ray.exceptions.RayTaskError as error:
                raise (error.cause if isinstance(error.cause, InputError) else error) from None
            except ray.exceptions.RayError as error:
                raise RuntimeError(
                    f"a cohort's worker died {RETRIES + 1} times (out of memory?); the same command continues the run"
                ) from error
            if returned is not None:
                unpack(returned, store.root)
    meanwhile()


class _Progress:
    """How many steps each cohort has made in all; lives beside the driver."""

    def __init__(self) -> None:
        self.made: dict[int, int] = {}

    def tell(self, cohort: int, steps: int) -> None:
        self.made[cohort] = steps

    def take(self) -> dict[int, int]:
        taken, self.made = self.made, {}
        return taken


class _Meter:
    """Turns what cohorts tell into reports of steps just made. A cohort that is tried again counts on from where it
    resumes, not twice."""

    def __init__(self, groups: Sequence[Sequence[Recipe]], report: Report) -> None:
        ray = _ray()
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=True)
        self.actor = (
            ray.remote(_Progress).options(num_cpus=0, max_restarts=-1, scheduling_strategy=here).remote()
        )
        self.groups, self.report = groups, report
        self.known: dict[int, int] = {}

    def read(self) -> None:
        ray = _ray()
        try:
            told = ray.get(self.actor.take.remote(), timeout=10)
        except ray.exceptions.RayError:
            # Its node died or does not answer. Training goes on, and so will the reports once Ray has restarted it.
            return
        for number, steps in told.items():
            new = steps - self.known.get(number, 0)
            if new > 0:
                self.known[number] = steps
                self.report([recipe.hash for recipe in self.groups[number]], new)
