"""3×3 convolutions of many members at once, as products of matrices on tensor cores (Triton).

Grouped convolution, the ready-made way to run E convolutions with E weights, converts layouts inside and leaves most
of the chip idle. Here images lie channels last, so that every tap of the kernel is a matrix product of (pixels ×
channels) with (channels × outputs), and members are one axis of the launch grid. The gradient for the input is the
same convolution with the kernel turned around; the gradient for the weights sums over pixels in parts.

Used for bfloat16 on CUDA; everything else takes the plain path (`StackedConv2d`), and a test checks that both agree.
"""

from __future__ import annotations

from typing import Any, NamedTuple

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

# With so few outputs a block has more pixels.
FEW = 64

# For weight gradients boxes pay where a row is as long as a block: on an H200 579 TFLOP/s against 482 with 128 channels
# at 64×64. In narrower images they lose, however boxes are cut: 468 against 505 at 28×28.
ROW = Box(images=1, rows=1, width=64)


def available(x: Tensor) -> bool:
    return ENABLED and kernels is not None and x.is_cuda and x.dtype == torch.bfloat16


def apply(x: Tensor, weight: Tensor, bias: Tensor | None, plus: Tensor | None = None) -> Tensor:
    """x (E·B, C, H, W), weight (E, O, C, 3, 3), bias (E, O) → (E·B, O, H, W), stride 1, padding 1; added to `plus`, if
    it is given."""
    taps = weight.permute(0, 3, 4, 2, 1).flatten(1, 2)  # (E, 9, C, O)
    return torch.ops.conceptlab.conv3x3(x, taps, bias, plus, False)


def apply_summed(x: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """The convolution without a bias, and sums (2, E, O) over each member's pixels of its outputs and of their squares,
    through which no gradient flows: what normalisation by batches wants to know."""
    return torch.ops.conceptlab.conv3x3_summed(x, weight.permute(0, 3, 4, 2, 1).flatten(1, 2))


def apply_normed(x: Tensor, weight: Tensor, slope: Tensor, level: Tensor, gelu: bool) -> Tensor:
    """The convolution without a bias, then a factor and a level (E, O) of each output, then GELU if asked for; all in
    one, for use where no gradient is wanted."""
    taps = weight.permute(0, 3, 4, 2, 1).flatten(1, 2)
    return torch.ops.conceptlab.conv3x3_normed(x, taps, slope, level, gelu)


@torch.library.custom_op("conceptlab::conv3x3", mutates_args=())
def _convolve(x: Tensor, taps: Tensor, bias: Tensor | None, plus: Tensor | None, turned: bool) -> Tensor:
    """The convolution with taps (E, 9, C, O); `turned`, with the kernel turned around: from O channels to C."""
    return _launched(x, taps, level=bias, plus=plus, turned=turned)[0]


@_convolve.register_fake
def _(x: Tensor, taps: Tensor, bias: Any, plus: Any, turned: bool) -> Tensor:
    return _images(x, taps.shape[2 if turned else 3])


@torch.library.custom_op("conceptlab::conv3x3_summed", mutates_args=())
def _convolve_summed(x: Tensor, taps: Tensor) -> tuple[Tensor, Tensor]:
    y, parts = _launched(x, taps, sums=True)
    assert parts is not None
    return y, parts.sum(0)


@_convolve_summed.register_fake
def _(x: Tensor, taps: Tensor) -> tuple[Tensor, Tensor]:
    members, _, _, outputs = taps.shape
    return _images(x, outputs), x.new_empty((2, members, outputs), dtype=torch.float32)


@torch.library.custom_op("conceptlab::conv3x3_normed", mutates_args=())
def _convolve_normed(x: Tensor, taps: Tensor, slope: Tensor, level: Tensor, gelu: bool) -> Tensor:
    """No gradient is known for it."""
    return _launched(x, taps, slope, level, gelu=gelu)[0]


@_convolve_normed.register_fake
def _(x: Tensor, taps: Tensor, slope: Tensor, level: Tensor, gelu: bool) -> Tensor:
    return _images(x, taps.shape[3])


class _Given(NamedTuple):
    """What a kernel reads and writes: images, taps, what comes after the sums, and the place of the result."""

    x: Tensor
    taps: Tensor
    slope: Tensor | None
    level: Tensor | None
    plus: Tensor | None
    y: Tensor


def _launched(
    x: Tensor,
    taps: Tensor,
    slope: Tensor | None = None,
    level: Tensor | None = None,
    plus: Tensor | None = None,
    turned: bool = False,
    gelu: bool = False,
    sums: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """The images, and if asked for the sums (blocks, 2, E, O) of the blocks in which they were made."""
    x = x.contiguous(memory_format=torch.channels_last)
    # The rows of a weight matrix: members lie apart, a member's taps in one piece.
    taps = taps if taps[0].is_contiguous() else taps.contiguous()
    slope, level = (None if part is None else part.contiguous() for part in (slope, level))
    plus = None if plus is None else plus.contiguous(memory_format=torch.channels_last)
    outputs = taps.shape[2 if turned else 3]
    y = _images(x, outputs)
    box = box_of(len(x) // len(taps), x.shape[2], x.shape[3], 256 if outputs <= FEW else 128)
    form = {"SLOPE": slope is not None, "LEVEL": level is not None, "PLUS": plus is not None}
    form |= {"TURNED": turned, "GELU": gelu, "SUMS": sums}
    given = _Given(x, taps, slope, level, plus, y)
    if box is not None and readable(x, taps, y, *(() if plus is None else (plus,))):
        return y, _launch_boxed(given, box, form)
    return y, _launch(given, form)


def _launch_boxed(given: _Given, box: Box, form: dict[str, Any]) -> Tensor | None:
    """With a tensor memory accelerator; on an H200 a quarter to a half faster than without."""
    x, taps, slope, level, plus, y = given
    members, (_, channels, height, width), outputs = len(taps), x.shape, y.shape[1]
    block, depth, blocks = _blocks(channels, outputs)
    sides, images = (block, depth) if form["TURNED"] else (depth, block), len(x) // members
    grid = (box.cover(images, height, width), ceil(outputs, block), members)
    parts = _sums(x, grid, outputs) if form["SUMS"] else None
    boxed.forward_kernel[grid](
        described(x, members, box, depth), described_taps(taps, *sides), slope, level,
        None if plus is None else described(plus, members, box, block), parts,
        described(y, members, box, block), images, height, width, channels, outputs, **form, **blocks,
        EVEN=box.even(images, height, width), IMAGES=box.images, ROWS=box.rows, WIDTH=box.width, BN=block, BK=depth,
    )  # fmt: skip
    return parts


def _blocks(channels: int, outputs: int) -> tuple[int, int, dict[str, Any]]:
    """Outputs and channels of a block, and how the work on it is shared out. Outputs are rows where there are many:
    measured on an H200, 595 to 700 TFLOP/s against 530 to 590 with 128 or 256 of them. With 64 it depends on the batch
    (benchmarks/README.md), and fewer do not fill the rows that four warps have."""
    block = _block(outputs, 128)
    many = block > FEW
    return (
        block,
        _block(channels, 64),
        {"OUTPUTS_FIRST": many, "num_warps": 4 if many else 8, "num_stages": 3},
    )


def _launch(given: _Given, form: dict[str, Any]) -> Tensor | None:
    x, taps, slope, level, plus, y = given
    members, channels, outputs = len(taps), x.shape[1], y.shape[1]
    if TAPS * channels <= 32:
        # So few channels that all taps are one product: 170 µs against 443 for images of three. With GELU four warps
        # would run out of registers.
        kernel, rows, block = kernels.thin_kernel, 256, _block(outputs, 64)
        blocks = {"BK": 32, "num_warps": 8 if form["GELU"] else 4}
    else:
        # Measured on an H200: 572 TFLOP/s against 491 with half the block, where there are so many outputs.
        kernel, rows, block = kernels.forward_kernel, 128, _block(outputs, 256)
        blocks = {"BK": _block(channels, 64), "num_warps": 8 if block > 128 else 4}
        blocks["num_stages"] = 2 if channels <= 64 else 3
    pixels = len(x) // members * x.shape[2] * x.shape[3]
    # Strides of a tap's input and output channels.
    along, across = (1, channels) if form["TURNED"] else (outputs, 1)
    grid = (ceil(pixels, rows), ceil(outputs, block), members)
    parts = _sums(x, grid, outputs) if form["SUMS"] else None
    kernel[grid](
        x, taps, slope, level, plus, parts, y, pixels, x.shape[2], x.shape[3], channels, outputs, taps.stride(0), along,
        across, **form, BM=rows, BN=block, **blocks,
    )  # fmt: skip
    return parts


def _sums(x: Tensor, grid: tuple[int, int, int], outputs: int) -> Tensor:
    return x.new_empty((grid[0], 2, grid[2], outputs), dtype=torch.float32)


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
    blocks = {"BC": rows, "BO": columns, "num_warps": 8 if columns > 128 else 4, "num_stages": 3}
    if width == ROW.width and readable(x, gradient):
        length = ceil(ROW.cover(images // members, height, width), parts)
        boxed.weight_kernel[grid](
            described(x, members, ROW, rows), described(gradient, members, ROW, columns), found,
            height, width, channels, outputs, length,
            IMAGES=ROW.images, ROWS=ROW.rows, WIDTH=ROW.width, **blocks,
        )  # fmt: skip
    else:
        pixels = images // members * height * width
        length = ceil(ceil(pixels, parts), 64) * 64
        kernels.weight_kernel[grid](
            x, gradient, found, pixels, height, width, channels, outputs, length, BM=64, **blocks
        )
    return found


@_weight_gradient.register_fake
def _(x: Tensor, gradient: Tensor, members: int) -> Tensor:
    return _parts(x, gradient, members)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs[:2])


def _backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
    (x, taps), (*needed, bias, plus, _) = ctx.saved_tensors, ctx.needs_input_grad
    to_bias = None
    if bias:
        own = gradient.unflatten(0, (len(taps), -1))
        to_bias = own.sum((1, 3, 4), dtype=torch.float32).to(x.dtype)
    return *_gradients(gradient, x, taps, *needed), to_bias, gradient if plus else None, None


def _gradients(
    gradient: Tensor, x: Tensor, taps: Tensor, images: bool, weight: bool
) -> tuple[Tensor | None, Tensor | None]:
    """Those for images and taps, as far as they are needed."""
    to_x = torch.ops.conceptlab.conv3x3(gradient, taps, None, None, True) if images else None
    if not weight:
        return to_x, None
    return to_x, torch.ops.conceptlab.conv3x3_weight(x, gradient, len(taps)).sum(0).to(x.dtype)


_convolve.register_autograd(_backward, setup_context=_keep)


def _keep_summed(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(*inputs)


def _backward_summed(ctx: Any, gradient: Tensor, _: Tensor) -> tuple[Tensor | None, Tensor | None]:
    return _gradients(gradient, *ctx.saved_tensors, *ctx.needs_input_grad)


_convolve_summed.register_autograd(_backward_summed, setup_context=_keep_summed)


def _images(x: Tensor, channels: int) -> Tensor:
    shape = (x.shape[0], channels, *x.shape[2:])
    return torch.empty(shape, dtype=x.dtype, device=x.device, memory_format=torch.channels_last)


def _parts(x: Tensor, gradient: Tensor, members: int) -> Tensor:
    """Room for the parts: enough to fill the chip once, since all are summed, but none shorter than 1,024 pixels."""
    channels, outputs = x.shape[1], gradient.shape[1]
    pixels = x.shape[0] // members * x.shape[2] * x.shape[3]
    rows, columns = _weight_blocks(channels, outputs)
    tiles = ceil(channels, rows) * ceil(outputs, columns)
    programs = 792 if columns <= FEW else 396  # six or three on each of an H200's multiprocessors
    parts = max(1, min(pixels // 1024, programs // (tiles * TAP_ROWS * members)))
    return x.new_empty((parts, members, TAPS, channels, outputs), dtype=torch.float32)


def _weight_blocks(channels: int, outputs: int) -> tuple[int, int]:
    """Sides of a block of the weights, by input and output channels. On an H200, with the sum of all parts: 570 TFLOP/s
    with 256 outputs, 485 with half of them; with 128 inputs instead of 64 up to 473."""
    return _block(channels, 64), _block(outputs, 256)


def _block(size: int, most: int) -> int:
    """A block's side for a size: at least 16, as products on tensor cores want it."""
    return min(most, max(16, at_least(size)))
