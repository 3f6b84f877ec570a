"""World `shapes`: one object of a shape, size and colour on a plain background (the world of okawa2023).

Which of shape, size, colour and background are concepts, and in which order, is a setting; the others keep
their first value or, if named in `free`, vary at random. Location and angle are continuous and always free.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from conceptlab import random
from conceptlab.concepts import Class, ConceptSpace, Variable
from conceptlab.errors import InputError
from conceptlab.worlds import checks
from conceptlab.worlds.base import Factors, Opacity, RenderedWorld, Samples, freeze_fields, spread
from conceptlab.worlds.raster import CORNERS, coverage
from conceptlab.worlds.registry import register

RGB = tuple[float, float, float]
Named = tuple[tuple[str, Any], ...]

_ATTRIBUTES = ("shape", "size", "colour", "background")
_CONTINUOUS = ("x", "y", "angle")

WHITE: RGB = (1.0, 1.0, 1.0)
BLACK: RGB = (0.0, 0.0, 0.0)


@register("shapes")
@dataclass(frozen=True)
class Shapes(RenderedWorld):
    """Lengths are in half image widths, angles in degrees, jitters are half ranges of a uniform draw."""

    resolution: int = 32
    channels: int = 3  # 4: the coverage of the object as alpha
    variables: tuple[str, ...] = ("shape", "size", "colour")
    free: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ("circle", "triangle", "square")
    sizes: Named = (("large", 0.54), ("small", 0.32))
    size_jitter: float = 0.04
    colours: Named = (("red", (0.9, 0.1, 0.1)), ("blue", (0.1, 0.1, 0.9)))
    colour_jitter: float = 0.1
    backgrounds: Named = (("white", WHITE), ("black", BLACK))
    location: float = 0.2
    angle: float = 180.0
    # What the condition tells, in the order of its entries; empty: the concepts.
    conditioned: tuple[str, ...] = ()
    # The background is told as its RGB ("colour") or as one number, their mean ("lightness").
    background_told: str = "colour"
    # Each image is told with its own values ("image"), or with what its class is asked for with ("class").
    told: str = "image"
    # An entry of the condition is (value - centre) · scale, by variable; unnamed variables stay as they are.
    condition_centre: Named = ()
    condition_scale: Named = ()

    def __post_init__(self) -> None:
        freeze_fields(self)
        checks.whole("shapes", "resolution", self.resolution, 4)
        if self.channels not in (3, 4):
            raise InputError(f"world 'shapes': channels={self.channels!r} must be 3 (RGB) or 4 (RGBA)")
        checks.chosen("shapes", "variables", self.variables, _ATTRIBUTES, least=1)
        checks.chosen("shapes", "free", self.free, _ATTRIBUTES)
        for name in set(self.free) & set(self.variables):
            raise InputError(f"world 'shapes': '{name}' is both in variables and in free; name it once")
        checks.chosen("shapes", "shapes", self.shapes, CORNERS, least=1)
        for setting in ("sizes", "colours", "backgrounds"):
            checks.pairs("shapes", setting, getattr(self, setting))
        for setting, limit in (("colour_jitter", 1.0), ("location", 1.0), ("angle", 180.0)):
            checks.number("shapes", setting, getattr(self, setting), 0, limit)
        checks.number("shapes", "size_jitter", self.size_jitter, 0)
        for name, size in self.sizes:
            checks.number("shapes", f"sizes[{name}]", size, self.size_jitter + 1 / self.resolution, 1)
        for name, value in (*self.colours, *self.backgrounds):
            checks.colour("shapes", f"colour '{name}'", value)
        conditionable = (*_ATTRIBUTES, *_CONTINUOUS)
        checks.chosen("shapes", "conditioned", self.conditioned, conditionable)
        checks.chosen("shapes", "background_told", (self.background_told,), ("colour", "lightness"))
        checks.chosen("shapes", "told", (self.told,), ("image", "class"))
        for setting in ("condition_centre", "condition_scale"):
            checks.pairs("shapes", setting, getattr(self, setting), least=0)
            checks.chosen("shapes", setting, tuple(dict(getattr(self, setting))), conditionable)
            for name, value in getattr(self, setting):
                checks.number("shapes", f"{setting}[{name}]", value, -1e6, 1e6)

    @property
    def space(self) -> ConceptSpace:
        return self._space

    @cached_property
    def _space(self) -> ConceptSpace:
        ranges = {"x": self.location, "y": self.location, "angle": self.angle}
        variables = [Variable(name, tuple(self._values[name])) for name in (*self.variables, *self.free)]
        variables += [Variable(name) for name, reach in ranges.items() if reach > 0]
        return ConceptSpace(variables, self.free)

    @cached_property
    def _values(self) -> dict[str, dict[str, Any]]:
        """The values of every attribute: by name, what the renderer needs of it."""
        shapes = {shape: index for index, shape in enumerate(self.shapes)}
        tables = {"size": self.sizes, "colour": self.colours, "background": self.backgrounds}
        return {"shape": shapes} | {name: dict(table) for name, table in tables.items()}

    @property
    def image_shape(self) -> tuple[int, int, int]:
        return self.channels, self.resolution, self.resolution

    @property
    def opacity(self) -> Opacity:
        """On nothing, which is black, colours are weighted by coverage; on a ground they are mixed with it."""
        empty = all(colour == BLACK for _, colour in self.backgrounds)
        return "weighted" if empty else "coverage"

    @property
    def condition_parts(self) -> dict[str, slice]:
        ground = 3 if self.background_told == "colour" else 1
        widths = {"shape": len(self.shapes), "colour": 3, "background": ground}
        parts, start = {}, 0
        for name in self.conditioned or self.variables:
            parts[name] = slice(start, start + widths.get(name, 1))
            start = parts[name].stop
        return parts

    def draw(self, cls: Class, n: int, seed: int) -> Factors:
        positions = {}
        for name, choices in self._choices(cls).items():
            drawn = random.integers(random.key(seed, f"worlds/value of {name}"), (n,), len(choices))
            positions[name] = torch.tensor(choices)[drawn]
        factors = self._place(positions)
        colour = factors["colour"] + self.colour_jitter * spread(seed, "colour", (n, 3))
        return factors | {
            "size": factors["size"] + self.size_jitter * spread(seed, "size", (n,)),
            "colour": colour.clamp(0.0, 1.0),
            "x": self.location * spread(seed, "x", (n,)),
            "y": self.location * spread(seed, "y", (n,)),
            "angle": self.angle * spread(seed, "angle", (n,)),
        }

    def sample(self, cls: Class, n: int, seed: int) -> Samples:
        found = super().sample(cls, n, seed)
        return found if self.told == "image" else replace(found, conditions=self.condition(cls).repeat(n, 1))

    def render(self, factors: Factors) -> Tensor:
        covered = factors["size"].new_zeros(len(factors["size"]), self.resolution, self.resolution)
        for index, shape in enumerate(self.shapes):
            chosen = (factors["shape"] == index).nonzero()[:, 0]
            size, x, y, angle = (factors[name][chosen] for name in ("size", "x", "y", "angle"))
            covered[chosen] = coverage(shape, size, x, y, angle, self.resolution)
        covered = covered[:, None]
        background, colour = factors["background"][..., None, None], factors["colour"][..., None, None]
        image = background + covered * (colour - background)
        return torch.cat([image, covered], dim=1) if self.channels == 4 else image

    def condition_of(self, factors: Factors) -> Tensor:
        centre, scale = dict(self.condition_centre), dict(self.condition_scale)
        entries = []
        for name in self.condition_parts:
            value = factors[name]
            if name == "shape":
                value = torch.nn.functional.one_hot(value, len(self.shapes))
            elif name == "background" and self.background_told == "lightness":
                value = value.mean(-1)
            value = value.to(torch.float32).reshape(len(value), -1)
            entries.append((value - centre.get(name, 0.0)) * scale.get(name, 1.0))
        return torch.cat(entries, dim=1)

    def condition(self, cls: Class) -> Tensor:
        """Class values without jitter, averaged over the values of what is free."""
        # Asked for by every measurement at every evaluation, and by plans of hundreds of recipes.
        if cls not in self._conditions:
            choices = self._choices(cls)
            rows = torch.tensor(list(itertools.product(*choices.values())))
            placed = self._place(dict(zip(choices, rows.unbind(1))))
            self._conditions[cls] = self.condition_of(placed).mean(0)
        return self._conditions[cls].clone()

    @cached_property
    def _conditions(self) -> dict[Class, Tensor]:
        return {}

    def _choices(self, cls: Class) -> dict[str, list[int]]:
        """The positions of the values that each attribute may take in a class."""
        choices = {name: [0] for name in _ATTRIBUTES}
        choices |= {name: list(range(len(self._values[name]))) for name in self.free}
        return choices | {name: [value] for name, value in zip(self.variables, cls, strict=True)}

    def _place(self, positions: dict[str, Tensor]) -> Factors:
        """Attributes at exactly their values, in the middle and upright."""
        factors = {
            name: torch.tensor(list(self._values[name].values()))[at] for name, at in positions.items()
        }
        middle = torch.zeros(len(positions["shape"]))
        return factors | dict.fromkeys(_CONTINUOUS, middle)


QUICKSTART: dict[str, Any] = {
    "resolution": 16,
    "shapes": ("circle", "triangle"),
    "sizes": (("large", 0.60), ("small", 0.38)),
    "size_jitter": 0.08,
    "colours": (("red", (0.6, 0.1, 0.1)), ("blue", (0.1, 0.1, 0.6))),
    "colour_jitter": 0.15,
    "location": 0.10,
    "angle": 0.0,
    # Every entry about as large as the others: the network sees no variable louder than the rest.
    "condition_centre": (("colour", 0.35), ("size", 0.49)),
    "condition_scale": (("shape", 1.4), ("colour", 0.7 / 0.25), ("size", 1 / 0.11)),
}
"""Settings of `shapes` for the quickstart: small, upright, unsaturated colours, a condition of even scale."""

OKAWA2023: dict[str, Any] = {
    "resolution": 28,
    # The public code trains on RGBA images, rendered on nothing. On a white ground networks of its kind draw what is
    # both small and new ever smaller, until the image is empty; on nothing less so.
    "channels": 4,
    "backgrounds": (("empty", BLACK),),
    "shapes": ("circle", "triangle"),
    "sizes": (("large", 0.54), ("small", 0.32)),  # the ratio of the paper's 2.7 to 1.6
    # "We map the axes to [0, 1] and uniformly sample" (§3.1), taken at its word: each class has nearly its whole half
    # of the axes of size and of colour. Where classes are narrower, what is both small and new fades.
    "size_jitter": 0.10,
    "colours": (("red", (0.75, 0.25, 0.25)), ("blue", (0.25, 0.25, 0.75))),
    "colour_jitter": 0.25,
    # Upright: triangles are cones in the public code's list of solids, and a cone that turns about its axis, as solids
    # do in CLEVR's generator, looks the same. The paper's linear probes read every real image right, as they do still
    # where objects move this far; twice as far, and turning freely, they read 74 % of shapes.
    "location": 0.1,
    "angle": 0.0,
    "conditioned": ("shape", "colour", "size"),
    "condition_scale": (
        ("size", 5.0),
    ),  # the public code tells sizes as 2.7 and 1.6, as loud as colours and shapes
}
"""Settings of `shapes` for okawa2023, §3.1: classes read (shape, size, colour), the condition is shape one-hot,
RGB, size as in the public code."""

OKAWA2023_BACKGROUND: dict[str, Any] = OKAWA2023 | {
    "channels": 3,  # an image on a ground hides nothing behind it
    "backgrounds": (("white", WHITE), ("black", BLACK)),
    "variables": ("shape", "size", "colour", "background"),
    "conditioned": ("shape", "colour", "size", "background"),
    "background_told": "lightness",  # one number, as in the public code
}
"""The version with four variables (okawa2023, Fig 16)."""
