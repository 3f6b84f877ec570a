"""Claims whose per-seed values are given outright."""

from __future__ import annotations

import numpy as np

from conceptlab.claims import Claim, PerSeed, judge


def claim(values=(), **changes) -> Claim:
    """A claim whose per-seed values are given outright, or by `measure`."""
    settings = {
        "id": "c1",
        "paper": "paper",
        "figure": "fig1",
        "statement": "It grows.",
        "statistic": "growth per seed",
        "measure": lambda tables: PerSeed.exact(dict(enumerate(np.asarray(values, dtype=float)))),
        "threshold": 0.0,
        "side": "above",
    }
    return Claim(**(settings | changes))


def verdict(values, scale="paper", **changes):
    return judge([claim(values, **changes)], {}, scale)[0]
