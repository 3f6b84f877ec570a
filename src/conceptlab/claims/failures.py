"""Seeds whose training failed. Divergence is not missing at random: such a seed stays in every claim of its figure."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

import numpy as np

from conceptlab.claims.values import PerSeed

# Of more seeds than this only the number is told.
_NAMED = 3


@dataclass(frozen=True)
class Failures:
    """Which seeds of a figure failed and how, of how many; likewise its members, of which a seed may have several."""

    how: Mapping[Hashable, str] = field(default_factory=dict)
    seeds: int = 0
    failed_members: int = 0
    members: int = 0

    def __len__(self) -> int:
        return len(self.how)

    @property
    def note(self) -> str:
        """`1 of 5 seeds failed (seed 3: the training loss is not finite at step 300)`; empty if none did."""
        if not self.how:
            return ""
        part = f", {self.failed_members} of {self.members} members" if self.members > self.seeds else ""
        named = [f"seed {seed}: {how}" for seed, how in list(self.how.items())[:_NAMED]]
        named += ["…"] if len(self.how) > _NAMED else []
        return f"{len(self.how)} of {self.seeds} seeds failed{part} ({', '.join(named)})"

    def without_value(self, values: PerSeed) -> list[Hashable]:
        """The failed seeds of which nothing is left in the values of a claim."""
        return [seed for seed in self.how if seed not in values.seeds]

    def kept(self, values: PerSeed) -> PerSeed:
        """The values with all failed seeds among them; one of which nothing is left is unknown."""
        return values.among(self.how)

    def whole(self, values: PerSeed) -> int:
        """How many seeds have a value and no failed member."""
        known = ~(np.isneginf(values.low) & np.isposinf(values.high))
        return sum(bool(there) and seed not in self.how for seed, there in zip(values.seeds, known))


NO_FAILURES = Failures()
