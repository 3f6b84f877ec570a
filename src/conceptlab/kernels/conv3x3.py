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
from conceptlab.kernels.boxes import Box, box_of, described, described_taps, readable

kernels: Any
try:
    from conceptlab.kernels import conv3x3_triton as kernels
except ImportError:  # a CPU build of torch comes without Triton
    kernels = None
boxed: Any
try:
    from conceptlab.kernels import conv3x3_tma_triton as boxed
except ImportError:
    boxed = None

# Switched off by benchmarks and tests that compare with the plain path.
ENABLED = True

TAPS, TAP_ROWS = 9, 3

# With more outputs than these a product has outputs as its rows: on an H200 595 to 700 TFLOP/s against 530 to 590 with
# 128 or 256 outputs. With fewer nothing is gained.
FEW = 64

# For weight gradients boxes pay where a row is as long as a block: on an H200 579 TFLOP/s against 482 with 128 channels
# at 64×64; in narrower images they gain nothing (387 against 380 at 32×32, 396 against 463 at 28×28).
ROW = Box(images=1, rows=1, width=64)


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
    outputs = taps.shape[2 if turned else 3]
    y = _images(x, outputs)
    box = box_of(x.shape[2], x.shape[3], 256 if outputs <= FEW else 128)
    if box is not None and readable(x, taps, y):
        _launch_boxed(x, taps, bias, y, turned, box)
    else:
        _launch(x, taps, bias, y, turned)
    return y


def _launch_boxed(x: Tensor, taps: Tensor, bias: Tensor | None, y: Tensor, turned: bool, box: Box) -> None:
    """With a tensor memory accelerator; on an H200 a quarter to a half faster than without."""
    members, channels, outputs, height = len(taps), x.shape[1], y.shape[1], x.shape[2]
    block, depth = _block(outputs, 128), _block(channels, 64)
    sides, many = (block, depth) if turned else (depth, block), block > FEW
    grid = (box.cover(len(x) // members, height), ceil(outputs, block), members)
    boxed.forward_kernel[grid](
        described(x, members, box, depth), described_taps(taps, *sides), bias, described(y, members, box, block),
        height, channels, outputs, TURNED=turned, BIAS=bias is not None, OUTPUTS_FIRST=many,
        IMAGES=box.images, ROWS=box.rows, WIDTH=box.width, BN=block, BK=depth,
        num_warps=4 if many else 8, num_stages=3,
    )  # fmt: skip


def _launch(x: Tensor, taps: Tensor, bias: Tensor | None, y: Tensor, turned: bool) -> None:
    members, channels, outputs = len(taps), x.shape[1], y.shape[1]
    if TAPS * channels <= 32:
        # So few channels that all taps are one product: 170 µs against 443 for images of three.
        kernel, rows, block = kernels.thin_kernel, 256, _block(outputs, 64)
        form = {"BK": 32, "num_warps": 4}
    else:
        # Measured on an H200: 572 TFLOP/s against 491 with half the block, where there are so many outputs.
        kernel, rows, block = kernels.forward_kernel, 128, _block(outputs, 256)
        form = {"BK": _block(channels, 64), "num_warps": 8 if block > 128 else 4}
        form["num_stages"] = 2 if channels <= 64 else 3
    pixels = len(x) // members * x.shape[2] * x.shape[3]
    along, across = (1, channels) if turned else (outputs, 1)  # strides of a tap's input and output channels
    kernel[(ceil(pixels, rows), ceil(outputs, block), members)](
        x, taps, bias, y, pixels, x.shape[2], x.shape[3], channels, outputs, taps.stride(0), along, across,
        TURNED=turned, BIAS=bias is not None, BM=rows, BN=block, **form,
    )  # fmt: skip


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
    images, _, height, width = x.shape
    rows, columns = _weight_blocks(channels, outputs)
    grid = (ceil(channels, rows) * ceil(outputs, columns) * TAP_ROWS, parts, members)
    if width == ROW.width and readable(x, gradient):
        length = ceil(ROW.cover(images // members, height), parts)
        boxed.weight_kernel[grid](
            described(x, members, ROW, rows), described(gradient, members, ROW, columns), found,
            height, channels, outputs, length, WIDTH=ROW.width, BC=rows, BO=columns, num_warps=4, num_stages=3,
        )  # fmt: skip
    else:
        pixels = images // members * height * width
        length = ceil(ceil(pixels, parts), 64) * 64
        kernels.weight_kernel[grid](
            x, gradient, found, pixels, height, width, channels, outputs, length,
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
    return _block(channels, 64), _block(outputs, 128)


def _block(size: int, most: int) -> int:
    """A block's side for a size: at least 16, as products on tensor cores want it."""
    return min(most, max(16, at_least(size)))
