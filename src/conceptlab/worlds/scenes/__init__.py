"""World `scenes`: CLEVR-like pictures of up to twelve solids on a table, the world of bradley2025.

Spheres, cubes and cylinders in two sizes, two materials and eight colours, under CLEVR's camera and lamps with their
jitter. Nothing touches, nothing is hidden, and the projected centre of every object is known exactly. The renderer is
a plug: see `renderers`.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from conceptlab.concepts import Class
from conceptlab.registry import choose
from conceptlab.worlds.base import Factors, Samples, freeze_fields
from conceptlab.worlds.objects import ObjectWorld, check_count
from conceptlab.worlds.registry import register
from conceptlab.worlds.scenes import cache, raycaster, renderers
from conceptlab.worlds.scenes.layout import lay_out

__all__ = ["Scenes", "raycaster", "renderers"]

# Raised when layouts or pictures change, so that what was rendered before is not taken for what would be now.
VERSION = 2
_TURNED = 1024  # scenes laid out at once on a CPU


@register("scenes")
@dataclass(frozen=True)
class Scenes(ObjectWorld):
    """64×64 or any other resolution; `cells` is the grid of the condition."""

    resolution: int = 64
    cells: int = 16
    most: int = 12
    labelled: str = "all"
    told: str = "location"
    colours: int = 8
    renderer: str = "raycaster"

    def __post_init__(self) -> None:
        freeze_fields(self)
        self.check_settings()
        choose("renderer", self.renderer, tuple(renderers.names()))

    def place(self, keys: Tensor) -> Factors:
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        size = max(1, len(keys)) if device.type == "cuda" else _TURNED
        parts = [
            lay_out(piece.to(device), self.most, self.colours, self.resolution, self.cells)
            for piece in keys.split(size)
        ]
        joined = {name: torch.cat([part[name] for part in parts]).cpu() for name in parts[0]}
        return {name: p.float() if p.is_floating_point() else p for name, p in joined.items()}

    def render(self, factors: Factors) -> Tensor:
        return (renderers.build(self.renderer)(factors, self.resolution) * 255).round() / 255

    def sample(self, cls: Class, n: int, seed: int) -> Samples:
        """Rendered once and kept on disk (see `cache`): a training set takes a while on a CPU."""
        check_count(cls[0], self.most)  # before anything is looked up or kept under its name
        settings = {k: v for k, v in self.settings.items() if k not in self.condition_settings}
        stored = dict(
            cache.remembered([VERSION, settings, list(cls), seed], n, lambda: self._make(cls, n, seed))
        )
        images = stored.pop("images").float() / 255
        factors = {**stored, "labelled": self.labels(cls[0], n, seed)}
        labels = torch.tensor(cls, dtype=torch.int64).repeat(n, 1)
        return Samples(images, self.condition_of(factors), labels, factors)

    def _make(self, cls: Class, n: int, seed: int) -> dict[str, Tensor]:
        factors = self.draw(cls, n, seed)
        images = (self.render(factors) * 255).round().to(torch.uint8)
        return {"images": images, **{name: part for name, part in factors.items() if name != "labelled"}}
