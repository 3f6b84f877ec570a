"""Renderers of scenes, by name. The built-in one is a ray-caster; a user's own (a real Blender, say) stands in for it
after `register("…")` and `Scenes(renderer="…")`."""

from __future__ import annotations

from typing import Protocol

from torch import Tensor

from conceptlab.registry import Registry
from conceptlab.worlds.base import Factors


class Renderer(Protocol):
    """Draws scenes of CLEVR's solids.

    Factors of n scenes of up to M objects: `count` (n,); `ground` (n, M, 2) where they stand; `size`, `angle` (n, M);
    `shape`, `material`, `colour` (n, M) as numbers in the lists of the same names; `camera` (n, 3) and `lamps`
    (n, 3, 3) where these hang.
    """

    def __call__(self, factors: Factors, resolution: int) -> Tensor:
        """Images (n, 3, resolution, resolution) float32 in [0, 1] on the CPU, one for each scene alone."""
        ...


_RENDERERS: Registry[Renderer] = Registry("renderer")
register = _RENDERERS.register
names = _RENDERERS.names


def build(name: str) -> Renderer:
    return _RENDERERS.make(name)
