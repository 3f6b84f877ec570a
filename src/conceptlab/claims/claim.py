"""What a claim is: a sentence of a paper, the number that tests it, and a threshold fixed beforehand."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from conceptlab.claims.values import Array, PerSeed
from conceptlab.errors import InputError, unknown

Tables = Mapping[str, pd.DataFrame]

# A correlation over a handful of settings that is exactly ±1 would sit at infinity; |z| = 3 is |r| = .995.
FISHER_LIMIT = 3.0


def _log(x: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(np.where(np.isneginf(x), 0.0, x))


def _fisher(r: Array) -> Array:
    with np.errstate(divide="ignore"):
        z = np.clip(np.arctanh(np.clip(r, -1, 1)), -FISHER_LIMIT, FISHER_LIMIT)
    # An end that is not known stays so: as a limit it would pass for a value.
    return np.where(np.isinf(r), r, z)


def _same(x: Array) -> Array:
    return x


# name → (to the scale on which seeds scatter evenly, and back); all increasing.
TRANSFORMS: dict[str, tuple[Callable[[Array], Array], Callable[[Array], Array]]] = {
    "none": (_same, _same),
    "log": (_log, np.exp),
    "fisher": (_fisher, np.tanh),
}
SIDES = ("above", "below", "within")

SHARE = (0.0, 1.0)
"""The limits of a share, such as an accuracy."""
CORRELATION = (-1.0, 1.0)
"""Those of a correlation whose interval is taken on the plain scale."""
DIFFERENCE = (-1.0, 1.0)
"""Those of a difference of two shares."""


@dataclass(frozen=True)
class Claim:
    """One sentence that data can contradict.

    `side` says where the interval must lie: `above` or `below` the threshold, or `within` ± threshold (an
    equivalence; on the log scale within 1/threshold … threshold). `transform` is the scale of the interval,
    `log` for ratios and times, `fisher` for correlations; values and threshold are given untransformed.
    `interval` is `student` for measured values, `proportion` for per-seed outcomes that are 0 or 1.
    `resolution` is the standard error of one seed's value that the measurement alone would cause, on the
    transformed scale: the spread over seeds is never believed to be smaller. Without it, seeds that tie
    exactly decide nothing. `limits` are what the statistic can be at all: an interval is told no further, and
    decided as it was. An `identity` holds if no error exceeds the threshold; it has no interval. `scales` are those
    at which there is what it speaks of: at others it is not asked.
    """

    id: str
    paper: str
    figure: str
    statement: str
    statistic: str
    measure: Callable[[Tables], PerSeed]
    threshold: float
    side: Literal["above", "below", "within"]
    kind: Literal["empirical", "identity"] = "empirical"
    transform: Literal["none", "log", "fisher"] = "none"
    interval: Literal["student", "proportion"] = "student"
    resolution: float = 0.0
    limits: tuple[float, float] = (-math.inf, math.inf)
    scales: tuple[str, ...] = ("tiny", "small", "paper")

    def __post_init__(self) -> None:
        def wrong(what: str) -> InputError:
            return InputError(f"claim '{self.id}': {what}")

        for name, known in (
            ("side", SIDES),
            ("kind", ("empirical", "identity")),
            ("transform", tuple(TRANSFORMS)),
            ("interval", ("student", "proportion")),
        ):
            if getattr(self, name) not in known:
                raise unknown(name, getattr(self, name), known, where=f"claim '{self.id}'")
        if not math.isfinite(self.threshold) or not math.isfinite(self.resolution) or self.resolution < 0:
            raise wrong("threshold and resolution must be finite, the resolution not negative")
        if not self.limits[0] <= self.threshold <= self.limits[1]:
            raise wrong("the threshold must lie within the limits of the statistic")
        if self.transform == "log" and self.threshold <= 0:
            raise wrong("a log-scale threshold must be positive")
        if self.transform == "fisher" and abs(self.threshold) >= math.tanh(FISHER_LIMIT):
            raise wrong(f"a correlation threshold must lie within ±{math.tanh(FISHER_LIMIT):.3f}")
        if self.side == "within" and self.bar <= 0:
            raise wrong("'within' needs a positive threshold (above 1 on the log scale)")
        if self.kind == "identity" and (
            self.side != "below" or self.transform != "none" or self.threshold < 0
        ):
            raise wrong("an identity bounds an error: side 'below', no transform, threshold not negative")
        if self.interval == "proportion" and (self.transform != "none" or not 0 <= self.threshold <= 1):
            raise wrong("a proportion has no transform and a threshold between 0 and 1")

    @property
    def bar(self) -> float:
        """The threshold on the transformed scale."""
        return float(TRANSFORMS[self.transform][0](np.array(self.threshold)))

    @property
    def floor(self) -> float | None:
        """The lower threshold of an equivalence."""
        if self.side != "within":
            return None
        return 1 / self.threshold if self.transform == "log" else -self.threshold

    @property
    def criterion(self) -> str:
        """What has to be true of the interval, in words."""
        if self.kind == "identity":
            return f"at most {self.threshold:g}"
        if self.floor is None:
            return f"{self.side} {self.threshold:g}"
        return f"within {self.floor:.4g} … {self.threshold:.4g}"

    def transformed(self, values: PerSeed) -> PerSeed:
        """The per-seed values on the scale where the interval is taken."""
        if self.transform == "log" and (np.isfinite(values.low) & (values.low < 0)).any():
            raise InputError(f"claim '{self.id}': a log-scale statistic has a negative value")
        return values.map_increasing(TRANSFORMS[self.transform][0])

    def restored(self, value: float) -> float:
        """A number on the transformed scale, back in the units and within the limits of the statistic."""
        return float(np.clip(TRANSFORMS[self.transform][1](np.array(value)), *self.limits))


def definitions_hash(claims: Sequence[Claim]) -> str:
    """A fingerprint of what claims say and of everything declared that fixes the verdicts beforehand; their order is
    immaterial. What computes the statistic is code, and no part of it."""
    fixed = sorted(
        [
            *(c.id, c.paper, c.figure, c.statement, c.statistic, c.kind, c.side, c.transform, c.interval),
            *(float(number).hex() for number in (c.threshold, c.resolution)),
        ]
        for c in claims
    )
    return hashlib.sha256(json.dumps(fixed).encode()).hexdigest()[:16]
