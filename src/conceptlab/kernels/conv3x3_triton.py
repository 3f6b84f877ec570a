"""The kernels behind `conv3x3`; importing this needs Triton."""

from __future__ import annotations

import triton
import triton.language as tl

from conceptlab.kernels.gelu_triton import gelu


@triton.jit
def forward_kernel(
    x, taps, slope, level, plus, parts, y, pixels, height, width, channels, outputs, stride, along, across_stride,
    TURNED: tl.constexpr, SLOPE: tl.constexpr, LEVEL: tl.constexpr, GELU: tl.constexpr, PLUS: tl.constexpr,
    SUMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    member = tl.program_id(2).to(tl.int64)
    x += member * pixels * channels
    y += member * pixels * outputs
    taps += member * stride
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    column = tl.program_id(1) * BN + tl.arange(0, BN)
    across, down = row % width, (row // width) % height
    blocks = tl.cdiv(channels, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    # One loop over channel blocks and taps, so that loads of the next block overlap with this product; taps run
    # fastest, because neighbouring taps read nearly the same pixels.
    for i in range(9 * blocks):
        tap = i % 9
        weight_tap = 8 - tap if TURNED else tap
        channel = (i // 9) * BK + tl.arange(0, BK)
        shift_down, shift_across = tap // 3 - 1, tap % 3 - 1
        inside = (down + shift_down >= 0) & (down + shift_down < height)
        inside = inside & (across + shift_across >= 0) & (across + shift_across < width) & (row < pixels)
        source = row + shift_down * width + shift_across
        a = tl.load(
            x + source[:, None] * channels + channel[None, :],
            mask=inside[:, None] & (channel < channels)[None, :],
            other=0.0,
        )
        b = tl.load(
            taps
            + weight_tap * channels * outputs
            + channel[:, None] * along
            + column[None, :] * across_stride,
            mask=(channel < channels)[:, None] & (column < outputs)[None, :],
            other=0.0,
        )
        total = tl.dot(a, b, total)
    _finish(
        total, slope, level, plus, parts, y, row, column, member, pixels, outputs, SLOPE, LEVEL, GELU, PLUS, SUMS
    )  # fmt: skip


@triton.jit
def thin_kernel(
    x, taps, slope, level, plus, parts, y, pixels, height, width, channels, outputs, stride, along, across_stride,
    TURNED: tl.constexpr, SLOPE: tl.constexpr, LEVEL: tl.constexpr, GELU: tl.constexpr, PLUS: tl.constexpr,
    SUMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """Few channels: all taps in one product of (pixels × 9 channels)."""
    member = tl.program_id(2).to(tl.int64)
    x += member * pixels * channels
    y += member * pixels * outputs
    taps += member * stride
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    column = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    tap, channel = inner // channels, inner % channels
    shift_down, shift_across = tap // 3 - 1, tap % 3 - 1
    down = ((row // width) % height)[:, None] + shift_down[None, :]
    across = (row % width)[:, None] + shift_across[None, :]
    inside = (down >= 0) & (down < height) & (across >= 0) & (across < width)
    source = row[:, None] * channels + ((shift_down * width + shift_across) * channels + channel)[None, :]
    a = tl.load(x + source, mask=inside & (row < pixels)[:, None] & (tap < 9)[None, :], other=0.0)
    weight_tap = 8 - tap if TURNED else tap
    place = (
        taps + (weight_tap * channels * outputs + channel * along)[:, None] + column[None, :] * across_stride
    )
    b = tl.load(place, mask=(tap < 9)[:, None] & (column < outputs)[None, :], other=0.0)
    total = tl.dot(a, b)
    _finish(
        total, slope, level, plus, parts, y, row, column, member, pixels, outputs, SLOPE, LEVEL, GELU, PLUS, SUMS
    )  # fmt: skip


@triton.jit
def _finish(
    total, slope, level, plus, parts, y, row, column, member, pixels, outputs,
    SLOPE: tl.constexpr, LEVEL: tl.constexpr, GELU: tl.constexpr, PLUS: tl.constexpr, SUMS: tl.constexpr,
):  # fmt: skip
    """What follows a convolution's sums, those of a block's outputs if asked for, and the way to memory."""
    total = ended(total, slope, level, member, column, outputs, SLOPE, LEVEL, GELU)
    if SUMS:
        store_sums(parts, tl.where((row < pixels)[:, None], total, 0.0), member, column, outputs)
    place = row[:, None] * outputs + column[None, :]
    mask = (row < pixels)[:, None] & (column < outputs)[None, :]
    if PLUS:
        total += tl.load(plus + member * pixels * outputs + place, mask=mask, other=0.0).to(tl.float32)
    tl.store(y + place, total.to(y.dtype.element_ty), mask=mask)


@triton.jit
def weight_kernel(
    x, gradient, partial, pixels, height, width, channels, outputs, length,
    BM: tl.constexpr, BC: tl.constexpr, BO: tl.constexpr,
):  # fmt: skip
    """One row of taps for a part of the pixels: the three share every gradient that is read."""
    member, part = tl.program_id(2).to(tl.int64), tl.program_id(1)
    tap_row, tile = tl.program_id(0) % 3, tl.program_id(0) // 3
    across_tiles = tl.cdiv(outputs, BO)
    channel = (tile // across_tiles) * BC + tl.arange(0, BC)
    output = (tile % across_tiles) * BO + tl.arange(0, BO)
    inputs, columns = (channel < channels)[None, :], (output < outputs)[None, :]
    x += member * pixels * channels
    gradient += member * pixels * outputs
    left = tl.zeros((BC, BO), dtype=tl.float32)
    middle = tl.zeros((BC, BO), dtype=tl.float32)
    right = tl.zeros((BC, BO), dtype=tl.float32)
    for begin in range(part * length, (part + 1) * length, BM):
        row = begin + tl.arange(0, BM)
        across, down = row % width, (row // width) % height + tap_row - 1
        exists = row < pixels
        inside = (down >= 0) & (down < height) & exists
        place = gradient + row[:, None] * outputs + output[None, :]
        g = tl.load(place, mask=exists[:, None] & columns, other=0.0)
        source = x + (row + (tap_row - 1) * width)[:, None] * channels + channel[None, :]
        a = tl.load(source - channels, mask=(inside & (across > 0))[:, None] & inputs, other=0.0)
        left = tl.dot(tl.trans(a), g, left)
        a = tl.load(source, mask=inside[:, None] & inputs, other=0.0)
        middle = tl.dot(tl.trans(a), g, middle)
        a = tl.load(source + channels, mask=(inside & (across < width - 1))[:, None] & inputs, other=0.0)
        right = tl.dot(tl.trans(a), g, right)
    first = (part.to(tl.int64) * tl.num_programs(2) + member) * 9 + tap_row * 3
    place = partial + first * channels * outputs + channel[:, None] * outputs + output[None, :]
    mask = (channel < channels)[:, None] & columns
    tl.store(place, left, mask=mask)
    tl.store(place + channels * outputs, middle, mask=mask)
    tl.store(place + 2 * channels * outputs, right, mask=mask)


@triton.jit
def ended(
    total, slope, level, member, output, outputs,
    SLOPE: tl.constexpr, LEVEL: tl.constexpr, GELU: tl.constexpr,
):  # fmt: skip
    """What follows a convolution's sums (pixels × outputs): a factor and a level of each output, and GELU."""
    if SLOPE:
        total *= tl.load(slope + member * outputs + output, mask=output < outputs, other=0.0)[None, :]
    if LEVEL:
        total += tl.load(level + member * outputs + output, mask=output < outputs, other=0.0)[None, :]
    if GELU:
        total = gelu(total, False)
    return total


@triton.jit
def store_sums(parts, total, member, output, outputs):
    """Sums over a block's pixels of each output and of its square, at their place in (blocks, 2, E, O)."""
    place = parts + ((tl.program_id(0) * 2).to(tl.int64) * tl.num_programs(2) + member) * outputs + output
    tl.store(place, tl.sum(total, axis=0), mask=output < outputs)
    tl.store(place + tl.num_programs(2) * outputs, tl.sum(total * total, axis=0), mask=output < outputs)
