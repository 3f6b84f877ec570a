"""Does a kernel agree with exact arithmetic, forth and back?"""

from __future__ import annotations

import torch
from torch import Tensor


def exactly(inputs: list[Tensor]) -> list[Tensor]:
    """The same numbers in double precision."""
    return [part.detach().double().requires_grad_() for part in inputs]


def assert_agree(found: Tensor, expected: Tensor, inputs: list[Tensor], exact: list[Tensor]) -> None:
    """The result and its gradients for all inputs, to what bfloat16 keeps."""
    probe = torch.randn_like(expected)
    found.backward(probe.to(torch.bfloat16))
    expected.backward(probe)
    for ours, theirs in [(found, expected), *((a.grad, b.grad) for a, b in zip(inputs, exact))]:
        assert ours is not None
        assert theirs is not None
        assert (ours.double() - theirs).norm() / theirs.norm() < 1e-2, "bfloat16 keeps 8 bits"
