"""Training splits: which classes are seen, how often, and how far the others lie from them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from conceptlab.concepts.space import Class, ConceptSpace
from conceptlab.errors import InputError


class Split:
    """Training classes with the number of images of each; every other class is held out."""

    def __init__(self, space: ConceptSpace, counts: Mapping[str, int] | Mapping[Class, int]) -> None:
        parsed: dict[Class, int] = {}
        for given, count in counts.items():
            cls = space.parse(given)
            if cls in parsed:
                raise InputError(f"training split names class {space.code(cls)} twice")
            if int(count) != count or count < 0:
                raise InputError(
                    f"training split gives class {space.code(cls)} {count} images; use 0 or more"
                )
            parsed[cls] = int(count)
        self.space = space
        self.counts = {cls: count for cls, count in parsed.items() if count > 0}
        if not self.counts:
            raise InputError("the training split is empty; give at least one class a positive count")

    @classmethod
    def around(cls, space: ConceptSpace, centre: str | Class, count: int) -> Split:
        """A centre class and all its neighbours: the smallest set in which every variable varies alone."""
        middle = space.parse(centre)
        return cls(space, dict.fromkeys((middle, *space.neighbours(middle)), count))

    @property
    def train(self) -> tuple[Class, ...]:
        return tuple(cls for cls in self.space if cls in self.counts)

    @property
    def held_out(self) -> tuple[Class, ...]:
        return tuple(cls for cls in self.space if cls not in self.counts)

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def frequency(self, variable: str, value: int) -> float:
        """The share of training images that carry a value: how rare the value is."""
        place = self.space.variable(variable)
        return sum(n for cls, n in self.counts.items() if cls[place] == value) / self.total

    @cached_property
    def distances(self) -> dict[Class, int]:
        """Each class's distance to the nearest training class."""
        return {c: min(self.space.distance(c, seen) for seen in self.counts) for c in self.space}

    def distance(self, cls: Class) -> int:
        return self.distances[cls]

    def by_distance(self) -> dict[int, tuple[Class, ...]]:
        """Classes grouped by distance, training classes (0) first."""
        found = sorted(set(self.distances.values()))
        return {d: tuple(c for c in self.space if self.distances[c] == d) for d in found}

    def by_code(self) -> dict[str, int]:
        """The images of each training class by its code: what a recipe has as `train`."""
        return {self.space.code(cls): self.counts[cls] for cls in self.train}

    def __repr__(self) -> str:
        counts = ", ".join(f"{self.space.code(c)}: {n}" for c, n in self.counts.items())
        return f"Split({self.space.order}, {{{counts}}})"
