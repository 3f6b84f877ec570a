"""World `discs`: discs on a plain ground that never touch. The scenes of bradley2025 in two dimensions, small enough
for a CPU."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from conceptlab import random
from conceptlab.worlds import checks
from conceptlab.worlds.base import Factors, freeze_fields
from conceptlab.worlds.objects import ObjectWorld, palette, present
from conceptlab.worlds.placement import CANDIDATES, Objects, arrange
from conceptlab.worlds.registry import register

_GROUND = 0.85


@register("discs")
@dataclass(frozen=True)
class Discs(ObjectWorld):
    """Lengths are in pixels. `gap` lies between the outlines of any two discs."""

    resolution: int = 32
    cells: int = 8
    most: int = 12
    labelled: str = "all"
    told: str = "location"
    colours: int = 1
    radius: float = 3.0
    gap: float = 0.5

    def __post_init__(self) -> None:
        freeze_fields(self)
        self.check_settings()
        checks.number(self.name, "radius", self.radius, 0.5, self.resolution / 4)
        checks.number(self.name, "gap", self.gap, 0, self.resolution / 4)

    def place(self, keys: Tensor) -> Objects:
        return arrange(keys, self.most, self._propose, self._clash)

    def _propose(self, keys: Tensor, scenes: Tensor) -> Objects:
        x, y, colour = random.uniform(keys, (3, CANDIDATES)).unbind(1)
        centres = self.radius + torch.stack((x, y), -1) * (self.resolution - 2 * self.radius)
        return {"centres": centres, "colour": (colour * self.colours).long()}

    def _clash(self, candidates: Objects, placed: Objects) -> Tensor:
        if not placed:
            return torch.zeros(candidates["colour"].shape, dtype=torch.bool)
        apart = torch.cdist(candidates["centres"], placed["centres"])
        # Two centres in one cell could not be told apart by a condition.
        cells = self.cell_of(candidates["centres"])[:, :, None] == self.cell_of(placed["centres"])[:, None]
        return ((apart < 2 * self.radius + self.gap) | cells.all(-1)).any(-1)

    def render(self, factors: Factors) -> Tensor:
        pixels = torch.arange(self.resolution) + 0.5
        across = pixels - factors["centres"][..., 0, None]  # (n, most, resolution)
        down = pixels - factors["centres"][..., 1, None]
        distance = torch.hypot(across[..., None, :], down[..., :, None])
        covered = (self.radius + 0.5 - distance).clamp(0, 1) * present(factors)[..., None, None]
        colour = palette(self.colours)[factors["colour"].long()]
        return _GROUND + torch.einsum("nohw,noc->nchw", covered, colour - _GROUND)
