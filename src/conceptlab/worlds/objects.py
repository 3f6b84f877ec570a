"""Worlds of several objects with exact centres, conditioned on where the objects are, which colour they have, or both.

One concept variable counts the objects. A condition is a grid over the image, (channels, cells, cells): an object is
told by a one in the cell of its centre. Which objects of a training image are told is a setting of the world: all of
them (experiment 1 of bradley2025) or one at random (experiments 2 and 3).
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property

import torch
from torch import Tensor

from conceptlab import random
from conceptlab.concepts import Class, ConceptSpace, Variable
from conceptlab.errors import InputError
from conceptlab.registry import choose
from conceptlab.worlds import checks
from conceptlab.worlds.base import Factors, RenderedWorld, spread

LABELLED = ("all", "one")
TOLD = ("location", "colour", "both")
PALETTE = {
    "gray": (87, 87, 87),
    "red": (173, 35, 35),
    "blue": (42, 75, 215),
    "green": (29, 105, 20),
    "brown": (129, 74, 25),
    "purple": (129, 38, 192),
    "cyan": (41, 208, 208),
    "yellow": (255, 238, 51),
}
"""The eight colours of CLEVR, 8-bit RGB."""


class ObjectWorld(RenderedWorld):
    """Factors of n images: `count` (n,), `centres` (n, most, 2) in pixels (x to the right, y down), `colour`
    (n, most), `labelled` (n, most), and what else a world needs to render. Entries beyond an image's count belong to
    no object of it."""

    condition_settings = frozenset({"labelled", "told"})

    resolution: int
    cells: int  # of the grid, along each side
    most: int  # the largest number of objects
    labelled: str  # which objects of a training image are told: "all" or "one"
    told: str  # what is told of them: "location", "colour" or "both"
    colours: int  # how many of the palette's colours there are

    @abstractmethod
    def place(self, keys: Tensor) -> Factors:
        """Scenes of `most` objects, one for each key (n, 2): at least `centres` and `colour`, (n, most, …)."""

    def check_settings(self) -> None:
        name = self.name
        checks.whole(name, "resolution", self.resolution, 8)
        checks.whole(name, "cells", self.cells, 2)
        checks.whole(name, "most", self.most, 1)
        checks.whole(name, "colours", self.colours, 1)
        if self.resolution % self.cells:
            raise InputError(
                f"world '{name}': resolution {self.resolution} is not a multiple of {self.cells} cells"
            )
        if self.colours > len(PALETTE):
            raise InputError(f"world '{name}': colours={self.colours}; the palette has {len(PALETTE)}")
        choose("labelled", self.labelled, LABELLED)
        choose("told", self.told, TOLD)

    @property
    def cell(self) -> int:
        """The side of a cell in pixels."""
        return self.resolution // self.cells

    @property
    def space(self) -> ConceptSpace:
        return self._space

    @cached_property
    def _space(self) -> ConceptSpace:
        counts = Variable("objects", tuple(str(k) for k in range(self.most + 1)))
        return ConceptSpace([counts, Variable("location"), Variable("colour")])

    @property
    def image_shape(self) -> tuple[int, int, int]:
        return 3, self.resolution, self.resolution

    @property
    def condition_parts(self) -> dict[str, slice]:
        """Channels of the grid. One tells the location; with colours, there is one channel for each."""
        if self.told == "location":
            return {"location": slice(0, 1)}
        if self.told == "colour":
            return {"colour": slice(0, self.colours)}
        return {"location": slice(0, 1), "colour": slice(1, 1 + self.colours)}

    @property
    def condition_shape(self) -> tuple[int, ...]:
        return max(part.stop for part in self.condition_parts.values()), self.cells, self.cells

    def draw(self, cls: Class, n: int, seed: int) -> Factors:
        check_count(cls[0], self.most)
        scenes = self.place(random.fold(random.key(seed, "worlds/layout"), torch.arange(n)))
        return {**scenes, "count": torch.full((n,), cls[0]), "labelled": self.labels(cls[0], n, seed)}

    def labels(self, count: int, n: int, seed: int) -> Tensor:
        """Which objects of n images of `count` objects are told in training, (n, most)."""
        told = (torch.arange(self.most) < count).repeat(n, 1)
        if self.labelled == "all":
            return told
        chosen = ((spread(seed, "label", (n,)) + 1) / 2 * count).floor()
        return told & (torch.arange(self.most) == chosen[:, None])

    def condition_of(self, factors: Factors) -> Tensor:
        return self.grid(factors, factors["labelled"])

    def ask(self, factors: Factors) -> Tensor:
        """The condition that tells every object, whatever training tells."""
        return self.grid(factors, present(factors))

    def grid(self, factors: Factors, told: Tensor) -> Tensor:
        """Objects `told` (n, most) as conditions (n, channels, cells, cells)."""
        n = len(told)
        across, down = self.cell_of(factors["centres"]).unbind(-1)
        place = (down * self.cells + across).long()
        colour = torch.nn.functional.one_hot(factors["colour"].long(), self.colours).float()
        weight = told.float()[..., None]
        located = torch.zeros(n, self.cells**2, 1).scatter_add_(1, place[..., None], weight)
        tinted = torch.zeros(n, self.cells**2, self.colours).scatter_add_(
            1, place[..., None].expand(-1, -1, self.colours), weight * colour
        )
        if self.told == "colour":  # which colours there are, the same everywhere: nobody says where
            tinted = tinted.sum(1, keepdim=True).expand_as(tinted)
        parts = {"location": located, "colour": tinted}
        channels = torch.cat([parts[name] for name in self.condition_parts], dim=2)
        return channels.mT.reshape(n, -1, self.cells, self.cells)

    def cell_of(self, centres: Tensor) -> Tensor:
        """Pixels (…, 2) to whole cell numbers (x, y)."""
        return (centres / self.cell).floor().clamp(0, self.cells - 1)

    def layouts(self, k: int, n: int, seed: int) -> tuple[Tensor, Tensor]:
        """n prompts of K conditions from scenes that exist: conditions (n, channels, cells, cells) and the centres
        they stand for, (n, K, 2). With one seed, the prompts of K + 1 add one condition to those of K."""
        factors = cut(self.draw((self.most,), n, seed), k)
        return self.ask(factors), factors["centres"][:, :k]

    def condition(self, cls: Class) -> Tensor:
        """One layout of that many objects. No single condition is the mean one: see `layouts`."""
        return self.ask(cut(self._example, cls[0]))[0]

    @cached_property
    def _example(self) -> Factors:
        return self.draw((self.most,), 1, seed=0)


def check_count(k: int, most: int) -> None:
    """Refuse a number of objects that no scene of the world has: it would be drawn with as many as there are."""
    if not 0 <= k <= most:
        raise InputError(
            f"{k} objects are asked for; scenes of this world hold 0 to {most}, by its setting 'most'"
        )


def cut(factors: Factors, k: int) -> Factors:
    """The same scenes with their first K objects, whatever was labelled."""
    check_count(k, factors["centres"].shape[1])
    return {**factors, "count": torch.full_like(factors["count"], k)}


def present(factors: Factors) -> Tensor:
    """Which entries belong to objects of the image, (n, most)."""
    return torch.arange(factors["centres"].shape[1]) < factors["count"][:, None]


def palette(colours: int) -> Tensor:
    """The first colours of the palette, (colours, 3) in [0, 1]."""
    return torch.tensor(list(PALETTE.values())[:colours]) / 255
