"""Timing: medians and spread over blocks of steps, after warming up, with the device synchronised around each."""

from __future__ import annotations

import importlib.util
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

import conceptlab
from conceptlab.errors import InputError


@dataclass(frozen=True)
class Case:
    """One measurement: milliseconds for one step of one model, with quartiles over `n` blocks."""

    name: str
    network: str
    members: int
    ms: float
    low: float
    high: float
    n: int
    tflops: float | None = None
    memory_gib: float | None = None


def blocks(
    step: Callable[[], object], device: torch.device, per_block: int, n: int, warm_up: int
) -> list[float]:
    """Milliseconds per call of `step`, for each of `n` blocks."""
    for _ in range(warm_up):
        step()
    found = []
    for _ in range(n):
        _wait(device)
        begun = time.perf_counter()
        for _ in range(per_block):
            step()
        _wait(device)
        found.append((time.perf_counter() - begun) * 1e3 / per_block)
    return found


def summarise(
    name: str,
    network: str,
    members: int,
    times: list[float],
    flops: float | None = None,
    memory: float | None = None,
) -> Case:
    each = sorted(t / members for t in times)
    ms = statistics.median(each)
    quartiles = statistics.quantiles(each, n=4) if len(each) > 1 else [ms, ms, ms]
    rate = None if flops is None else round(flops / ms / 1e9, 2)
    return Case(
        name,
        network,
        members,
        round(ms, 4),
        round(quartiles[0], 4),
        round(quartiles[2], 4),
        len(each),
        rate,
        memory,
    )


def matrix_rate(device: torch.device, size: int = 8192) -> float:
    """TFLOP/s of a bfloat16 matrix product on random data: the ceiling to compare with."""
    if device.type == "cpu":
        size = 1024
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    a, b = (torch.randn(size, size, device=device, dtype=dtype) for _ in range(2))
    times = blocks(lambda: _product(a, b), device, 10, 5, 5)
    return 2 * size**3 / statistics.median(times) / 1e9


def _product(a: torch.Tensor, b: torch.Tensor) -> None:
    torch.mm(a, b)


def machine(device: torch.device) -> dict[str, Any]:
    name = (
        torch.cuda.get_device_name(device)
        if device.type == "cuda"
        else platform.processor() or platform.machine()
    )
    return {
        "device": name,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "threads": torch.get_num_threads(),
    }


def peak_memory(device: torch.device) -> float | None:
    return round(torch.cuda.max_memory_allocated(device) / 2**30, 2) if device.type == "cuda" else None


def baselines() -> ModuleType:
    """The frozen loops of `benchmarks/baselines.py`, which a source checkout has."""
    path = Path(conceptlab.__file__).parents[2] / "benchmarks" / "baselines.py"
    if not path.exists():
        raise InputError(
            "bench compares with benchmarks/baselines.py: run it from a source checkout of conceptlab"
        )
    spec = importlib.util.spec_from_file_location("conceptlab_baselines", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
