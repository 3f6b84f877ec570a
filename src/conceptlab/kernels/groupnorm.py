"""Group normalisation of many members' images and what stands around it, channels last (Triton).

Torch's own turns channels-last images back on CUDA, so that every convolution has to turn them again, and reads them
several times. Here an image is read once from memory and written once, with a shift of each channel before, and GELU
and dropout after, done on the way.

Used for bfloat16 on CUDA; everything else takes the plain path (`StackedGroupNorm`), and a test checks that both agree.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from conceptlab.kernels.blocks import at_least

kernels: Any
try:
    from conceptlab.kernels import groupnorm_triton as kernels
except ImportError:  # a CPU build of torch comes without Triton
    kernels = None

# Switched off by benchmarks and tests that compare with the plain path.
ENABLED = True

# More channels than a block of one pixel may have take the plain path.
WIDEST = 4096


class Dropout(NamedTuple):
    """Keys (E, 2) of a step and layer, and how many of 2³² words are dropped (see `KeyedDropout`)."""

    keys: Tensor
    dropped: int


def available(x: Tensor, groups: int) -> bool:
    width = at_least(groups) * at_least(x.shape[1] // groups)
    fits = x.is_cuda and x.dtype == torch.bfloat16 and width <= WIDEST
    return ENABLED and kernels is not None and fits


def apply(
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    groups: int,
    eps: float,
    shift: Tensor | None = None,
    gelu: bool = False,
    dropout: Dropout | None = None,
) -> Tensor:
    """x (E·B, C, H, W), weight and bias (E, C), shift (E·B, C) → (E·B, C, H, W)."""
    keys, dropped = dropout or (None, 0)
    return torch.ops.conceptlab.group_norm(x, shift, weight, bias, keys, groups, eps, gelu, dropped)[0]


@torch.library.custom_op("conceptlab::group_norm", mutates_args=())
def _normalise(
    x: Tensor,
    shift: Tensor | None,
    weight: Tensor,
    bias: Tensor,
    keys: Tensor | None,
    groups: int,
    eps: float,
    gelu: bool,
    dropped: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """The normalised images, and each group's mean and scale for the way back."""
    x, shift, weight, bias = _in_order(x, shift, weight, bias)
    y, means, scales = _outputs(x, groups)
    grid, numbers, form = _plan(x, groups, weight, shift, gelu, keys, forth=True)
    kernels.forward_kernel[grid](
        x, shift, weight, bias, keys, y, means, scales, *numbers, eps, dropped, _grown(dropped), **form
    )
    return y, means, scales


@_normalise.register_fake
def _(x: Tensor, shift: Any, weight: Any, bias: Any, keys: Any, groups: int, *_: Any) -> tuple[Tensor, ...]:
    return _outputs(x, groups)


@torch.library.custom_op("conceptlab::group_norm_backward", mutates_args=())
def _gradients(
    gradient: Tensor,
    x: Tensor,
    shift: Tensor | None,
    weight: Tensor,
    bias: Tensor,
    keys: Tensor | None,
    means: Tensor,
    scales: Tensor,
    groups: int,
    gelu: bool,
    dropped: int,
) -> tuple[Tensor, Tensor]:
    """The gradient for the images, and each image's share (3, E·B, C) in those for weight, bias and shift."""
    x, shift, weight, bias = _in_order(x, shift, weight, bias)
    gradient = gradient.contiguous(memory_format=torch.channels_last)
    to_x, shares = _like(x), _shares(x)
    grid, numbers, form = _plan(x, groups, weight, shift, gelu, keys, forth=False)
    kernels.backward_kernel[grid](
        gradient, x, shift, weight, bias, keys, means, scales, to_x, *shares,
        *numbers, dropped, _grown(dropped), **form,
    )  # fmt: skip
    return to_x, shares


@_gradients.register_fake
def _(gradient: Tensor, x: Tensor, *_: Any) -> tuple[Tensor, Tensor]:
    return _like(x), _shares(x)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor]) -> None:
    *tensors, ctx.groups, _, ctx.gelu, ctx.dropped = inputs
    ctx.save_for_backward(*tensors, *output[1:])


def _backward(ctx: Any, gradient: Tensor, *_: Tensor) -> tuple[Tensor | None, ...]:
    x, shift, weight, bias, keys, means, scales = ctx.saved_tensors
    to_x, shares = torch.ops.conceptlab.group_norm_backward(
        gradient, x, shift, weight, bias, keys, means, scales, ctx.groups, ctx.gelu, ctx.dropped
    )
    sums = shares[:2].unflatten(1, (len(weight), -1)).sum(2).to(weight.dtype)
    to_shift = None if shift is None else shares[2].to(shift.dtype)
    return to_x, to_shift, sums[0], sums[1], None, None, None, None, None


_normalise.register_autograd(_backward, setup_context=_keep)


def _in_order(
    x: Tensor, shift: Tensor | None, weight: Tensor, bias: Tensor
) -> tuple[Tensor, Tensor | None, Tensor, Tensor]:
    """Images channels last; members' rows of weight and bias may lie apart, but both equally far."""
    if weight.stride(1) != 1 or bias.stride() != weight.stride():
        weight, bias = weight.contiguous(), bias.contiguous()
    shift = None if shift is None else shift.contiguous()
    return x.contiguous(memory_format=torch.channels_last), shift, weight, bias


def _plan(
    x: Tensor, groups: int, weight: Tensor, shift: Tensor | None, gelu: bool, keys: Tensor | None, forth: bool
) -> tuple[tuple[int], tuple[int, int], dict[str, Any]]:
    """Launch grid, sizes and compile-time form: one program for an image, with warps by the image's size."""
    images, channels, height, width = x.shape
    across = at_least(groups) * at_least(channels // groups)
    elements = at_least(height * width) * across
    # Measured on an H200. Threads that work on many elements at a time leave fewer images under way at once, so that
    # more of them are still in the cache at the second walk.
    warps = 8 if elements >= 32 * 1024 else max(1, elements // 8192)
    each = 32 if elements >= 64 * 1024 else 16
    numbers = (images // len(weight), weight.stride(0))
    form = {
        "PIXELS": height * width,
        "SIZE": channels // groups,
        "GROUPS": groups,
        "SHIFT": shift is not None,
        "GELU": gelu,
        "DROPOUT": keys is not None,
        "BP": max(1, warps * 32 * each // across),
        "BG": at_least(groups),
        "BS": at_least(channels // groups),
        "HINT": elements >= 32 * 1024 or forth,
        "num_warps": warps,
    }
    return (images,), numbers, form


def _grown(dropped: int) -> float:
    return 2**32 / (2**32 - dropped)


def _outputs(x: Tensor, groups: int) -> tuple[Tensor, Tensor, Tensor]:
    statistics = [x.new_empty(x.shape[0] * groups, dtype=torch.float32) for _ in range(2)]
    return _like(x), statistics[0], statistics[1]


def _shares(x: Tensor) -> Tensor:
    return x.new_empty((3, *x.shape[:2]), dtype=torch.float32)


def _like(x: Tensor) -> Tensor:
    return torch.empty(x.shape, dtype=x.dtype, device=x.device, memory_format=torch.channels_last)
