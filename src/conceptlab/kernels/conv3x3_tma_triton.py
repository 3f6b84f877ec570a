"""The kernels behind `conv3x3` where the GPU has a tensor memory accelerator; importing this needs Triton.

Images are described to the accelerator as (members, images, rows, columns, channels), so that it fetches the pixels
under a tap as one box: beyond an image's border, and beyond a member's last image, it fills in zeros by itself and
leaves out what would be written. No thread computes an address.
"""
# Triton's language is not Python's: names are typed by the compiler, not by the type checker.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def forward_kernel(
    x, taps, bias, y, height, channels, outputs,
    TURNED: tl.constexpr, BIAS: tl.constexpr, OUTPUTS_FIRST: tl.constexpr,
    IMAGES: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """A box of images × rows × whole width: for each tap and block of channels one product of matrices, pixels ×
    outputs or, where there are many outputs, outputs × pixels: the same numbers, but the compiler divides the work
    among warps otherwise."""
    member, column = tl.program_id(2), tl.program_id(1) * BN
    pieces = tl.cdiv(height, ROWS)
    image, top = (tl.program_id(0) // pieces) * IMAGES, (tl.program_id(0) % pieces) * ROWS
    pixels: tl.constexpr = IMAGES * ROWS * WIDTH
    total = tl.zeros((BN, pixels) if OUTPUTS_FIRST else (pixels, BN), dtype=tl.float32)
    # Taps run fastest, because neighbouring taps read nearly the same pixels.
    for i in range(9 * tl.cdiv(channels, BK)):
        tap, channel = i % 9, (i // 9) * BK
        a = x.load([member, image, top + tap // 3 - 1, tap % 3 - 1, channel]).reshape(pixels, BK)
        if TURNED:
            b = tl.trans(taps.load([member, 8 - tap, column, channel]).reshape(BN, BK))
        else:
            b = taps.load([member, tap, channel, column]).reshape(BK, BN)
        total = tl.dot(tl.trans(b), tl.trans(a), total) if OUTPUTS_FIRST else tl.dot(a, b, total)
    found = tl.trans(total) if OUTPUTS_FIRST else total
    if BIAS:
        output = column + tl.arange(0, BN)
        found += tl.load(bias + member * outputs + output, mask=output < outputs, other=0.0)[None, :]
    y.store([member, image, top, 0, column], found.to(y.dtype).reshape(1, IMAGES, ROWS, WIDTH, BN))


@triton.jit
def weight_kernel(
    x, gradient, partial, height, channels, outputs, length,
    WIDTH: tl.constexpr, BC: tl.constexpr, BO: tl.constexpr,
):  # fmt: skip
    """One row of taps for a part of the images' rows: the three share every gradient that is read."""
    member, part = tl.program_id(2), tl.program_id(1)
    tap_row, tile = tl.program_id(0) % 3, tl.program_id(0) // 3
    across_tiles = tl.cdiv(outputs, BO)
    channel, output = (tile // across_tiles) * BC, (tile % across_tiles) * BO
    left = tl.zeros((BC, BO), dtype=tl.float32)
    middle = tl.zeros((BC, BO), dtype=tl.float32)
    right = tl.zeros((BC, BO), dtype=tl.float32)
    for box in range(part * length, (part + 1) * length):
        image, row = box // height, box % height
        g = gradient.load([member, image, row, 0, output]).reshape(WIDTH, BO)
        under = row + tap_row - 1
        a = x.load([member, image, under, -1, channel]).reshape(WIDTH, BC)
        left = tl.dot(tl.trans(a), g, left)
        a = x.load([member, image, under, 0, channel]).reshape(WIDTH, BC)
        middle = tl.dot(tl.trans(a), g, middle)
        a = x.load([member, image, under, 1, channel]).reshape(WIDTH, BC)
        right = tl.dot(tl.trans(a), g, right)
    rows, columns = channel + tl.arange(0, BC), output + tl.arange(0, BO)
    first = (part.to(tl.int64) * tl.num_programs(2) + member) * 9 + tap_row * 3
    place = partial + first * channels * outputs + rows[:, None] * outputs + columns[None, :]
    mask = (rows < channels)[:, None] & (columns < outputs)[None, :]
    tl.store(place, left, mask=mask)
    tl.store(place + channels * outputs, middle, mask=mask)
    tl.store(place + 2 * channels * outputs, right, mask=mask)
