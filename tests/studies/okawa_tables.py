"""For every claim of okawa2023: tables in which its statistic takes given values, one for each seed.

`VALUES` build tables from the statistic itself; `TRENDS` from a matrix (seeds, settings) whose order along the settings
the claim correlates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import product

import numpy as np
import pandas as pd

from conceptlab.studies.okawa2023.recipes import ADVERSARIAL, TIED

Tables = dict[str, pd.DataFrame]
Array = np.ndarray

_BOUNDS = {"first": 1.0, "last": 1e9}


def _frame(values: Array, **columns: object) -> pd.DataFrame:
    """A row for each seed; columns are constants or arrays over seeds."""
    return pd.DataFrame({"seed": np.arange(len(values)), **columns})


def _settings(matrix: Array, setting: str, result: str, **constant: object) -> pd.DataFrame:
    """A row for each seed and setting 0, 1, 2, …, in one go: these are built many times."""
    seeds, settings = matrix.shape
    numbers = {
        "seed": np.repeat(np.arange(seeds), settings),
        setting: np.tile(np.arange(settings, dtype=float), seeds),
    }
    return pd.DataFrame({**numbers, result: matrix.ravel(), **constant})


def _join(parts: list[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(parts, ignore_index=True)


def _order(distances: int, **labels: str) -> Callable[[Array], Tables]:
    """Times that grow by the same factor from distance to distance."""

    def build(v: Array) -> Tables:
        parts = [_frame(v, distance=d, time=100 * v**d, **labels, **_BOUNDS) for d in range(distances)]
        return {"times": _join(parts)}

    return build


def _held_out(v: Array) -> Tables:
    rows = {"step": 10, "distance": 1, "variable": "", "measure": "accuracy"}
    return {"curves": _join([_frame(v, value=v, **rows), _frame(v, value=1.0, **rows)])}


def _bottleneck(v: Array) -> Tables:
    times = {"joint": 100 * v, "colour": 100.0, "shape": 40.0}
    return {"bottleneck": _join([_frame(v, variable=k, time=t, **_BOUNDS) for k, t in times.items()])}


def _rules(v: Array) -> Tables:
    errors = {"product": 0.1 * v, "minimum": 0.1, "Fréchet bound": 0.3, "middle": 0.2}
    rules = _join([_frame(v, rule=rule, error=error) for rule, error in errors.items()])
    return {"rules": rules, "curves": _frame(v)}


def _gender(v: Array) -> Tables:
    """Men later by the value at both distances that have women, too; how late 111 is, alone at its own, is all one."""
    times = {("male", 0): 100 * v, ("female", 0): 100.0, ("male", 1): 500 * v, ("female", 1): 500.0}
    return gender({**times, ("male", 2): 1e6})


def gender(times: Mapping[tuple[str, int], Array | float], seeds: int = 5) -> Tables:
    """When each gender is drawn right at each distance."""
    parts = [
        _frame(np.zeros(seeds), gender=name, distance=distance, time=time, **_BOUNDS)
        for (name, distance), time in times.items()
    ]
    return {"gender": _join(parts)}


def _predicts(v: Array) -> Tables:
    """At distance 3 as the value says against what is never drawn, at distance 2 better against distance 1's curve."""
    near = _frame(v, variables=3, distance=2, rmse=0.05 * v, null=0.1, never=0.9)
    return {"fits": _join([near, _frame(v, variables=4, distance=3, rmse=0.2 * v, null=0.5, never=0.2)])}


def _disagreement(v: Array) -> Tables:
    return {
        "disagreement": _join(
            [_frame(v, value=v, **{"class": "111"}), _frame(v, value=0.0, **{"class": "000"})]
        )
    }


def _critical(v: Array) -> Tables:
    parts = [
        _frame(v, series=series, teaches="x", role=role, variable="", time=time, **_BOUNDS)
        for series in ("001", "100")
        for role, time in (("in", 20.0), ("out", 20 * v))
    ]
    return {"critical": _join(parts)}


def _own(shape: float, colour: float) -> Callable[[Array], Tables]:
    """Critical numbers of shape and colour; a factor of 0 stands for the value itself."""

    def build(v: Array) -> Tables:
        numbers = {"shape": shape or 20 * v, "colour": colour or 10 * v}
        return {"critical": _join([_frame(v, teaches=k, variable=k, role="in", time=n, **_BOUNDS)
                                   for k, n in numbers.items()])}  # fmt: skip

    return build


def _predicted(v: Array) -> Tables:
    parts = [_frame(v, teaches=name, predicted=30.0, time=30 * v) for name in ("shape", "size")]
    return {"predicted": _join([*parts, _frame(v, teaches="colour", predicted=10.0, time=1e6)])}


def _tuned(v: Array, value: Array | float, mode: str, role: str, cls: str, added: str = "") -> pd.DataFrame:
    labels = {
        "set": " ".join(ADVERSARIAL),
        "rate": 1.0,
        "mode": mode,
        "role": role,
        "class": cls,
        "added": added,
    }
    return _frame(v, value=value, **labels)


def _misgeneralised(v: Array) -> Tables:
    """Small circles drawn as triangles of either colour, as what they are, and not at all."""
    shares = {"110": 0.6 * v, "111": 0.4 * v, "010": 0.7 * (1 - v), "nothing": 0.3 * (1 - v)}
    parts = [
        _tuned(v, share, "before", "unseen", cls).assign(drawn=drawn)
        for cls in ("010", "011")
        for drawn, share in shares.items()
    ]
    return {"drawn": _join(parts)}


def _unrepaired(v: Array) -> Tables:
    """Red small circles were wrong before; the blue ones were not, and do not count."""
    before = [_tuned(v, 0.1, "before", "unseen", "010"), _tuned(v, 0.9, "before", "unseen", "011")]
    after = {"010": v, "011": 1.0}
    kept = [_tuned(v, value, "old data kept", "unseen", cls, "101") for cls, value in after.items()]
    return {"finals": _join([*before, *kept, _tuned(v, 1.0, "new class alone", "unseen", "010", "101")])}


def _overwritten(v: Array) -> Tables:
    """Both a class that was trained and one that was composed fall by as much; one that was wrong, and one that is
    added, do not count."""
    right = {"000": ("old", 0.9), "101": ("unseen", 0.85), "010": ("unseen", 0.3), "011": ("unseen", 0.95)}
    parts = [_tuned(v, value, "before", role, cls) for cls, (role, value) in right.items()]
    for added, cls in product(("010", "011"), right):
        role, value = right[cls]
        after = 1.0 if cls in (added, "010") else value - v
        parts.append(_tuned(v, after, "old data kept", "new" if cls == added else role, cls, added))
    return {"finals": _join(parts)}


def _insufficient(v: Array) -> Tables:
    """The first set is as good as the value says, the others worse; a class that was never wrong does not count."""
    parts = []
    for i, train in enumerate(TIED):
        after = {"011": v - 0.1 * i, "110": 1.0}
        for cls, before in (("011", 0.1), ("110", 0.9)):
            rows = [
                _tuned(v, before, "before", "unseen", cls),
                _tuned(v, after[cls], "old data kept", "unseen", cls),
            ]
            parts += [row.assign(set=" ".join(train)) for row in rows]
    return {"finals": _join(parts)}


def _ways(earlier: tuple[str, str], later: tuple[str, str]) -> Callable[[Array], Tables]:
    def build(v: Array) -> Tables:
        parts = [
            _frame(v, way=way, role=role, time=time, **_BOUNDS)
            for (way, role), time in ((earlier, 100.0), (later, 100 * v))
        ]
        return {"times": _join(parts)}

    return build


def _delay(y: Array) -> Tables:
    return {"times": _settings(np.exp(-y), "share", "time", way="drawn rarely", role="out")}


def _departures(y: Array) -> Tables:
    return {"departures": _settings(-y, "correlation", "value")}


def _weighted(y: Array) -> Tables:
    times = _settings(np.exp(y), "weighted", "time")
    return {"times": times.assign(distance=1 + (times["weighted"] == times["weighted"].max()))}


def _widens(first: str, second: str, other: str) -> Callable[[Array], Tables]:
    """As much better where values spread most as the value says; what lies between, and another class, do not count."""

    def tables(v: Array) -> Tables:
        finals = {first: (0.2, 0.9, 0.2 + v), second: (0.1, 0.0, 0.1 + v), other: (1.0, 1.0, 0.0)}
        parts = [
            _frame(v, spread=spread, value=value, **{"class": cls})
            for cls, values in finals.items()
            for spread, value in zip((0.0, 0.04, 0.11), values)
        ]
        return {"finals": _join(parts)}

    return tables


VALUES: dict[str, Callable[[Array], Tables]] = {
    "fig5.order": _order(3),
    "fig5.held-out": _held_out,
    "fig6.sudden": lambda v: {"rises": _frame(v, product=v, mean=1.0)},
    "fig6.bottleneck": _bottleneck,
    "fig6.product": _rules,
    "fig7.predicts": _predicts,
    "fig8.out-of-distribution": _critical,
    "fig8.colour-before-shape": _own(shape=0.0, colour=20.0),
    "fig8.ten": _own(shape=1.0, colour=0.0),
    "fig9.misgeneralises": _misgeneralised,
    "fig9.not-repaired": _unrepaired,
    "fig9.overwrites": _overwritten,
    "fig10.order": _order(3),
    "fig10.gender": _gender,
    "fig13.probes": _disagreement,
    "fig16.order": _order(4),
    "frequency.composing": _ways(("drawn rarely", "in"), ("drawn rarely", "out")),
    "frequency.balancing": _ways(("balanced", "out"), ("natural", "out")),
    "centres.on-average": _order(3, centre="000"),
    "centres.everywhere": _order(3, centre="000"),
    "finetune.insufficient": _insufficient,
    "threshold.predicted": _predicted,
    "spread.composes": _widens("110", "111", "101"),
    "unseen.carries-on": _widens("001", "101", "111"),
    "ablation.order": _order(3, switch="base"),
    "sampling.agree": lambda v: {"sampling": _frame(v, difference=v)},
}

TRENDS: dict[str, Callable[[Array], Tables]] = {
    "frequency.delay": _delay,  # later where rarer
    "correlation.leaves-product": _departures,  # further below the product
    "distance.beyond-hamming": _weighted,
}
"""Rising numbers are what each of them claims."""


def toy(error: float) -> Tables:
    closed = np.linspace(0, 1, 5)
    return {"toy": pd.DataFrame({"n": 1, "closed": closed, "simulated": closed + error * np.eye(5)[2]})}


def around(threshold: float, log: bool, shifts: Array) -> Array:
    """Values at a threshold times or plus shifts."""
    return (
        threshold * np.exp(shifts)
        if log
        else threshold + shifts * min(0.2, threshold or math.inf, 1 - threshold or math.inf)
    )
