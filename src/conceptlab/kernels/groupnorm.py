"""Group normalisation of many members' images, channels last (Triton).

Torch's own turns channels-last images back on CUDA, so that every convolution has to turn them again, and reads them
several times. Here a program holds one group of one image on the chip: it is read once and written once.

Used for bfloat16 on CUDA where a group fits on the chip; everything else takes the plain path (`StackedGroupNorm`),
and a test checks that both agree.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

kernels: Any
try:
    from conceptlab.kernels import groupnorm_triton as kernels
except ImportError:  # a CPU build of torch comes without Triton
    kernels = None

# Switched off by benchmarks and tests that compare with the plain path.
ENABLED = True

# Elements of a group that one program can hold.
LARGEST = 32 * 1024


def available(x: Tensor, groups: int) -> bool:
    elements = _power_of_2(x.shape[2] * x.shape[3]) * _power_of_2(x.shape[1] // groups)
    on_chip = x.is_cuda and x.dtype == torch.bfloat16 and elements <= LARGEST
    return ENABLED and kernels is not None and on_chip


def apply(x: Tensor, weight: Tensor, bias: Tensor, groups: int, eps: float) -> Tensor:
    """x (E·B, C, H, W), weight and bias (E, C) → (E·B, C, H, W)."""
    return torch.ops.conceptlab.group_norm(x, weight, bias, groups, eps)[0]


@torch.library.custom_op("conceptlab::group_norm", mutates_args=())
def _normalise(
    x: Tensor, weight: Tensor, bias: Tensor, groups: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    return launch(x, weight, bias, groups, eps)


@_normalise.register_fake
def _(x: Tensor, weight: Tensor, bias: Tensor, groups: int, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    return _outputs(x, groups)


@torch.library.custom_op("conceptlab::group_norm_backward", mutates_args=())
def _gradients(
    gradient: Tensor, x: Tensor, weight: Tensor, means: Tensor, scales: Tensor, groups: int
) -> tuple[Tensor, Tensor, Tensor]:
    return launch_backward(gradient, x, weight, means, scales, groups)


@_gradients.register_fake
def _(
    gradient: Tensor, x: Tensor, weight: Tensor, means: Tensor, scales: Tensor, groups: int
) -> tuple[Tensor, Tensor, Tensor]:
    return _like(x), torch.empty_like(weight), torch.empty_like(weight)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor]) -> None:
    x, weight, _, ctx.groups, _ = inputs
    ctx.save_for_backward(x, weight, *output[1:])


def _backward(ctx: Any, gradient: Tensor, *_: Tensor) -> tuple[Tensor | None, ...]:
    x, weight, means, scales = ctx.saved_tensors
    found = torch.ops.conceptlab.group_norm_backward(gradient, x, weight, means, scales, ctx.groups)
    return (*found, None, None)


_normalise.register_autograd(_backward, setup_context=_keep)


def launch(x: Tensor, weight: Tensor, bias: Tensor, groups: int, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """The normalised images, and each group's mean and scale for the way back."""
    x, weight, bias = x.contiguous(memory_format=torch.channels_last), weight.contiguous(), bias.contiguous()
    y, means, scales = _outputs(x, groups)
    batch, channels, height, width = x.shape
    kernels.forward_kernel[(batch * groups,)](
        x, weight, bias, y, means, scales, height * width, channels, groups, batch // len(weight), eps,
        **_blocks(x, groups),
    )  # fmt: skip
    return y, means, scales


def launch_backward(
    gradient: Tensor, x: Tensor, weight: Tensor, means: Tensor, scales: Tensor, groups: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients for the images and for the members' scales and shifts."""
    x, gradient = (part.contiguous(memory_format=torch.channels_last) for part in (x, gradient))
    weight = weight.contiguous()
    to_x = _like(x)
    batch, channels, height, width = x.shape
    shares = torch.empty((2, batch, channels), dtype=torch.float32, device=x.device)
    kernels.backward_kernel[(batch * groups,)](
        gradient, x, weight, means, scales, to_x, shares[0], shares[1],
        height * width, channels, groups, batch // len(weight), **_blocks(x, groups),
    )  # fmt: skip
    sums = shares.view(2, len(weight), -1, channels).sum(2).to(weight.dtype)
    return to_x, sums[0].clone(), sums[1].clone()


def _outputs(x: Tensor, groups: int) -> tuple[Tensor, Tensor, Tensor]:
    statistics = [x.new_empty(x.shape[0] * groups, dtype=torch.float32) for _ in range(2)]
    return _like(x), statistics[0], statistics[1]


def _like(x: Tensor) -> Tensor:
    return torch.empty(x.shape, dtype=x.dtype, device=x.device, memory_format=torch.channels_last)


def _blocks(x: Tensor, groups: int) -> dict[str, int]:
    pixels, channels = _power_of_2(x.shape[2] * x.shape[3]), _power_of_2(x.shape[1] // groups)
    warps = 4 if pixels * channels <= 8192 else 8
    return {"BP": pixels, "BC": channels, "num_warps": warps}


def _power_of_2(size: int) -> int:
    return 1 << (size - 1).bit_length()
