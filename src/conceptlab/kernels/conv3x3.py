"""3×3 convolutions of many members at once, as products of matrices on tensor cores (Triton).

Grouped convolution, the ready-made way to run E convolutions with E weights, converts layouts inside and leaves most
of the chip idle. Here images lie channels last, so that every tap of the kernel is a matrix product of (pixels ×
channels) with (channels × outputs), and members are one axis of the launch grid. The gradient for the input is the
same convolution with the kernel turned around; the gradient for the weights sums over pixels in parts.

Used for bfloat16 on CUDA; everything else takes the plain path (`StackedConv2d`), and a test checks that both agree.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

kernels: Any
try:
    from conceptlab.kernels import conv3x3_triton as kernels
except ImportError:  # a CPU build of torch comes without Triton
    kernels = None

# Switched off by benchmarks and tests that compare with the plain path.
ENABLED = True

TAPS = 9


def available(x: Tensor) -> bool:
    return ENABLED and kernels is not None and x.is_cuda and x.dtype == torch.bfloat16


def apply(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """x (E·B, C, H, W), weight (E, O, C, 3, 3), bias (E, O) → (E·B, O, H, W), stride 1, padding 1."""
    taps = weight.permute(0, 3, 4, 2, 1).flatten(1, 2)  # (E, 9, C, O)
    y = torch.ops.conceptlab.conv3x3(x, taps, False)
    if bias is None:
        return y
    members, outputs = bias.shape
    return (y.unflatten(0, (members, -1)) + bias.view(members, 1, outputs, 1, 1)).flatten(0, 1)


@torch.library.custom_op("conceptlab::conv3x3", mutates_args=())
def _convolve(x: Tensor, taps: Tensor, turned: bool) -> Tensor:
    return launch(x, taps, turned)


@_convolve.register_fake
def _(x: Tensor, taps: Tensor, turned: bool) -> Tensor:
    return _images(x, taps.shape[2 if turned else 3])


@torch.library.custom_op("conceptlab::conv3x3_weight", mutates_args=())
def _weight_gradient(x: Tensor, gradient: Tensor, members: int) -> Tensor:
    return launch_weight(x, gradient, members)


@_weight_gradient.register_fake
def _(x: Tensor, gradient: Tensor, members: int) -> Tensor:
    return x.new_empty((members, TAPS, x.shape[1], gradient.shape[1]))


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs[:2])


def _backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
    x, taps = ctx.saved_tensors
    to_x = torch.ops.conceptlab.conv3x3(gradient, taps, True) if ctx.needs_input_grad[0] else None
    to_taps = torch.ops.conceptlab.conv3x3_weight(x, gradient, len(taps)) if ctx.needs_input_grad[1] else None
    return to_x, to_taps, None


_convolve.register_autograd(_backward, setup_context=_keep)


def _images(x: Tensor, channels: int) -> Tensor:
    shape = (x.shape[0], channels, *x.shape[2:])
    return torch.empty(shape, dtype=x.dtype, device=x.device, memory_format=torch.channels_last)


def launch(x: Tensor, taps: Tensor, turned: bool) -> Tensor:
    """The convolution with taps (E, 9, C, O); `turned`, with the kernel turned around: from O channels to C."""
    x, taps = x.contiguous(memory_format=torch.channels_last), taps.contiguous()
    members, _, channels, outputs = taps.shape
    along, across = outputs, 1  # strides of the input and output channels of a tap
    if turned:
        channels, outputs, along, across = outputs, channels, across, along
    pixels = x.shape[0] // members * x.shape[2] * x.shape[3]
    y = _images(x, outputs)
    block = min(128, max(16, _power_of_2(outputs)))
    depth = min(64, max(16, _power_of_2(channels)))
    grid = (_ceil(pixels, 128), _ceil(outputs, block), members)
    kernels.forward_kernel[grid](
        x, taps, y, pixels, x.shape[2], x.shape[3], channels, outputs, along, across,
        TURNED=turned, BM=128, BN=block, BK=depth, num_warps=4, num_stages=3,
    )  # fmt: skip
    return y


def launch_weight(x: Tensor, gradient: Tensor, members: int) -> Tensor:
    """The gradient for the taps (members, 9, C, O), in the precision of x."""
    x = x.contiguous(memory_format=torch.channels_last)
    gradient = gradient.contiguous(memory_format=torch.channels_last)
    channels, outputs = x.shape[1], gradient.shape[1]
    pixels = x.shape[0] // members * x.shape[2] * x.shape[3]
    rows, columns = (min(128, max(16, _power_of_2(size))) for size in (channels, outputs))
    tiles = _ceil(channels, rows) * _ceil(outputs, columns)
    # Enough parts to fill the chip a few times over, but no shorter than 1,024 pixels.
    parts = max(1, min(pixels // 1024, 1152 // (tiles * TAPS * members)))
    length = _ceil(_ceil(pixels, parts), 64) * 64
    partial = torch.empty((parts, members, TAPS, channels, outputs), dtype=torch.float32, device=x.device)
    kernels.weight_kernel[(tiles * TAPS, parts, members)](
        x, gradient, partial, pixels, x.shape[2], x.shape[3], channels, outputs, length,
        BM=64, BC=rows, BO=columns, num_warps=4, num_stages=3,
    )  # fmt: skip
    return partial.sum(0).to(x.dtype)


def _ceil(size: int, block: int) -> int:
    return -(-size // block)


def _power_of_2(size: int) -> int:
    return 1 << (size - 1).bit_length()
