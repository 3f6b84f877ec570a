"""Runs of the symmetric network UUᵀ as tables: random starts counted, one of them shown, a clear start beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from torch import Tensor

from conceptlab.studies.yang2025.settings import FINE_LEVEL, LEVEL
from conceptlab.theory import Sim, Swings, find_swings, ood_loss, roles, symmetric, training_loss

_BAND_STARTS = 20  # starts whose curves are kept for a band
_CHUNK = 50  # starts integrated at once: bounds memory, not results
_POINTS = 1000  # recorded along a run


@dataclass(frozen=True)
class Example:
    """A UUᵀ run by gradient descent: the task, the rate and how long; U(0) ~ U[0, scale) or given as `start`."""

    sim: Sim
    steps: int
    eta: float = 0.01
    scale: float = 0.1
    start: Tensor | None = None

    @property
    def every(self) -> int:
        return max(1, self.steps // _POINTS)

    @property
    def moments(self) -> np.ndarray:
        """Recorded numbers of steps."""
        return np.arange(0, self.steps + 1, self.every)

    def random_starts(self, count: int) -> Tensor:
        return symmetric.uniform_start(self.scale, self.sim.dimension, range(count))

    def jacobians(self, u0: Tensor, every: int | None = None) -> Tensor:
        """W (T, …, d, d) along gradient descent on U, as often as it is drawn unless told."""
        path = symmetric.descent(u0, self.sim.strengths, self.eta, self.steps, every=every or self.every)
        return symmetric.jacobian(path)


def count_starts(example: Example, count: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What random starts do: one row per start, and the OOD curves of the first few.

    `descents` counts above the fine level, `swings` says whether there are two above the coarse one, `rise` is
    the largest rise as a share of the start, and `minor_falls` whether w_12 fell during that rise (missing where
    there was none). They are found on every step: between two that are drawn a small rise may come and go.
    """
    rows, curves = [], []
    for first, u0 in _chunks(example.random_starts(count)):
        w = example.jacobians(u0, every=1)
        ood = ood_loss(w, example.sim.composition()).T.numpy()
        ood = ood / ood[:, :1]
        fine, coarse = find_swings(ood, FINE_LEVEL), find_swings(ood, LEVEL)
        frame = pd.DataFrame(
            {
                "seed": np.arange(first, first + len(u0)),
                "descents": fine.descents,
                "swings": coarse.swings_by,
                "rise": fine.largest_ascent,
                "minor_falls": _minor_falls(fine, w[:, :, 0, 1].numpy()),
            }
        )
        rows.append(frame)
        if first == 0:
            kept = min(_BAND_STARTS, len(u0))
            curves = [
                pd.DataFrame({"seed": seed, "step": example.moments, "ood": ood[seed, :: example.every]})
                for seed in range(kept)
            ]
    return pd.concat(rows, ignore_index=True), pd.concat(curves, ignore_index=True)


def _chunks(u0: Tensor) -> Iterator[tuple[int, Tensor]]:
    for first in range(0, len(u0), _CHUNK):
        yield first, u0[first : first + _CHUNK]


def _minor_falls(swings: Swings, minor: np.ndarray) -> list[float]:
    """1 where w_12 is lower at the end of the largest rise than at its beginning, 0 if not, NaN without a rise."""
    falls = []
    for start, (index, moves) in enumerate(zip(swings.index, swings.moves, strict=True)):
        if not swings.swings_by[start]:
            falls.append(np.nan)
            continue
        move = int(np.nanargmax(moves))
        falls.append(float(minor[index[move + 1], start] < minor[index[move], start]))
    return falls


def pick(starts: pd.DataFrame) -> int:
    """The start that is shown: the one with the most descents and, among those, the largest rise."""
    best = starts.sort_values(["descents", "rise"], ascending=False)
    return int(best["seed"].iloc[0])


PICKED = "the one with the most descents and the largest rise."


def run_tables(example: Example, u0: Tensor, run: str) -> dict[str, pd.DataFrame]:
    """One run: Jacobian `entries` with their role, `curves` of both losses, `outputs` at composition and centres."""
    sim = example.sim
    w = example.jacobians(u0)
    moments = example.moments
    parts = roles(sim.dimension, sim.s)
    entries = []
    for i in range(sim.dimension):
        for j in range(i, sim.dimension):
            role = next(name for name in parts._fields if getattr(parts, name)[i, j])
            labels = {"entry": f"{i + 1}{j + 1}", "role": role}
            entries.append(pd.DataFrame({"step": moments, "value": w[:, i, j].numpy(), **labels}))
    losses = {
        "step": moments,
        "ood": ood_loss(w, sim.composition()).numpy(),
        "training": training_loss(w, sim.strengths).numpy(),
    }
    named = {"composition": sim.composition()} | {f"centre {p + 1}": sim.centres[p] for p in range(sim.s)}
    outputs = []
    for point, x in named.items():
        out = (w @ x).numpy()
        columns = {"seed": 0, "epoch": moments, "point": point, "x1": out[:, 0], "x2": out[:, 1]}
        outputs.append(pd.DataFrame(columns))
    tables = {
        "entries": pd.concat(entries, ignore_index=True),
        "curves": pd.DataFrame(losses),
        "outputs": pd.concat(outputs, ignore_index=True),
    }
    return {name: table.assign(run=run) for name, table in tables.items()}


def example_tables(random: Example, count: int, clear: Example | None = None) -> dict[str, pd.DataFrame]:
    """Everything behind Figures 5, 8, 9, 17 and 18."""
    starts, band = count_starts(random, count)
    shown = pick(starts)
    runs = [run_tables(random, random.random_starts(shown + 1)[shown], "random")]
    if clear is not None and clear.start is not None:
        runs.append(run_tables(clear, clear.start, "clear"))
    joined = {name: pd.concat([run[name] for run in runs], ignore_index=True) for name in runs[0]}
    return {**joined, "starts": starts.assign(shown=starts["seed"] == shown), "band": band}


def turning_points(curve: np.ndarray) -> Swings:
    """Descents and ascents of one OOD curve at the fine level."""
    return find_swings(curve, FINE_LEVEL * curve[0])
