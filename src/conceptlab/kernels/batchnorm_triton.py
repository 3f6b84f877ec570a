"""The kernels behind `batchnorm`; importing this needs Triton.

A program has a part of one member's pixels, channels last, and all its channels. Statistics of a whole batch need all
programs, so that each way has two kernels: one that sums, one that writes. On the way back the first leaves the
gradient before GELU where the second writes its own: the slope takes longer to compute again than to store.
"""

from __future__ import annotations

import triton
import triton.language as tl

from conceptlab.kernels.gelu_triton import gelu


@triton.jit
def sums_kernel(
    x, parts, pixels, length, CHANNELS: tl.constexpr, BP: tl.constexpr, BC: tl.constexpr
):  # fmt: skip
    """A part's sums (2, E, C) of values and of their squares, around the first value of each channel."""
    member, channel, own = _whose(CHANNELS, BC)
    x += member * pixels * CHANNELS
    # Around a value of the channel itself: a mean far from zero costs no precision.
    pivot = tl.load(x + channel, mask=own, other=0.0).to(tl.float32)
    sums = tl.zeros((BP, BC), dtype=tl.float32)
    squares = tl.zeros((BP, BC), dtype=tl.float32)
    begin = tl.program_id(0) * length
    for row in range(begin, begin + length, BP):
        place, mask = _places(row, channel, own, pixels, CHANNELS, BP)
        values = tl.load(x + place, mask=mask, other=0.0).to(tl.float32)
        values = tl.where(mask, values - pivot[None, :], 0.0)
        sums += values
        squares += values * values
    _store(parts, tl.sum(sums, axis=0), tl.sum(squares, axis=0), channel, own, CHANNELS)


@triton.jit
def forward_kernel(
    x, sums, weight, bias, y, means, variances, stride, eps, pixels, length,
    GELU: tl.constexpr, PIVOT: tl.constexpr, CHANNELS: tl.constexpr, BP: tl.constexpr, BC: tl.constexpr,
):  # fmt: skip
    """Normalised images; the first part of a member writes its mean and variance as well."""
    member, channel, own = _whose(CHANNELS, BC)
    x += member * pixels * CHANNELS
    y += member * pixels * CHANNELS
    total, square = _load(sums, member, channel, own, CHANNELS)
    shift = total / pixels
    mean = shift
    if PIVOT:  # sums are those of `sums_kernel`
        mean += tl.load(x + channel, mask=own, other=0.0).to(tl.float32)
    variance = tl.maximum(square / pixels - shift * shift, 0.0)
    if tl.program_id(0) == 0:
        tl.store(means + member * CHANNELS + channel, mean, mask=own)
        tl.store(variances + member * CHANNELS + channel, variance, mask=own)
    w = tl.load(weight + member * stride + channel, mask=own, other=0.0).to(tl.float32)
    b = tl.load(bias + member * stride + channel, mask=own, other=0.0).to(tl.float32)
    slope = w / tl.sqrt(variance + eps)
    level = b - mean * slope
    begin = tl.program_id(0) * length
    for row in range(begin, begin + length, BP):
        place, mask = _places(row, channel, own, pixels, CHANNELS, BP)
        result = tl.load(x + place, mask=mask, other=0.0).to(tl.float32) * slope[None, :] + level[None, :]
        if GELU:
            result = gelu(result, False)
        tl.store(y + place, result.to(y.dtype.element_ty), mask=mask)


@triton.jit
def shares_kernel(
    gradient, x, weight, bias, means, variances, parts, to_x, apart, stride, eps, pixels, length,
    GELU: tl.constexpr, CHANNELS: tl.constexpr, BP: tl.constexpr, BC: tl.constexpr,
):  # fmt: skip
    """A part's share (2, E, C) in the gradients for bias and weight. Pixels of `gradient` lie `apart`."""
    member, channel, own = _whose(CHANNELS, BC)
    x += member * pixels * CHANNELS
    gradient += member * pixels * apart
    to_x += member * pixels * CHANNELS
    mean, scale, slope = _statistics(weight, means, variances, member, channel, own, stride, eps, CHANNELS)
    b = tl.load(bias + member * stride + channel, mask=own, other=0.0).to(tl.float32)
    sums = tl.zeros((BP, BC), dtype=tl.float32)
    products = tl.zeros((BP, BC), dtype=tl.float32)
    begin = tl.program_id(0) * length
    for row in range(begin, begin + length, BP):
        place, mask = _places(row, channel, own, pixels, CHANNELS, BP)
        centred = tl.load(x + place, mask=mask, other=0.0).to(tl.float32) - mean[None, :]
        g = _gradients(gradient, row, channel, apart, mask, BP)
        if GELU:
            g = g * gelu(centred * slope[None, :] + b[None, :], True)
            tl.store(to_x + place, g.to(to_x.dtype.element_ty), mask=mask)
        sums += g
        products += g * centred
    _store(parts, tl.sum(sums, axis=0), tl.sum(products, axis=0) * scale, channel, own, CHANNELS)


@triton.jit
def backward_kernel(
    gradient, x, weight, means, variances, sums, to_x, apart, stride, eps, pixels, length,
    GELU: tl.constexpr, CHANNELS: tl.constexpr, BP: tl.constexpr, BC: tl.constexpr,
):  # fmt: skip
    """The gradient for the images (Ioffe and Szegedy 2015, §3); that before GELU lies in `to_x`."""
    member, channel, own = _whose(CHANNELS, BC)
    x += member * pixels * CHANNELS
    gradient += member * pixels * apart
    to_x += member * pixels * CHANNELS
    mean, scale, slope = _statistics(weight, means, variances, member, channel, own, stride, eps, CHANNELS)
    to_bias, to_weight = _load(sums, member, channel, own, CHANNELS)
    level, tilt = -slope * to_bias / pixels, -slope * scale * to_weight / pixels
    begin = tl.program_id(0) * length
    for row in range(begin, begin + length, BP):
        place, mask = _places(row, channel, own, pixels, CHANNELS, BP)
        centred = tl.load(x + place, mask=mask, other=0.0).to(tl.float32) - mean[None, :]
        if GELU:
            g = tl.load(to_x + place, mask=mask, other=0.0).to(tl.float32)
        else:
            g = _gradients(gradient, row, channel, apart, mask, BP)
        result = g * slope[None, :] + (centred * tilt[None, :] + level[None, :])
        tl.store(to_x + place, result.to(to_x.dtype.element_ty), mask=mask)


@triton.jit
def _whose(CHANNELS: tl.constexpr, BC: tl.constexpr):
    """The member of a program, the channel of each column of a block, and whether there is one."""
    member, channel = tl.program_id(1).to(tl.int64), tl.arange(0, BC)
    # Where channels fit without rest, say so: the compiler does not find out by itself.
    if CHANNELS == BC:
        return member, channel, tl.full((BC,), True, tl.int1)
    else:
        return member, channel, channel < CHANNELS


@triton.jit
def _places(row, channel, own, pixels, CHANNELS: tl.constexpr, BP: tl.constexpr):
    """Places of a block of pixels within those of their member, and which of them exist."""
    pixel = row + tl.arange(0, BP)
    return pixel[:, None] * CHANNELS + channel[None, :], (pixel < pixels)[:, None] & own[None, :]


@triton.jit
def _gradients(gradient, row, channel, apart, mask, BP: tl.constexpr):
    place = (row + tl.arange(0, BP))[:, None] * apart + channel[None, :]
    return tl.load(gradient + place, mask=mask, other=0.0).to(tl.float32)


@triton.jit
def _statistics(weight, means, variances, member, channel, own, stride, eps, CHANNELS: tl.constexpr):
    """The mean, one over the standard deviation, and what a centred value is multiplied by."""
    mean = tl.load(means + member * CHANNELS + channel, mask=own, other=0.0)
    scale = 1.0 / tl.sqrt(tl.load(variances + member * CHANNELS + channel, mask=own, other=1.0) + eps)
    w = tl.load(weight + member * stride + channel, mask=own, other=0.0).to(tl.float32)
    return mean, scale, scale * w


@triton.jit
def _load(sums, member, channel, own, CHANNELS: tl.constexpr):
    """Two sums (2, E, C) of a member."""
    place = sums + member * CHANNELS + channel
    first = tl.load(place, mask=own, other=0.0)
    return first, tl.load(place + tl.num_programs(1) * CHANNELS, mask=own, other=0.0)


@triton.jit
def _store(parts, first, second, channel, own, CHANNELS: tl.constexpr):
    """Two sums of a part, at their place in (parts, 2, E, C)."""
    members = tl.num_programs(1)
    place = parts + (tl.program_id(0) * 2 * members + tl.program_id(1)) * CHANNELS + channel
    tl.store(place, first, mask=own)
    tl.store(place + members * CHANNELS, second, mask=own)
