"""World `circles`: one blurred disc on a pale background, the world of park2024.

Two concepts, read (colour, size): 00 red and big, 01 red and small, 10 blue and big, 11 blue and small. How far
apart the colours and the sizes lie are settings, since they decide the concept signal and with it the order of
learning. Everything else is free: the location and the background.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
import torch.nn.functional as F
from torch import Tensor

from conceptlab import random
from conceptlab.concepts import Class, ConceptSpace, Variable
from conceptlab.worlds import checks
from conceptlab.worlds.base import Factors, RenderedWorld, freeze_fields, spread
from conceptlab.worlds.raster import blur_matrix
from conceptlab.worlds.registry import register

_MIDDLE_SIZE = 0.45
_SMALLEST = 0.1


@register("circles")
@dataclass(frozen=True)
class Circles(RenderedWorld):
    """Lengths are in half image widths; jitters are half ranges of a uniform draw, as shares of the separation."""

    resolution: int = 32
    colour_separation: float = 0.2
    size_separation: float = 0.4
    colour_jitter: float = 1 / 8
    size_jitter: float = 3 / 8
    location: float = 0.5
    background: tuple[float, float] = (0.8, 1.0)  # the range of every channel
    blur: float = 1.0  # standard deviation, pixels
    noise: float = 0.001  # standard deviation
    blanks: int = (
        0  # entries of a condition that are always zero: the public code has seven, for concepts not used
    )

    condition_settings = frozenset({"blanks"})

    def __post_init__(self) -> None:
        freeze_fields(self)
        checks.whole("circles", "resolution", self.resolution, 4)
        checks.whole("circles", "blanks", self.blanks, 0)
        for setting in ("colour_separation", "colour_jitter", "size_jitter", "location", "noise"):
            checks.number("circles", setting, getattr(self, setting), 0, 1)
        checks.number("circles", "size_separation", self.size_separation, 0, 2 * (_MIDDLE_SIZE - _SMALLEST))
        checks.number("circles", "blur", self.blur, 0.1, self.resolution / 4)
        checks.rising("circles", "background", self.background, 0, 1)

    @property
    def space(self) -> ConceptSpace:
        return self._space

    @cached_property
    def _space(self) -> ConceptSpace:
        concepts = (Variable("colour", ("red", "blue")), Variable("size", ("big", "small")))
        return ConceptSpace([*concepts, Variable("x"), Variable("y"), Variable("background")])

    @property
    def image_shape(self) -> tuple[int, int, int]:
        return 3, self.resolution, self.resolution

    @property
    def condition_parts(self) -> dict[str, slice]:
        return {"colour": slice(0, 3), "size": slice(3, 4)}

    @property
    def condition_shape(self) -> tuple[int, ...]:
        return (4 + self.blanks,)

    def class_factors(self, cls: Class) -> tuple[Tensor, Tensor]:
        """The colour (3,) and the size of a class, without jitter."""
        high, low = 0.5 + self.colour_separation / 2, 0.5 - self.colour_separation / 2
        colour = (high, low, low) if cls[0] == 0 else (low, low, high)
        size = _MIDDLE_SIZE + self.size_separation * (0.5 - cls[1])
        return torch.tensor(colour), torch.tensor(size)

    def draw(self, cls: Class, n: int, seed: int) -> Factors:
        colour, size = self.class_factors(cls)
        colour = colour + self.colour_jitter * self.colour_separation * spread(seed, "colour", (n, 3))
        size = size + self.size_jitter * self.size_separation * spread(seed, "size", (n,))
        low, high = self.background
        return {
            "colour": colour.clamp(0.0, 1.0),
            "size": size.clamp(min=_SMALLEST),
            "x": self.location * spread(seed, "x", (n,)),
            "y": self.location * spread(seed, "y", (n,)),
            "background": low + (high - low) * (spread(seed, "background", (n, 3)) + 1) / 2,
            # A key for the pixel noise of every image, so that rendering is a function of the factors.
            "noise": random.fold(random.key(seed, "worlds/noise"), torch.arange(n)),
        }

    def render(self, factors: Factors) -> Tensor:
        grid = torch.linspace(-1.0, 1.0, self.resolution, device=factors["x"].device)
        across, down = grid - factors["x"][:, None], grid - factors["y"][:, None]
        radius = torch.hypot(across[:, None, :], down[:, :, None])
        blur = blur_matrix(self.resolution, self.blur).to(grid.device)
        mask = (radius < factors["size"][:, None, None]).to(torch.float32)
        mask = (blur @ mask @ blur.T)[:, None]
        colour, background = factors["colour"][..., None, None], factors["background"][..., None, None]
        image = mask * colour + (1 - mask) * background
        return (image + self.noise * random.normal(factors["noise"], self.image_shape)).clamp(0.0, 1.0)

    def condition_of(self, factors: Factors) -> Tensor:
        return F.pad(torch.cat([factors["colour"], factors["size"][:, None]], dim=1), (0, self.blanks))

    def condition(self, cls: Class) -> Tensor:
        colour, size = self.class_factors(cls)
        return F.pad(torch.cat([colour, size[None]]), (0, self.blanks))
