"""Anti-aliased coverage of simple shapes, by signed distance to their outline.

Coordinates: the image spans [-1, 1] in both directions, x to the right and y downwards. All shapes of one
`size` have the same area, that of a circle of this radius, so that shape says nothing about the amount of
colour. A shape stands where the centre of its bounding box is, so that an upright triangle keeps the same
distance from top and bottom.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

CORNERS = {"circle": 0, "triangle": 3, "square": 4}
"""The shapes that can be drawn and their number of corners."""


def coverage(shape: str, size: Tensor, x: Tensor, y: Tensor, angle: Tensor, resolution: int) -> Tensor:
    """The share of every pixel that the shape covers: (n,) factors, angle in degrees → (n, H, W)."""
    pixel = 2.0 / resolution
    centres = (torch.arange(resolution, device=size.device) + 0.5) * pixel - 1.0
    across = centres[None, None, :] - x[:, None, None]
    down = centres[None, :, None] - y[:, None, None]
    corners = CORNERS[shape]
    if corners:
        distance = _polygon_distance(corners, size, across, down, torch.deg2rad(angle))
    else:
        distance = torch.hypot(across, down) - size[:, None, None]
    # Linear over the one pixel that the outline crosses: exact for an edge along the grid.
    return (0.5 - distance / pixel).clamp(0.0, 1.0)


def circumradius(corners: int) -> float:
    """Of the regular polygon whose area is that of the unit circle: k/2 R² sin(2π/k) = π."""
    return math.sqrt(2 * math.pi / (corners * math.sin(2 * math.pi / corners)))


def _polygon_distance(corners: int, size: Tensor, across: Tensor, down: Tensor, angle: Tensor) -> Tensor:
    """The largest of the distances to the lines through the edges: inside it is exact, and outside, near a
    corner, it is smaller than the true one, which keeps the corners sharp."""
    radius = circumradius(corners) * size
    step = 2 * math.pi / corners
    # The first edge lies at the bottom (y points downwards), so that angle 0 is upright.
    normals = angle[:, None] + math.pi / 2 + step * torch.arange(corners, device=size.device)
    tips = normals + step / 2
    # From the centre of the bounding box to the centre of the polygon.
    tip_x, tip_y = radius[:, None] * tips.cos(), radius[:, None] * tips.sin()
    across = across + ((tip_x.amax(1) + tip_x.amin(1)) / 2)[:, None, None]
    down = down + ((tip_y.amax(1) + tip_y.amin(1)) / 2)[:, None, None]
    inside = (radius * math.cos(step / 2))[:, None, None]
    furthest = torch.full_like(across + down, -math.inf)
    for normal in normals.unbind(1):
        along = across * normal.cos()[:, None, None] + down * normal.sin()[:, None, None]
        furthest = torch.maximum(furthest, along)
    return furthest - inside


def blur_matrix(resolution: int, sigma: float) -> Tensor:
    """Gaussian blur of one axis as a matrix, of `sigma` pixels, cut at 4 sigma, mirrored at the borders."""
    blur = torch.zeros(resolution, resolution, dtype=torch.float64)
    reach = math.ceil(4 * sigma)
    weights = [math.exp(-0.5 * (offset / sigma) ** 2) for offset in range(-reach, reach + 1)]
    for row in range(resolution):
        for offset, weight in zip(range(-reach, reach + 1), weights):
            column = (row + offset) % (2 * resolution)
            blur[row, min(column, 2 * resolution - 1 - column)] += weight / sum(weights)
    return blur.to(torch.float32)
