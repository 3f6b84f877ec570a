"""The kernels behind `groupnorm`; importing this needs Triton."""
# Triton's language is not Python's: names are typed by the compiler, not by the type checker.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def forward_kernel(
    x, weight, bias, y, means, scales, pixels, channels, groups, images, eps,
    BP: tl.constexpr, BC: tl.constexpr,
):  # fmt: skip
    """One program for one group of one image: read once, written once."""
    image, group = tl.program_id(0) // groups, tl.program_id(0) % groups
    size = channels // groups
    pixel, channel = tl.arange(0, BP), tl.arange(0, BC)
    mask = (pixel < pixels)[:, None] & (channel < size)[None, :]
    place = image.to(tl.int64) * pixels * channels + group * size
    offsets = place + pixel[:, None] * channels + channel[None, :]
    own = (image // images) * channels + group * size + channel
    values = tl.load(x + offsets, mask=mask, other=0.0).to(tl.float32)
    count = pixels * size
    mean = tl.sum(values) / count
    centred = tl.where(mask, values - mean, 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(centred * centred) / count + eps)
    w = tl.load(weight + own, mask=channel < size, other=0.0).to(tl.float32)
    b = tl.load(bias + own, mask=channel < size, other=0.0).to(tl.float32)
    tl.store(y + offsets, (centred * scale * w[None, :] + b[None, :]).to(y.dtype.element_ty), mask=mask)
    tl.store(means + tl.program_id(0), mean)
    tl.store(scales + tl.program_id(0), scale)


@triton.jit
def backward_kernel(
    gradient, x, weight, means, scales, to_x, to_weight, to_bias, pixels, channels, groups, images,
    BP: tl.constexpr, BC: tl.constexpr,
):  # fmt: skip
    """The gradient for one group of one image, and its share in the gradients for scale and shift."""
    image, group = tl.program_id(0) // groups, tl.program_id(0) % groups
    size = channels // groups
    pixel, channel = tl.arange(0, BP), tl.arange(0, BC)
    mask = (pixel < pixels)[:, None] & (channel < size)[None, :]
    place = image.to(tl.int64) * pixels * channels + group * size
    offsets = place + pixel[:, None] * channels + channel[None, :]
    own = (image // images) * channels + group * size + channel
    mean, scale = tl.load(means + tl.program_id(0)), tl.load(scales + tl.program_id(0))
    values = tl.load(x + offsets, mask=mask, other=0.0).to(tl.float32)
    normal = tl.where(mask, (values - mean) * scale, 0.0)
    g = tl.load(gradient + offsets, mask=mask, other=0.0).to(tl.float32)
    w = tl.load(weight + own, mask=channel < size, other=0.0).to(tl.float32)
    weighted = g * w[None, :]
    count = pixels * size
    shift = tl.sum(weighted) / count
    tilt = tl.sum(weighted * normal) / count
    tl.store(
        to_x + offsets, ((weighted - shift - normal * tilt) * scale).to(to_x.dtype.element_ty), mask=mask
    )
    share = image * channels + group * size + channel
    tl.store(to_weight + share, tl.sum(g * normal, axis=0), mask=channel < size)
    tl.store(to_bias + share, tl.sum(g, axis=0), mask=channel < size)
