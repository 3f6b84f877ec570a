"""The kernels behind `groupnorm`; importing this needs Triton.

A program walks twice over one image, channels last: once to sum, once to write. The second walk finds the image in the
cache. Per pixel and channel there is little more than one product and sum; everything else is done per channel.
"""

from __future__ import annotations

import triton
import triton.language as tl

from conceptlab.kernels.gelu_triton import gelu


@triton.jit
def forward_kernel(
    x, shift, weight, bias, keys, y, means, scales, images, stride, eps, dropped, grown,
    PIXELS: tl.constexpr, SIZE: tl.constexpr, GROUPS: tl.constexpr,
    SHIFT: tl.constexpr, GELU: tl.constexpr, DROPOUT: tl.constexpr,
    BP: tl.constexpr, BG: tl.constexpr, BS: tl.constexpr, HINT: tl.constexpr,
):  # fmt: skip
    """Normalised images, and each group's mean and scale for the way back."""
    # What is read again is asked to stay in the cache; what is read or written for the last time, to leave it.
    again: tl.constexpr = "evict_last" if HINT else ""
    last: tl.constexpr = "evict_first" if HINT else ""
    away: tl.constexpr = ".cs" if HINT else ""
    image = tl.program_id(0)
    first = image.to(tl.int64) * (PIXELS * SIZE * GROUPS)
    channel, own = _channels(SIZE, GROUPS, BG, BS)
    # Sums around a value of the channel itself: a mean far from zero costs no precision.
    pivot = tl.load(x + first + channel, mask=own, other=0.0).to(tl.float32)
    sums = tl.zeros((BP, BG * BS), dtype=tl.float32)
    squares = tl.zeros((BP, BG * BS), dtype=tl.float32)
    for begin in range(0, PIXELS, BP):
        place, mask = _places(begin, channel, own, PIXELS, SIZE * GROUPS, BP, BG * BS)
        values = _read(x + first + place, mask, again)
        values = tl.where(mask, values - pivot[None, :], 0.0)
        sums += values
        squares += values * values
    average = tl.sum(sums, axis=0) / PIXELS
    spread = tl.sum(squares, axis=0) - average * average * PIXELS
    average = tl.where(own, average + pivot, 0.0)
    added = _per_image(shift, image, channel, own, SIZE * GROUPS, SHIFT)
    average += added
    mean = _over_group(average, BG, BS) / SIZE
    apart = tl.where(own, average - mean, 0.0)
    scale = 1.0 / tl.sqrt(_over_group(spread + apart * apart * PIXELS, BG, BS) / (PIXELS * SIZE) + eps)
    w = tl.load(weight + (image // images) * stride + channel, mask=own, other=0.0).to(tl.float32)
    b = tl.load(bias + (image // images) * stride + channel, mask=own, other=0.0).to(tl.float32)
    slope = scale * w
    level = (added - mean) * slope + b
    for begin in range(0, PIXELS, BP):
        place, mask = _places(begin, channel, own, PIXELS, SIZE * GROUPS, BP, BG * BS)
        result = _read(x + first + place, mask, last) * slope[None, :] + level[None, :]
        if GELU:
            result = gelu(result, False)
        if DROPOUT:
            result = result * _kept(keys, image, images, place, PIXELS * SIZE * GROUPS, dropped, grown)
        tl.store(y + first + place, result.to(y.dtype.element_ty), mask=mask, cache_modifier=away)
    # Every channel of a group writes the group's own value: no need to pick one.
    group = image * GROUPS + tl.arange(0, BG * BS) // BS
    tl.store(means + group, mean, mask=own)
    tl.store(scales + group, scale, mask=own)


@triton.jit
def backward_kernel(
    gradient, x, shift, weight, bias, keys, means, scales, to_x, to_weight, to_bias, to_shift,
    images, stride, dropped, grown,
    PIXELS: tl.constexpr, SIZE: tl.constexpr, GROUPS: tl.constexpr,
    SHIFT: tl.constexpr, GELU: tl.constexpr, DROPOUT: tl.constexpr,
    BP: tl.constexpr, BG: tl.constexpr, BS: tl.constexpr, HINT: tl.constexpr,
):  # fmt: skip
    """The gradient for one image, and the image's share in those for weight, bias and shift."""
    # What is read again is asked to stay in the cache; what is read or written for the last time, to leave it.
    again: tl.constexpr = "evict_last" if HINT else ""
    last: tl.constexpr = "evict_first" if HINT else ""
    away: tl.constexpr = ".cs" if HINT else ""
    image = tl.program_id(0)
    first = image.to(tl.int64) * (PIXELS * SIZE * GROUPS)
    channel, own = _channels(SIZE, GROUPS, BG, BS)
    group = image * GROUPS + tl.arange(0, BG * BS) // BS
    scale = tl.load(scales + group, mask=own, other=0.0)
    centre = tl.load(means + group, mask=own, other=0.0)
    centre -= _per_image(shift, image, channel, own, SIZE * GROUPS, SHIFT)
    w = tl.load(weight + (image // images) * stride + channel, mask=own, other=0.0).to(tl.float32)
    b = tl.load(bias + (image // images) * stride + channel, mask=own, other=0.0).to(tl.float32)
    slope = scale * w
    sums = tl.zeros((BP, BG * BS), dtype=tl.float32)
    products = tl.zeros((BP, BG * BS), dtype=tl.float32)
    for begin in range(0, PIXELS, BP):
        place, mask = _places(begin, channel, own, PIXELS, SIZE * GROUPS, BP, BG * BS)
        centred = _read(x + first + place, mask, again) - centre[None, :]
        g = _read(gradient + first + place, mask, "")
        if DROPOUT:
            g = g * _kept(keys, image, images, place, PIXELS * SIZE * GROUPS, dropped, grown)
        if GELU:
            g = g * gelu(centred * slope[None, :] + b[None, :], True)
        if GELU or DROPOUT:
            # Kept for the second walk, where it is replaced.
            tl.store(to_x + first + place, g.to(to_x.dtype.element_ty), mask=mask)
        sums += g
        products += g * centred
    by_channel = tl.sum(sums, axis=0)
    by_channel_normal = tl.sum(products, axis=0) * scale
    share = image * (SIZE * GROUPS) + channel
    tl.store(to_weight + share, by_channel_normal, mask=own)
    tl.store(to_bias + share, by_channel, mask=own)
    level = _over_group(by_channel * w, BG, BS) / (PIXELS * SIZE) * scale
    tilt = _over_group(by_channel_normal * w, BG, BS) / (PIXELS * SIZE) * scale * scale
    moved = tl.zeros((BP, BG * BS), dtype=tl.float32)
    for begin in range(0, PIXELS, BP):
        place, mask = _places(begin, channel, own, PIXELS, SIZE * GROUPS, BP, BG * BS)
        centred = _read(x + first + place, mask, last) - centre[None, :]
        g = _read((to_x if GELU or DROPOUT else gradient) + first + place, mask, "")
        result = g * slope[None, :] - centred * tilt[None, :] - level[None, :]
        tl.store(to_x + first + place, result.to(to_x.dtype.element_ty), mask=mask, cache_modifier=away)
        if SHIFT:
            moved += tl.where(mask, result, 0.0)
    if SHIFT:
        tl.store(to_shift + share, tl.sum(moved, axis=0), mask=own)


@triton.jit
def _read(place, mask, KEEP: tl.constexpr):
    return tl.load(place, mask=mask, other=0.0, eviction_policy=KEEP).to(tl.float32)


@triton.jit
def _channels(SIZE: tl.constexpr, GROUPS: tl.constexpr, BG: tl.constexpr, BS: tl.constexpr):
    """The channel of each column of a block, and whether there is one; groups begin at multiples of BS."""
    column = tl.arange(0, BG * BS)
    # Where groups fit without rest, say so: the compiler does not find out by itself.
    if SIZE == BS and GROUPS == BG:
        return column, tl.full((BG * BS,), True, tl.int1)
    else:
        return column // BS * SIZE + column % BS, (column % BS < SIZE) & (column // BS < GROUPS)


@triton.jit
def _places(
    begin, channel, own, PIXELS: tl.constexpr, CHANNELS: tl.constexpr, BP: tl.constexpr, BC: tl.constexpr
):
    """Places of a block of pixels within their image, and which of them exist."""
    pixel = begin + tl.arange(0, BP)
    mask = tl.broadcast_to(own[None, :], (BP, BC))
    if PIXELS % BP != 0:
        mask = mask & (pixel < PIXELS)[:, None]
    return pixel[:, None] * CHANNELS + channel[None, :], mask


@triton.jit
def _per_image(shift, image, channel, own, CHANNELS: tl.constexpr, SHIFT: tl.constexpr):
    if SHIFT:
        return tl.load(shift + image * CHANNELS + channel, mask=own, other=0.0).to(tl.float32)
    else:
        return tl.zeros_like(channel).to(tl.float32)


@triton.jit
def _over_group(values, BG: tl.constexpr, BS: tl.constexpr):
    """Sums over the channels of each group, given back to every channel of it."""
    total = tl.sum(tl.reshape(values, (BG, BS)), axis=1)
    return tl.reshape(tl.broadcast_to(total[:, None], (BG, BS)), (BG * BS,))


@triton.jit
def _kept(keys, image, images, place, ELEMENTS: tl.constexpr, dropped, grown):
    """`KeyedDropout.masked`: 0 where an element is dropped, else what the others grow by."""
    member = image // images
    begin = ((image % images) * ELEMENTS).to(tl.uint32) + tl.load(keys + 2 * member).to(
        tl.uint32, bitcast=True
    )
    word = (place.to(tl.uint32) + begin) * 0x7FEB352D
    word = word ^ (word >> 16) ^ tl.load(keys + 2 * member + 1).to(tl.uint32, bitcast=True)
    return tl.where(word * 0x846CA68B >= dropped, grown, 0.0)
