"""The kernels behind `groupnorm`; importing this needs Triton.

They are limited by instructions as much as by memory, so sizes are known when they are compiled and offsets are short.
"""
# Triton's language is not Python's: names are typed by the compiler, not by the type checker.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def forward_kernel(
    x, shift, weight, bias, keys, y, means, scales, images, stride, eps, dropped, grown,
    PIXELS: tl.constexpr, SIZE: tl.constexpr, GROUPS: tl.constexpr,
    SHIFT: tl.constexpr, GELU: tl.constexpr, DROPOUT: tl.constexpr,
    BP: tl.constexpr, BG: tl.constexpr, BS: tl.constexpr,
):  # fmt: skip
    """One program for a few groups of one image, as (pixels, groups, channels of a group): read once, written once."""
    image = tl.program_id(0)
    first = image.to(tl.int64) * (PIXELS * SIZE * GROUPS)
    channel, place, own, mask = _tile(PIXELS, SIZE, GROUPS, BP, BG, BS)
    values = _shifted(x + first, shift, channel, place, own, mask, SIZE * GROUPS, SHIFT)
    count = PIXELS * SIZE
    mean = tl.sum(tl.sum(values, axis=2), axis=0) / count
    centred = tl.where(mask, values - mean[None, :, None], 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(tl.sum(centred * centred, axis=2), axis=0) / count + eps)
    w = tl.load(weight + (image // images) * stride + channel, mask=own, other=0.0).to(tl.float32)
    b = tl.load(bias + (image // images) * stride + channel, mask=own, other=0.0).to(tl.float32)
    result = centred * (scale[None, :, None] * w) + b
    if GELU:
        result = _gelu(result, False)
    if DROPOUT:
        result = result * _kept(keys, image, images, place, PIXELS * SIZE * GROUPS, dropped, grown)
    tl.store(y + first + place, result.to(y.dtype.element_ty), mask=mask)
    group = tl.program_id(1) * BG + tl.arange(0, BG)
    tl.store(means + image * GROUPS + group, mean, mask=group < GROUPS)
    tl.store(scales + image * GROUPS + group, scale, mask=group < GROUPS)


@triton.jit
def backward_kernel(
    gradient, x, shift, weight, bias, keys, means, scales, to_x, to_weight, to_bias, to_shift,
    images, stride, dropped, grown,
    PIXELS: tl.constexpr, SIZE: tl.constexpr, GROUPS: tl.constexpr,
    SHIFT: tl.constexpr, GELU: tl.constexpr, DROPOUT: tl.constexpr,
    BP: tl.constexpr, BG: tl.constexpr, BS: tl.constexpr,
):  # fmt: skip
    """The gradient for a few groups of one image, and the image's share in those for weight, bias and shift."""
    image = tl.program_id(0)
    first = image.to(tl.int64) * (PIXELS * SIZE * GROUPS)
    channel, place, own, mask = _tile(PIXELS, SIZE, GROUPS, BP, BG, BS)
    values = _shifted(x + first, shift, channel, place, own, mask, SIZE * GROUPS, SHIFT)
    g = tl.load(gradient + first + place, mask=mask, other=0.0).to(tl.float32)
    group = tl.program_id(1) * BG + tl.arange(0, BG)
    mean = tl.load(means + image * GROUPS + group, mask=group < GROUPS, other=0.0)
    scale = tl.load(scales + image * GROUPS + group, mask=group < GROUPS, other=0.0)
    normal = tl.where(mask, (values - mean[None, :, None]) * scale[None, :, None], 0.0)
    w = tl.load(weight + (image // images) * stride + channel, mask=own, other=0.0).to(tl.float32)
    if DROPOUT:
        g = g * _kept(keys, image, images, place, PIXELS * SIZE * GROUPS, dropped, grown)
    if GELU:
        b = tl.load(bias + (image // images) * stride + channel, mask=own, other=0.0).to(tl.float32)
        g = g * _gelu(normal * w + b, True)
    by_channel, by_channel_normal = tl.sum(g, axis=0), tl.sum(g * normal, axis=0)
    share = image * (SIZE * GROUPS) + tl.reshape(channel, (BG, BS))
    inside = tl.reshape(own, (BG, BS))
    tl.store(to_weight + share, by_channel_normal, mask=inside)
    tl.store(to_bias + share, by_channel, mask=inside)
    own_w = tl.reshape(w, (BG, BS))
    level = tl.sum(by_channel * own_w, axis=1) / (PIXELS * SIZE)
    tilt = tl.sum(by_channel_normal * own_w, axis=1) / (PIXELS * SIZE)
    result = (g * w - level[None, :, None] - normal * tilt[None, :, None]) * scale[None, :, None]
    tl.store(to_x + first + place, result.to(to_x.dtype.element_ty), mask=mask)
    if SHIFT:
        tl.store(to_shift + share, tl.sum(tl.where(mask, result, 0.0), axis=0), mask=inside)


@triton.jit
def _tile(
    PIXELS: tl.constexpr, SIZE: tl.constexpr, GROUPS: tl.constexpr,
    BP: tl.constexpr, BG: tl.constexpr, BS: tl.constexpr,
):  # fmt: skip
    """Channels and places of a program's elements within their image, and which of them exist."""
    pixel = tl.arange(0, BP)[:, None, None]
    group = (tl.program_id(1) * BG + tl.arange(0, BG))[None, :, None]
    inner = tl.arange(0, BS)[None, None, :]
    channel = group * SIZE + inner
    # Where blocks fit without rest, say so: the compiler does not find out by itself.
    own = tl.full((1, BG, BS), True, tl.int1)
    if SIZE != BS or GROUPS % BG != 0:
        own = (inner < SIZE) & (group < GROUPS)
    mask = tl.broadcast_to(own, (BP, BG, BS))
    if PIXELS != BP:
        mask = (pixel < PIXELS) & own
    return channel, pixel * (SIZE * GROUPS) + channel, own, mask


@triton.jit
def _shifted(x, shift, channel, place, own, mask, CHANNELS: tl.constexpr, SHIFT: tl.constexpr):
    values = tl.load(x + place, mask=mask, other=0.0).to(tl.float32)
    if SHIFT:
        added = tl.load(shift + tl.program_id(0) * CHANNELS + channel, mask=own, other=0.0).to(tl.float32)
        values = tl.where(mask, values + added, 0.0)
    return values


@triton.jit
def _gelu(v, SLOPE: tl.constexpr):
    """GELU, or its slope. The normal distribution as ½(1 + tanh u), u a polynomial fitted to 3e-5; the chip's tanh is
    good to 5e-4, a fraction of what bfloat16 keeps."""
    square = tl.minimum(v * v, 36.0)
    u = v * (0.797507884 + square * (0.0370056461 - 0.000351516799 * square))
    tanh = _tanh(u)
    if SLOPE:
        steep = 0.797507884 + square * (0.1110169383 - 0.001757583995 * square)
        return 0.5 + 0.5 * (tanh + v * steep * (1.0 - tanh * tanh))
    else:
        return 0.5 * v * (1.0 + tanh)


@triton.jit
def _tanh(u):
    return tl.inline_asm_elementwise(
        "tanh.approx.f32 $0, $1;", "=f,f", [u], dtype=tl.float32, is_pure=True, pack=1
    )


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
