"""Normalisation by batches of many members' images, with GELU after it, channels last (Triton).

Compiled from plain torch it takes half of a training step of okawa2023's network: sums over all but the channels of
images that lie channels last are read several times, and their gradients are copied into another order. Here images
are read twice on the way forth, or once where whoever made them has summed them, and twice with their gradients on the
way back.

Used for training in bfloat16 on CUDA; everything else takes the plain path (`StackedBatchNorm`), and a test checks that
both agree.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from conceptlab.kernels.blocks import at_least, ceil

kernels: Any
try:
    from conceptlab.kernels import batchnorm_triton as kernels
except ImportError:  # a CPU build of torch comes without Triton
    kernels = None

# Switched off by benchmarks and tests that compare with the plain path.
ENABLED = True

# More channels than that take the plain path.
WIDEST = 1024
# Elements of a block of pixels and channels, and programs that fill the chip a few times over.
BLOCK, PROGRAMS, WARPS = 2048, 1056, 4


def available(x: Tensor) -> bool:
    fits = x.is_cuda and x.dtype == torch.bfloat16 and x.shape[1] <= WIDEST
    return ENABLED and kernels is not None and fits


def apply(
    x: Tensor, weight: Tensor, bias: Tensor, eps: float, gelu: bool, sums: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """x (E·B, C, H, W), weight and bias (E, C) → images like x, and mean and variance (E, C) of each member's batch,
    through which no gradient flows. `sums` (2, E, C) are those of values and of squares over a member's pixels, where
    they are known."""
    return torch.ops.conceptlab.batch_norm(x, sums, weight, bias, eps, gelu)


@torch.library.custom_op("conceptlab::batch_norm", mutates_args=())
def _normalise(
    x: Tensor, sums: Tensor | None, weight: Tensor, bias: Tensor, eps: float, gelu: bool
) -> tuple[Tensor, Tensor, Tensor]:
    x, weight, bias = _in_order(x, weight, bias)
    grid, sizes, form = _plan(x, len(weight))
    y, statistics, pivot = _like(x), _statistics(x, weight), sums is None
    if sums is None:
        parts = x.new_empty((grid[0], 2, *weight.shape), dtype=torch.float32)
        kernels.sums_kernel[grid](x, parts, *sizes, **form)
        sums = parts.sum(0)
    kernels.forward_kernel[grid](
        x, sums, weight, bias, y, *statistics, weight.stride(0), eps, *sizes, GELU=gelu, PIVOT=pivot, **form
    )
    return y, *statistics


@_normalise.register_fake
def _(x: Tensor, sums: Any, weight: Tensor, *_: Any) -> tuple[Tensor, Tensor, Tensor]:
    return _like(x), *_statistics(x, weight)


@torch.library.custom_op("conceptlab::batch_norm_backward", mutates_args=())
def _gradients(
    gradient: Tensor,
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    mean: Tensor,
    variance: Tensor,
    eps: float,
    gelu: bool,
) -> tuple[Tensor, Tensor]:
    """The gradient for the images, and those (2, E, C) for bias and weight."""
    x, weight, bias = _in_order(x, weight, bias)
    gradient, apart = _pixels(gradient)
    grid, sizes, form = _plan(x, len(weight))
    parts = x.new_empty((grid[0], 2, *weight.shape), dtype=torch.float32)
    to_x, numbers = _like(x), (apart, weight.stride(0), eps, *sizes)
    kernels.shares_kernel[grid](
        gradient, x, weight, bias, mean, variance, parts, to_x, *numbers, GELU=gelu, **form
    )
    sums = parts.sum(0)
    kernels.backward_kernel[grid](
        gradient, x, weight, mean, variance, sums, to_x, *numbers, GELU=gelu, **form
    )
    return to_x, sums


@_gradients.register_fake
def _(gradient: Tensor, x: Tensor, weight: Tensor, *_: Any) -> tuple[Tensor, Tensor]:
    return _like(x), x.new_empty((2, *weight.shape), dtype=torch.float32)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor]) -> None:
    x, _, *weights, ctx.eps, ctx.gelu = inputs
    ctx.mark_non_differentiable(*output[1:])
    ctx.save_for_backward(x, *weights, *output[1:])


def _backward(ctx: Any, gradient: Tensor, *_: Tensor) -> tuple[Tensor | None, ...]:
    x, weight, bias, mean, variance = ctx.saved_tensors
    to_x, sums = torch.ops.conceptlab.batch_norm_backward(
        gradient, x, weight, bias, mean, variance, ctx.eps, ctx.gelu
    )
    return to_x, None, sums[1].to(weight.dtype), sums[0].to(bias.dtype), None, None


_normalise.register_autograd(_backward, setup_context=_keep)


def _in_order(x: Tensor, weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Images channels last; members' rows of weight and bias may lie apart, but both equally far."""
    if weight.stride(1) != 1 or bias.stride() != weight.stride():
        weight, bias = weight.contiguous(), bias.contiguous()
    return x.contiguous(memory_format=torch.channels_last), weight, bias


def _pixels(images: Tensor) -> tuple[Tensor, int]:
    """Images whose channels lie side by side, and how far their pixels lie apart: those of some channels only, as
    joining leaves them, are read where they are."""
    _, channels, height, width = images.shape
    apart = images.stride(3)
    if images.stride() == (height * width * apart, 1, width * apart, apart):
        return images, apart
    return images.contiguous(memory_format=torch.channels_last), channels


def _plan(x: Tensor, members: int) -> tuple[tuple[int, int], tuple[int, int], dict[str, int]]:
    """Launch grid (parts of a member's pixels, members); pixels of a member and of a part; compile-time form."""
    channels = x.shape[1]
    across = at_least(channels)
    rows = max(1, BLOCK // across)
    pixels = x.shape[0] // members * x.shape[2] * x.shape[3]
    length = ceil(ceil(pixels, ceil(PROGRAMS, members)), rows) * rows
    form = {"CHANNELS": channels, "BP": rows, "BC": across, "num_warps": WARPS}
    return (ceil(pixels, length), members), (pixels, length), form


def _statistics(x: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    return (
        x.new_empty(weight.shape, dtype=torch.float32),
        x.new_empty(weight.shape, dtype=torch.float32),
    )


def _like(x: Tensor) -> Tensor:
    return torch.empty(x.shape, dtype=x.dtype, device=x.device, memory_format=torch.channels_last)
