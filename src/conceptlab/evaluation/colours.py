"""Are the colours asked for among the objects drawn? For worlds that tell colours, alone or with places."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from conceptlab import measures
from conceptlab.measures import Cells
from conceptlab.worlds import ObjectWorld, derived_seed

Colours = NDArray[np.integer]
Share = tuple[str, float]

_AROUND = 1  # pixels about a centre that its colour is read from
_OBJECTS = 720  # in real images, that colours are learned from: all of them occur, and often


@dataclass(frozen=True)
class ColourReader:
    """Colours at known places by a linear discriminant that was fitted to real images: lamps and shadows change colours
    too much for the palette itself to be compared with."""

    whiten: Tensor
    means: Tensor

    @classmethod
    def of(cls, world: ObjectWorld) -> ColourReader:
        images = math.ceil(_OBJECTS / world.most)
        factors = world.draw((world.most,), images, seed=derived_seed(0, "evaluation/colours"))
        seen = torch.cat(_at(world.render(factors), list(factors["centres"])))
        colour = factors["colour"].flatten().long()
        means = torch.stack([seen[colour == c].mean(0) for c in range(world.colours)])
        # Where nothing varies within a colour, as on flat discs, a little noise stands in for it.
        within = (seen - means[colour]).T.cov() + 1e-5 * torch.eye(seen.shape[1])
        whiten = torch.linalg.inv(torch.linalg.cholesky(within)).T
        return cls(whiten, means @ whiten)

    def read(self, images: Tensor, centres: Sequence[Tensor]) -> list[Colours]:
        """The colour (by its place in the palette) at each of an image's centres (P, 2), in pixels."""
        return [
            torch.cdist(seen @ self.whiten, self.means).argmin(1).numpy() for seen in _at(images, centres)
        ]


def _at(images: Tensor, centres: Sequence[Tensor]) -> list[Tensor]:
    """What is seen at each centre, (P, 3): shares of red and green, and how light it is. The median of a few pixels,
    since a highlight has the colour of the lamp."""
    last = torch.tensor([images.shape[3] - 1, images.shape[2] - 1])
    step = torch.arange(-_AROUND, _AROUND + 1)
    window = torch.cartesian_prod(step, step)
    found = []
    for image, mine in zip(images, centres, strict=True):
        at = (mine.floor().long()[:, None] + window).clamp(min=0).minimum(last)
        seen = image[:, at[..., 1], at[..., 0]].median(-1).values.mT
        light = seen.sum(-1, keepdim=True).clamp(min=1e-3)
        found.append(torch.cat((seen[:, :2] / light, light.log()), dim=1))
    return found


def colour_shares(
    world: ObjectWorld,
    asked: list[Cells],
    colours: list[Colours],
    found: list[Cells],
    seen: list[Colours],
) -> Iterator[Share]:
    """What is asked for, `colour` and, where places are told with it, `both`: the share met, by chance, beyond it."""
    pairs = {"colour": (measures.with_colour(colours), measures.with_colour(seen))}
    if world.told == "both":
        pairs["both"] = (measures.with_colour(colours, asked), measures.with_colour(seen, found))
    for name, (wanted, drawn) in pairs.items():
        share = float(measures.met(wanted, drawn).mean()) / len(wanted[0])
        chance = measures.chance_share(wanted, drawn)
        yield f"{name}_met", share
        yield f"{name}_chance", chance
        yield f"{name}_corrected", measures.beyond_chance(share, chance)


@functools.lru_cache(maxsize=8)
def colour_reader(world: ObjectWorld) -> ColourReader:
    return ColourReader.of(world)
