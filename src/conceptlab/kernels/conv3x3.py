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

from conceptlab.kernels.blocks import at_least, ceil

kernels: Any
try:
    from conceptlab.kernels import conv3x3_triton as kernels
except ImportError:  # a CPU build of torch comes without Triton
    kernels = None

# Switched off by benchmarks and tests that compare with the plain path.
ENABLED = True

TAPS, TAP_ROWS = 9, 3


def available(x: Tensor) -> bool:
    return ENABLED and kernels is not None and x.is_cuda and x.dtype == torch.bfloat16


def apply(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """x (E·B, C, H, W), weight (E, O, C, 3, 3), bias (E, O) → (E·B, O, H, W), stride 1, padding 1."""
    taps = weight.permute(0, 3, 4, 2, 1).flatten(1, 2)  # (E, 9, C, O)
    return torch.ops.conceptlab.conv3x3(x, taps, bias, False)


@torch.library.custom_op("conceptlab::conv3x3", mutates_args=())
def _convolve(x: Tensor, taps: Tensor, bias: Tensor | None, turned: bool) -> Tensor:
    """The convolution with taps (E, 9, C, O); `turned`, with the kernel turned around: from O channels to C."""
    x = x.contiguous(memory_format=torch.channels_last)
    # The rows of a weight matrix: members lie apart, a member's taps in one piece.
    taps = taps if taps[0].is_contiguous() else taps.contiguous()
    bias = None if bias is None else bias.contiguous()
    members, _, channels, outputs = taps.shape
    along, across = outputs, 1  # strides of the input and output channels of a tap
    if turned:
        channels, outputs, along, across = outputs, channels, across, along
    pixels = x.shape[0] // members * x.shape[2] * x.shape[3]
    y = _images(x, outputs)
    # Measured on an H200: 572 TFLOP/s against 491 with half the block, where there are so many outputs.
    block = min(256, max(16, at_least(outputs)))
    depth = min(64, max(16, at_least(channels)))
    grid = (ceil(pixels, 128), ceil(outputs, block), members)
    kernels.forward_kernel[grid](
        x, taps, bias, y, pixels, x.shape[2], x.shape[3], channels, outputs, taps.stride(0), along, across,
        TURNED=turned, BIAS=bias is not None, BM=128, BN=block, BK=depth,
        num_warps=8 if block > 128 else 4, num_stages=2 if channels <= 64 else 3,
    )  # fmt: skip
    return y


@_convolve.register_fake
def _(x: Tensor, taps: Tensor, bias: Tensor | None, turned: bool) -> Tensor:
    return _images(x, taps.shape[2 if turned else 3])


@torch.library.custom_op("conceptlab::conv3x3_weight", mutates_args=())
def _weight_gradient(x: Tensor, gradient: Tensor, members: int) -> Tensor:
    """Parts (parts, E, 9, C, O) whose sum is the gradient for the taps, in float32."""
    x = x.contiguous(memory_format=torch.channels_last)
    gradient = gradient.contiguous(memory_format=torch.channels_last)
    found = _parts(x, gradient, members)
    parts, _, _, channels, outputs = found.shape
    pixels = x.shape[0] // members * x.shape[2] * x.shape[3]
    rows, columns = _weight_blocks(channels, outputs)
    tiles = ceil(channels, rows) * ceil(outputs, columns)
    length = ceil(ceil(pixels, parts), 64) * 64
    kernels.weight_kernel[(tiles * TAP_ROWS, parts, members)](
        x, gradient, found, pixels, x.shape[2], x.shape[3], channels, outputs, length,
        BM=64, BC=rows, BO=columns, num_warps=4, num_stages=3,
    )  # fmt: skip
    return found


@_weight_gradient.register_fake
def _(x: Tensor, gradient: Tensor, members: int) -> Tensor:
    return _parts(x, gradient, members)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs[:2])


def _backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
    (x, taps), (images, weight, bias, _) = ctx.saved_tensors, ctx.needs_input_grad
    to_x = to_taps = to_bias = None
    if images:
        to_x = torch.ops.conceptlab.conv3x3(gradient, taps, None, True)
    if weight:
        to_taps = torch.ops.conceptlab.conv3x3_weight(x, gradient, len(taps)).sum(0).to(x.dtype)
    if bias:
        own = gradient.unflatten(0, (len(taps), -1))
        to_bias = own.sum((1, 3, 4), dtype=torch.float32).to(x.dtype)
    return to_x, to_taps, to_bias, None


_convolve.register_autograd(_backward, setup_context=_keep)


def _images(x: Tensor, channels: int) -> Tensor:
    shape = (x.shape[0], channels, *x.shape[2:])
    return torch.empty(shape, dtype=x.dtype, device=x.device, memory_format=torch.channels_last)


def _parts(x: Tensor, gradient: Tensor, members: int) -> Tensor:
    """Room for the parts: enough to fill the chip a few times over, but none shorter than 1,024 pixels."""
    channels, outputs = x.shape[1], gradient.shape[1]
    pixels = x.shape[0] // members * x.shape[2] * x.shape[3]
    rows, columns = _weight_blocks(channels, outputs)
    tiles = ceil(channels, rows) * ceil(outputs, columns)
    parts = max(1, min(pixels // 1024, 1152 // (tiles * TAP_ROWS * members)))
    return x.new_empty((parts, members, TAPS, channels, outputs), dtype=torch.float32)


def _weight_blocks(channels: int, outputs: int) -> tuple[int, int]:
    """Sides of a block of the weights, by input and output channels: 520 TFLOP/s with up to 128 outputs on an H200, 442
    with 64, 341 with 128 inputs instead."""
    return min(64, max(16, at_least(channels))), min(128, max(16, at_least(outputs)))
