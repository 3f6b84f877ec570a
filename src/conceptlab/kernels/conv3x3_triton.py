"""The kernels behind `conv3x3`; importing this needs Triton."""
# Triton's language is not Python's: names are typed by the compiler, not by the type checker.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def forward_kernel(
    x, taps, bias, y, pixels, height, width, channels, outputs, stride, along, across_stride,
    TURNED: tl.constexpr, BIAS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
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
    # One loop over taps and channel blocks, so that loads of the next block overlap with this product.
    for i in range(9 * blocks):
        tap = i // blocks
        weight_tap = 8 - tap if TURNED else tap
        channel = (i % blocks) * BK + tl.arange(0, BK)
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
    if BIAS:
        total += tl.load(bias + member * outputs + column, mask=column < outputs, other=0.0)[None, :]
    place = y + row[:, None] * outputs + column[None, :]
    tl.store(place, total.to(y.dtype.element_ty), mask=(row < pixels)[:, None] & (column < outputs)[None, :])


@triton.jit
def weight_kernel(
    x, gradient, partial, pixels, height, width, channels, outputs, length,
    BM: tl.constexpr, BC: tl.constexpr, BO: tl.constexpr,
):  # fmt: skip
    member, part = tl.program_id(2).to(tl.int64), tl.program_id(1)
    members = tl.num_programs(2)
    tap = tl.program_id(0) % 9
    tile = tl.program_id(0) // 9
    across_tiles = tl.cdiv(outputs, BO)
    channel = (tile // across_tiles) * BC + tl.arange(0, BC)
    output = (tile % across_tiles) * BO + tl.arange(0, BO)
    shift_down, shift_across = tap // 3 - 1, tap % 3 - 1
    x += member * pixels * channels
    gradient += member * pixels * outputs
    total = tl.zeros((BC, BO), dtype=tl.float32)
    for begin in range(part * length, (part + 1) * length, BM):
        row = begin + tl.arange(0, BM)
        across, down = row % width, (row // width) % height
        inside = (down + shift_down >= 0) & (down + shift_down < height)
        inside = inside & (across + shift_across >= 0) & (across + shift_across < width) & (row < pixels)
        source = row + shift_down * width + shift_across
        a = tl.load(
            x + source[:, None] * channels + channel[None, :],
            mask=inside[:, None] & (channel < channels)[None, :],
            other=0.0,
        )
        g = tl.load(
            gradient + row[:, None] * outputs + output[None, :],
            mask=(row < pixels)[:, None] & (output < outputs)[None, :],
            other=0.0,
        )
        total = tl.dot(tl.trans(a), g, total)
    partial += ((part.to(tl.int64) * members + member) * 9 + tap) * channels * outputs
    place = partial + channel[:, None] * outputs + output[None, :]
    tl.store(place, total, mask=(channel < channels)[:, None] & (output < outputs)[None, :])
