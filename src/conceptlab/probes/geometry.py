"""What can be measured of one object on a plain background, straight from pixels.

Every pixel is a mixture of background and object, p = b + m (c - b). With b from the border and c from the
pixels that differ most, the mixing share m is the coverage of the object: its sum is the area, its moments tell
the shape.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

# Below this contrast with the background nothing is there; the palest object of the worlds has .35.
_LEAST_CONTRAST = 0.1
# Pixels at least this close to the strongest contrast belong to the inside of the object.
_INSIDE = 0.75
# Less coverage than this is noise; far from the object it would dominate the moments.
_LEAST_COVERAGE = 0.15


@dataclass(frozen=True)
class Reading:
    """Measurements of n images; lengths in half image widths."""

    background: Tensor  # (n, 3)
    colour: Tensor  # (n, 3)
    size: Tensor  # (n,) radius of the circle of the same area
    symmetry: Tensor  # (n, 2) threefold and fourfold moment, invariant to place, size and angle
    found: Tensor  # (n,) whether there is an object at all


def measure(images: Tensor) -> Reading:
    """Read images (n, 3 or more, H, W); a fourth channel is not looked at."""
    rgb = images[:, :3]
    background = _border(rgb).median(dim=2).values
    difference = rgb - background[..., None, None]
    distance = difference.square().sum(1).sqrt()
    strongest = distance.amax((1, 2), keepdim=True)
    inside = ((distance >= _INSIDE * strongest) & (distance > 0)).to(rgb.dtype)
    step = (difference * inside[:, None]).sum((2, 3)) / inside.sum((1, 2)).clamp(min=1)[:, None]
    share = (difference * step[..., None, None]).sum(1) / step.square().sum(1).clamp(min=1e-12)[:, None, None]
    covered = torch.where(share < _LEAST_COVERAGE, 0.0, share.clamp(max=1.0))
    area = covered.sum((1, 2))
    height, width = covered.shape[1:]
    return Reading(
        background,
        background + step,
        (area * (2 / height) * (2 / width) / torch.pi).sqrt(),
        symmetry(covered),
        strongest[:, 0, 0] > _LEAST_CONTRAST,
    )


def contrast(images: Tensor) -> Tensor:
    """How far the colour furthest from that of the border is from it: (n, 3 or more, H, W) → (n,)."""
    rgb = images[:, :3]
    border = _border(rgb).median(dim=2).values
    return (rgb - border[..., None, None]).square().sum(1).amax((1, 2)).sqrt()


def symmetry(covered: Tensor) -> Tensor:
    """|∫ z³| / A^(5/2) and |∫ z⁴| / A³ about the centroid, for coverage (n, H, W) → (n, 2).

    Turning an object by t multiplies ∫ zᵏ by exp(ikt), so the modulus does not see the angle; a figure with
    k-fold symmetry keeps only the moments whose order k divides: triangles the first, squares the second,
    circles neither.
    """
    n, height, width = covered.shape
    area = covered.sum((1, 2)).clamp(min=1e-6)
    across = (
        torch.arange(width, device=covered.device) - (covered.sum(1) @ _ramp(covered, width) / area)[:, None]
    )
    down = (
        torch.arange(height, device=covered.device)
        - (covered.sum(2) @ _ramp(covered, height) / area)[:, None]
    )
    z = torch.complex(across[:, None, :].expand(n, height, width), down[:, :, None].expand(n, height, width))
    cubed = z * z * z  # a power of complex numbers takes logarithms and ten times as long
    third = (covered * cubed).sum((1, 2)).abs() / area**2.5
    fourth = (covered * cubed * z).sum((1, 2)).abs() / area**3
    return torch.stack([third, fourth], dim=1)


def _ramp(like: Tensor, length: int) -> Tensor:
    return torch.arange(length, device=like.device, dtype=like.dtype)


def _border(rgb: Tensor) -> Tensor:
    """The outermost pixels: (n, 3, pixels)."""
    sides = rgb[:, :, 0], rgb[:, :, -1], rgb[:, :, 1:-1, 0], rgb[:, :, 1:-1, -1]
    return torch.cat(sides, dim=2)
