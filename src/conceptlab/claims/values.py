"""Per-seed values that may be known only within bounds, and arithmetic that carries the bounds.

A seed is the unit of every claim. A seed's value is an interval `[low, high]`: a point where it was measured,
half-open where a time was never reached, the whole line where nothing is known. Keeping both ends through
every difference, ratio and minimum is what lets a verdict hold in the worst case.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from conceptlab.errors import InputError

Array = np.ndarray


class NoData(LookupError):
    """The tables hold nothing a claim could be judged on; the verdict is then `inconclusive` with this text."""


@dataclass(frozen=True, eq=False)
class PerSeed:
    """One value per seed, known to lie within `low` and `high` (equal where it was measured)."""

    seeds: tuple[Hashable, ...]
    low: Array
    high: Array

    def __post_init__(self) -> None:
        low, high = (np.array(end, dtype=float) for end in (self.low, self.high))
        if low.shape != (len(self.seeds),) or high.shape != low.shape:
            raise InputError(
                f"per-seed values: {len(self.seeds)} seeds but {low.size} and {high.size} bounds"
            )
        if len(set(self.seeds)) != len(self.seeds):
            raise InputError("per-seed values: a seed occurs twice; reduce over its rows first")
        # No number is no knowledge: such a seed stays and counts against the claim instead of vanishing.
        missing = np.isnan(low) | np.isnan(high)
        low[missing], high[missing] = -np.inf, np.inf
        if (low > high).any():
            raise InputError("per-seed values: a lower bound lies above its upper bound")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @classmethod
    def exact(cls, values: Mapping[Hashable, float] | pd.Series) -> PerSeed:
        """Measured values, seed → number; NaN means the seed has no value."""
        numbers = np.array(list(values.values() if isinstance(values, Mapping) else values), dtype=float)
        return cls(tuple(values.keys()), numbers, numbers)

    def __len__(self) -> int:
        return len(self.seeds)

    @property
    def is_exact(self) -> bool:
        """Whether every seed has a measured, finite value."""
        return bool(np.isfinite(self.low).all() and np.array_equal(self.low, self.high))

    @property
    def censored(self) -> int:
        """How many seeds are known only within bounds (or not at all)."""
        return int(np.sum((self.low != self.high) | np.isinf(self.low)))

    @property
    def unknown(self) -> int:
        """How many seeds nothing is known about."""
        return int(np.sum(np.isneginf(self.low) & np.isposinf(self.high)))

    def map_increasing(self, function: Callable[[Array], Array]) -> PerSeed:
        """An increasing function of every value; bounds go through it unchanged in order."""
        return PerSeed(self.seeds, function(self.low), function(self.high))

    def among(self, seeds: Iterable[Hashable]) -> PerSeed:
        """The values with all these seeds among them; one that has none is unknown, not dropped."""
        lost = [seed for seed in dict.fromkeys(seeds) if seed not in self.seeds]
        ends = np.full(len(lost), np.inf)
        return PerSeed((*self.seeds, *lost), np.append(self.low, -ends), np.append(self.high, ends))


def align(parts: Sequence[PerSeed]) -> tuple[tuple[Hashable, ...], list[PerSeed]]:
    """The parts over the union of their seeds; a seed that a part lacks is unknown there, not dropped."""
    seeds = tuple(dict.fromkeys(seed for part in parts for seed in part.seeds))
    aligned = []
    for part in parts:
        place = {seed: i for i, seed in enumerate(part.seeds)}
        low = np.array([part.low[place[s]] if s in place else -np.inf for s in seeds])
        high = np.array([part.high[place[s]] if s in place else np.inf for s in seeds])
        aligned.append(PerSeed(seeds, low, high))
    return seeds, aligned


def difference(first: PerSeed, second: PerSeed) -> PerSeed:
    """`first - second`, seed by seed: the paired comparison of two settings."""
    seeds, (a, b) = align([first, second])
    with np.errstate(invalid="ignore"):  # inf - inf is NaN: unknown, as it should be
        return PerSeed(seeds, a.low - b.high, a.high - b.low)


def ratio(numerator: PerSeed, denominator: PerSeed) -> PerSeed:
    """`numerator / denominator` of non-negative quantities, seed by seed; unknown becomes `[0, inf]`."""
    seeds, (a, b) = align([numerator, denominator])
    if (np.isfinite(a.low) & (a.low < 0)).any() or (np.isfinite(b.low) & (b.low < 0)).any():
        raise InputError("ratio: a value is negative; ratios need non-negative quantities, use a difference")
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.maximum(a.low, 0) / b.high
        high = a.high / np.maximum(b.low, 0)
    # 0/0 and inf/inf say nothing about the ratio.
    return PerSeed(seeds, np.where(np.isnan(low), 0, low), np.where(np.isnan(high), np.inf, high))


def geometric_mean(parts: Sequence[PerSeed]) -> PerSeed:
    """The mean over parts on the log scale, seed by seed: of ratios, each counting as much as the others."""
    if not parts:
        raise NoData("nothing to take the mean of")
    seeds, aligned = align(parts)
    with np.errstate(divide="ignore", invalid="ignore"):  # log 0 = -inf; the log of an unknown bound is NaN
        low, high = (
            np.exp(np.mean([np.log(np.maximum(end, 0)) for end in ends], axis=0))
            for ends in ([p.low for p in aligned], [p.high for p in aligned])
        )
    return PerSeed(seeds, np.where(np.isnan(low), 0, low), np.where(np.isnan(high), np.inf, high))


def smallest(parts: Sequence[PerSeed]) -> PerSeed:
    """The minimum over parts, seed by seed: above a threshold only if every part is."""
    if not parts:
        raise NoData("nothing to take the smallest of")
    seeds, aligned = align(parts)
    return PerSeed(seeds, np.min([p.low for p in aligned], axis=0), np.min([p.high for p in aligned], axis=0))
