"""Where rays meet spheres, cubes and cylinders, and which way the surface faces there.

A solid stands on the ground, turned about the vertical. Rays are given in its own frame: moved to its centre, turned
back, and scaled so that its half height is 1. Then the sphere is ‖p‖ = 1, the cube |p_i| ≤ 1, and the cylinder
x² + y² = 1 with caps at z = ± 1. Tensors end in the three coordinates.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

SHAPES = ("sphere", "cube", "cylinder")
FAR = 1e6
"""The distance of what is not met."""


def half_height(shape: Tensor, size: Tensor) -> Tensor:
    """Of a solid of CLEVR's size: its radius; a cube of the same size is smaller by √2."""
    return torch.where(shape == SHAPES.index("cube"), size / math.sqrt(2), size)


def meet(shape: Tensor, origin: Tensor, direction: Tensor) -> Tensor:
    """The distance at which each ray enters its solid in front of its origin, in units of the direction's length."""
    a, b, c = direction.square(), origin * direction, origin.square()
    ball = _enter(a.sum(-1), b.sum(-1), c.sum(-1) - 1)
    near, far = _slabs(origin, direction)
    box = _span(near.amax(-1), far.amin(-1))
    tube = _roots(a[..., :2].sum(-1), b[..., :2].sum(-1), c[..., :2].sum(-1) - 1)
    can = _span(torch.maximum(tube[0], near[..., 2]), torch.minimum(tube[1], far[..., 2]))
    return torch.where(shape == 0, ball, torch.where(shape == 1, box, can))


def normal(shape: Tensor, point: Tensor) -> Tensor:
    """Outward unit normals at points of the surfaces."""
    size = point.abs()
    box = torch.nn.functional.one_hot(size.argmax(-1), 3).to(point.dtype) * point.sign()
    on_cap = size[..., 2:] >= point[..., :2].norm(dim=-1, keepdim=True)
    up = torch.zeros_like(point)
    up[..., 2] = point[..., 2].sign()
    side = point.clone()
    side[..., 2] = 0
    can = torch.where(on_cap, up, side)
    chosen = torch.where(shape[..., None] == 0, point, torch.where(shape[..., None] == 1, box, can))
    return chosen / chosen.norm(dim=-1, keepdim=True).clamp(min=1e-6)


def _roots(a: Tensor, b: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    """Both roots of a t² + 2 b t + c; where there are none, the first is beyond the second."""
    a = a.clamp(min=1e-9)  # a ray along the axis of a cylinder stays within it, or without, for very long
    inside = b.square() - a * c
    root = inside.clamp(min=0).sqrt()
    missed = inside <= 0
    return torch.where(missed, FAR, (-b - root) / a), torch.where(missed, -FAR, (-b + root) / a)


def _enter(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    return _span(*_roots(a, b, c))


def _slabs(origin: Tensor, direction: Tensor) -> tuple[Tensor, Tensor]:
    """Where rays enter and leave the slabs |p_i| ≤ 1, axis by axis."""
    speed = torch.where(direction.abs() < 1e-9, 1e-9, direction)
    one, other = (-1 - origin) / speed, (1 - origin) / speed
    return torch.minimum(one, other), torch.maximum(one, other)


def _span(near: Tensor, far: Tensor) -> Tensor:
    """The beginning of a stretch that lies in front of the origin."""
    return torch.where((near < far) & (near > 0), near, FAR)
