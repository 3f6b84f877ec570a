"""Networks trained by SGD on SIM, as tidy tables in the coordinates of the concepts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from torch import Tensor

from conceptlab.studies.yang2025.settings import BATCH, START
from conceptlab.theory import (
    Network,
    Sim,
    Trained,
    crossing_times,
    find_swings,
    mean_squared_error_rate,
    train,
)
from conceptlab.theory.networks import Activation

RECORDS = 4
"""Records an epoch, unless a run asks for more: half-learning takes half an epoch at the fastest, and crossings are
interpolated between records."""
CURVE = 300
"""A curve in a table has at most so many moments: what can be drawn. Half-learning is found on all records, swings on
every update."""


@dataclass(frozen=True)
class Run:
    """One setting: the task, the network and how it is trained; `lr` is on the averaged squared error."""

    sim: Sim
    depth: int
    hidden: int
    lr: float
    samples: int
    epochs: int
    activation: Activation = "linear"
    records: int = RECORDS  # an epoch
    dense: int | None = None  # epochs recorded so often, later ones once; None: all

    @property
    def updates(self) -> int:
        """Updates an epoch."""
        return math.ceil(self.samples * self.sim.cluster_count / BATCH)

    @property
    def rate(self) -> float:
        """The learning rate on the theory's loss, which sums over coordinates."""
        return mean_squared_error_rate(self.lr, self.sim.dimension)

    def record(self) -> list[int]:
        """The numbers of updates after which to record."""
        dense = self.epochs if self.dense is None else min(self.dense, self.epochs)
        early = np.arange(dense * self.records + 1) * self.updates / self.records
        late = np.arange(dense + 1, self.epochs + 1) * self.updates
        return [round(step) for step in (*early, *late)]

    def train(self, seeds: Sequence[int], probes: Tensor | None = None) -> Trained:
        """Probe 0 is always the composition x_b."""
        network = Network.of_depth(self.depth, self.sim.dimension, self.hidden, self.activation)
        return train(
            self.sim,
            network,
            seeds,
            lr=self.rate,
            steps=self.updates * self.epochs,
            record=self.record(),
            scale=START,
            batch=BATCH,
            samples=self.samples,
            probes=probes,
        )

    def epoch(self, trained: Trained) -> np.ndarray:
        """Recorded moments in epochs."""
        return trained.steps / self.updates

    def half_epochs(self) -> list[float]:
        """Predicted half-learning epochs ln 2 / a_p of a one-layer network, one for each concept."""
        strengths = self.sim.strengths[: self.sim.s].tolist()
        return [math.log(2) / a / (self.rate * self.updates) for a in strengths]


def output_table(run: Run, trained: Trained, seeds: Sequence[int], probe: int = 0) -> pd.DataFrame:
    """Where the output at a probe is: `seed`, `epoch`, `x1` and `x2` along the first two concepts."""
    outputs = trained.outputs[:, :, probe, :2].double().numpy()
    return _curves(run, trained, seeds, {"x1": outputs[..., 0], "x2": outputs[..., 1]})


def loss_table(run: Run, trained: Trained, seeds: Sequence[int]) -> pd.DataFrame:
    """`seed`, `epoch`, and the losses as shares of their start: `ood` and `training`."""
    ood = _shares(trained.ood_loss)[trained.steps]
    losses = {"ood": ood, "training": _shares(trained.training_loss)}
    return _curves(run, trained, seeds, losses)


def drawn(records: int) -> np.ndarray:
    """Which of so many records a curve keeps: all if they are few; else all early ones, and later ones ever further
    apart. Networks move fast at first and then settle: evenly spaced moments would cut the corners of a swing."""
    if records <= CURVE:
        return np.arange(records)
    return np.unique(np.geomspace(1, records, CURVE).round().astype(int)) - 1


def _curves(
    run: Run, trained: Trained, seeds: Sequence[int], columns: Mapping[str, np.ndarray]
) -> pd.DataFrame:
    """Curves of (records, seeds) as drawn: `seed`, `epoch` and the columns, in single precision."""
    kept = drawn(len(trained.steps))
    epochs = run.epoch(trained)[kept]
    moments = {"seed": np.tile(np.asarray(seeds), len(kept)), "epoch": np.repeat(epochs, len(seeds))}
    values = {name: curves[kept].astype(np.float32).ravel() for name, curves in columns.items()}
    return pd.DataFrame({**moments, **values})


def half_table(run: Run, trained: Trained, seeds: Sequence[int]) -> pd.DataFrame:
    """When f(x_b)_p first reaches ½ mu_p: `seed`, `concept` (from 1), `time` in epochs (NaN: never
    by `last`), `predicted` for one layer."""
    epochs = run.epoch(trained)
    predicted = run.half_epochs()
    rows = []
    for p, mu in enumerate(run.sim.mu):
        curves = trained.outputs[:, :, 0, p].double().numpy() / mu
        for seed, time in zip(seeds, crossing_times(epochs, curves, 0.5), strict=True):
            reached = time if math.isfinite(time) else math.nan
            rows.append({"seed": seed, "concept": p + 1, "time": reached, "predicted": predicted[p]})
    return pd.DataFrame(rows).assign(last=float(run.epochs))


def swing_table(trained: Trained, seeds: Sequence[int], level: float) -> pd.DataFrame:
    """Whether each seed's OOD loss falls, rises by more than `level` of its start, and falls again. It is looked for on
    every update: a batch may lift the loss for so few that no record shows it."""
    found = find_swings(_shares(trained.ood_loss).T, level)
    return pd.DataFrame({"seed": seeds, "swings": found.swings_by, "rise": found.largest_ascent})


def _shares(loss: Tensor) -> np.ndarray:
    return (loss / loss[0]).double().numpy()
