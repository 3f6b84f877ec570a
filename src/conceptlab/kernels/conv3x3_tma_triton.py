"""The kernels behind `conv3x3` where the GPU has a tensor memory accelerator; importing this needs Triton.

Images are described to the accelerator as (members, images, rows, columns, channels), so that it fetches the pixels
under a tap as one box: beyond an image's border, and beyond a member's last image, it fills in zeros by itself and
leaves out what would be written. No thread computes an address.
"""

from __future__ import annotations

import triton
import triton.language as tl

from conceptlab.kernels.conv3x3_triton import ended, store_sums


@triton.jit
def forward_kernel(
    x, taps, slope, level, plus, parts, y, images, height, width, channels, outputs,
    TURNED: tl.constexpr, SLOPE: tl.constexpr, LEVEL: tl.constexpr, GELU: tl.constexpr, PLUS: tl.constexpr,
    SUMS: tl.constexpr, OUTPUTS_FIRST: tl.constexpr, EVEN: tl.constexpr,
    IMAGES: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """A box of images × rows × columns: for each tap and block of channels one product of matrices, pixels ×
    outputs or, where there are many outputs, outputs × pixels: the same numbers, but the compiler divides the work
    among warps otherwise."""
    member, column = tl.program_id(2), tl.program_id(1) * BN
    image, top, left = _where(tl.program_id(0), height, width, IMAGES, ROWS, WIDTH)
    pixels: tl.constexpr = IMAGES * ROWS * WIDTH
    total = tl.zeros((BN, pixels) if OUTPUTS_FIRST else (pixels, BN), dtype=tl.float32)
    # Taps run fastest, because neighbouring taps read nearly the same pixels.
    for i in range(9 * tl.cdiv(channels, BK)):
        tap, channel = i % 9, (i // 9) * BK
        a = x.load([member, image, top + tap // 3 - 1, left + tap % 3 - 1, channel]).reshape(pixels, BK)
        if TURNED:
            b = tl.trans(taps.load([member, 8 - tap, column, channel]).reshape(BN, BK))
        else:
            b = taps.load([member, tap, channel, column]).reshape(BK, BN)
        total = tl.dot(tl.trans(b), tl.trans(a), total) if OUTPUTS_FIRST else tl.dot(a, b, total)
    found = tl.trans(total) if OUTPUTS_FIRST else total
    output = column + tl.arange(0, BN)
    found = ended(found, slope, level, member, output, outputs, SLOPE, LEVEL, GELU)
    if SUMS:
        own = found
        if not EVEN:  # what stands out over the images is no pixel
            pixel = tl.arange(0, pixels)
            inside = (image + pixel // (ROWS * WIDTH) < images) & (top + pixel // WIDTH % ROWS < height)
            own = tl.where((inside & (left + pixel % WIDTH < width))[:, None], found, 0.0)
        store_sums(parts, own, member, output, outputs)
    if PLUS:
        found += plus.load([member, image, top, left, column]).reshape(pixels, BN).to(tl.float32)
    y.store([member, image, top, left, column], found.to(y.dtype).reshape(1, IMAGES, ROWS, WIDTH, BN))


@triton.jit
def weight_kernel(
    x, gradient, partial, height, width, channels, outputs, length,
    IMAGES: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr, BC: tl.constexpr, BO: tl.constexpr,
):  # fmt: skip
    """One row of taps for a part of the boxes: the three share every gradient that is read."""
    member, part = tl.program_id(2), tl.program_id(1)
    tap_row, tile = tl.program_id(0) % 3, tl.program_id(0) // 3
    across_tiles = tl.cdiv(outputs, BO)
    channel, output = (tile // across_tiles) * BC, (tile % across_tiles) * BO
    pixels: tl.constexpr = IMAGES * ROWS * WIDTH
    left = tl.zeros((BC, BO), dtype=tl.float32)
    middle = tl.zeros((BC, BO), dtype=tl.float32)
    right = tl.zeros((BC, BO), dtype=tl.float32)
    for box in range(part * length, (part + 1) * length):
        image, row, column = _where(box, height, width, IMAGES, ROWS, WIDTH)
        g = gradient.load([member, image, row, column, output]).reshape(pixels, BO)
        under = row + tap_row - 1
        a = x.load([member, image, under, column - 1, channel]).reshape(pixels, BC)
        left = tl.dot(tl.trans(a), g, left)
        a = x.load([member, image, under, column, channel]).reshape(pixels, BC)
        middle = tl.dot(tl.trans(a), g, middle)
        a = x.load([member, image, under, column + 1, channel]).reshape(pixels, BC)
        right = tl.dot(tl.trans(a), g, right)
    rows, columns = channel + tl.arange(0, BC), output + tl.arange(0, BO)
    first = (part.to(tl.int64) * tl.num_programs(2) + member) * 9 + tap_row * 3
    place = partial + first * channels * outputs + rows[:, None] * outputs + columns[None, :]
    mask = (rows < channels)[:, None] & (columns < outputs)[None, :]
    tl.store(place, left, mask=mask)
    tl.store(place + channels * outputs, middle, mask=mask)
    tl.store(place + 2 * channels * outputs, right, mask=mask)


@triton.jit
def _where(box, height, width, IMAGES: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """The first image, row and column of a box: boxes run across an image, then down, then on to the next images."""
    across, down = tl.cdiv(width, WIDTH), tl.cdiv(height, ROWS)
    return box // (across * down) * IMAGES, (box // across) % down * ROWS, box % across * WIDTH
