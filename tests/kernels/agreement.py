"""Does a kernel agree with exact arithmetic, forth and back?

Kernels run on a GPU in bfloat16 (`make test-gpu`), or without one in Triton's interpreter in single precision, which
says nothing of their speed but all of what they compute (`make test-kernels`).
"""

from __future__ import annotations

import os

import pytest
import torch
from torch import Tensor

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
DEVICE, DTYPE = ("cpu", torch.float32) if INTERPRETED else ("cuda", torch.bfloat16)

# The largest relative error: of the approximate GELU, or of the 8 bits that bfloat16 keeps.
TOLERANCE = 1e-3 if INTERPRETED else 1e-2

on_kernels = pytest.mark.filterwarnings("ignore") if INTERPRETED else pytest.mark.gpu


def exactly(inputs: list[Tensor]) -> list[Tensor]:
    """The same numbers in double precision."""
    return [part.detach().double().requires_grad_() for part in inputs]


def error(found: Tensor, expected: Tensor) -> float:
    """Relative to what was expected."""
    return float(
        (found.detach().double() - expected.detach().double()).norm() / expected.detach().double().norm()
    )


def assert_near(found: Tensor, expected: Tensor, tolerance: float = TOLERANCE) -> None:
    assert error(found, expected) < tolerance


def assert_agree(found: Tensor, expected: Tensor, inputs: list[Tensor], exact: list[Tensor]) -> None:
    """The result and its gradients for all inputs."""
    probe = torch.randn_like(expected)
    found.backward(probe.to(DTYPE))
    expected.backward(probe)
    for ours, theirs in [(found, expected), *((a.grad, b.grad) for a, b in zip(inputs, exact))]:
        assert ours is not None
        assert theirs is not None
        assert_near(ours, theirs)
