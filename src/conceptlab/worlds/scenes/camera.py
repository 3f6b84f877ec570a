"""The camera and the lamps of CLEVR (Johnson et al., "CLEVR", CVPR 2017), with their jitter."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

# Facts of the original scene, in its units; the camera looks at the origin.
CAMERA = (7.481, -6.508, 5.344)
LAMPS = {
    "key": (6.447, -2.905, 4.258),
    "fill": (-4.671, -4.014, 3.011),
    "back": (-1.169, 2.646, 5.816),
}
CAMERA_JITTER = 0.5
LAMP_JITTER = 1.0
HALF_FRAME = 12 / 35
"""Half the frame over the focal length: the central square of a 320×240 picture, lens 35 on a sensor of 32."""


@dataclass(frozen=True)
class Camera:
    """n cameras: where they stand (n, 3) and the axes of their pictures, rows right, down, forward (n, 3, 3)."""

    position: Tensor
    axes: Tensor

    @classmethod
    def at(cls, position: Tensor) -> Camera:
        """Cameras that look at the origin, with the world's z upwards."""
        forward = -position / position.norm(dim=-1, keepdim=True)
        up = torch.zeros_like(position)
        up[..., 2] = 1
        right = torch.linalg.cross(forward, up)
        right = right / right.norm(dim=-1, keepdim=True)
        return cls(position, torch.stack((right, torch.linalg.cross(forward, right), forward), dim=-2))

    @property
    def flat(self) -> Tensor:
        """To the right and to the front along the ground, (n, 2, 2)."""
        ground = self.axes[:, (0, 2), :2]
        return ground / ground.norm(dim=-1, keepdim=True)

    def project(self, points: Tensor, resolution: int) -> tuple[Tensor, Tensor]:
        """Points (n, M, 3) to pixels (n, M, 2), x to the right and y down, and pixels per unit of length there."""
        seen = torch.einsum("nij,nmj->nmi", self.axes, points - self.position[:, None])
        depth = seen[..., 2]
        scale = resolution / 2 / HALF_FRAME / depth
        return resolution / 2 + seen[..., :2] * scale[..., None], scale

    def rays(self, resolution: int, within: tuple[float, float]) -> Tensor:
        """Unit directions (n, resolution², 3) through a place within each pixel, given in pixels from its corner."""
        step = torch.arange(resolution, device=self.position.device, dtype=self.position.dtype)
        across = ((step + within[0]) / resolution * 2 - 1) * HALF_FRAME
        down = ((step + within[1]) / resolution * 2 - 1) * HALF_FRAME
        rows, columns = torch.meshgrid(down, across, indexing="ij")
        plane = torch.stack((columns, rows, torch.ones_like(rows)), -1).reshape(-1, 3)
        directions = torch.einsum("pi,nij->npj", plane, self.axes)
        return directions / directions.norm(dim=-1, keepdim=True)
