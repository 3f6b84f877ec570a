"""Diffusion: noise processes, what the network predicts, losses and samplers."""

from __future__ import annotations

from typing import Any

from conceptlab.diffusion.check import check_process
from conceptlab.diffusion.loss import Bound, bound, mse
from conceptlab.diffusion.prediction import KINDS, noisy, split, target
from conceptlab.diffusion.process import Continuous, Cosine, Discrete, Process, alpha_sigma, spread
from conceptlab.diffusion.sampler import METHODS, sample
from conceptlab.registry import Registry

__all__ = [
    "KINDS",
    "METHODS",
    "Bound",
    "Continuous",
    "Cosine",
    "Discrete",
    "Process",
    "alpha_sigma",
    "bound",
    "build",
    "check_process",
    "mse",
    "names",
    "noisy",
    "register",
    "sample",
    "split",
    "spread",
    "target",
]

_PROCESSES: Registry[Process] = Registry("process", Process)
register = _PROCESSES.register
names = _PROCESSES.names

register("continuous")(Continuous)
register("cosine")(Cosine)
register("discrete")(Discrete)


def build(name: str, **settings: Any) -> Process:
    """A noise process by name."""
    return _PROCESSES.make(name, **settings)
