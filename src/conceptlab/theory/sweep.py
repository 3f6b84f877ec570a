"""How often does Swing-by happen? Thousands of random UUᵀ starts for every cell of a grid.

The paper shows that Swing-by can happen; this counts. Every seed is integrated to convergence by the adaptive
flow, without a learning rate to choose, and its OOD curve handed to the detector.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from conceptlab.errors import InputError
from conceptlab.theory.integrate import Batch
from conceptlab.theory.jacobian import ood_loss
from conceptlab.theory.sim import Sim
from conceptlab.theory.swing import find_swings, swing_size
from conceptlab.theory.symmetric import gaussian_start, velocity

Floats = NDArray[np.float64]

_RTOL, _ATOL = 1e-7, 1e-9  # swings then agree with a far finer run to 1e-3: tested
_POINTS = 4  # of the OOD curve per step
_SETTLED = 1e-5  # share of the starting loss below which a seed is finished


@dataclass(frozen=True)
class Cell:
    """One cell of the map: dimension, initial scale τ (U(0) ~ N(0, τ²)) and strength ratio.

    s = d concepts, strengths geometrically spaced from a_1 to a_d = ratio·a_1; for d = 2 that is a_2/a_1.
    """

    d: int
    scale: float
    ratio: float

    def sim(self, sigma: float = 0.05) -> Sim:
        """The SIM task with these strengths and mu_1 = 1."""
        if self.d < 2 or self.ratio < 1 or self.scale <= 0:
            raise InputError(
                f"no such cell: d={self.d} ≥ 2, ratio={self.ratio} ≥ 1, scale={self.scale} > 0 needed"
            )
        weakest = sigma**2 + 1 / self.d
        strengths = weakest * self.ratio ** (np.arange(self.d) / (self.d - 1))
        return Sim(tuple(np.sqrt(self.d * (strengths - sigma**2)).tolist()), sigma)


@dataclass(frozen=True)
class CellResult:
    """What became of every seed of a cell; arrays are (B,), losses in units of the starting OOD loss.

    `swing` is the largest noise level at which the seed's curve still falls, rises and falls again, so any
    level can be applied afterwards; `descents` counts descents at the level `noise`. `pull` is the stratum: the
    sign of Σ_{i≠j} mu_i mu_j w_ij(0), for d = 2 that of w_12(0): whether the initial minor entries point
    towards the composition (+1) or away from it (-1). `settled` is false for a seed stopped at `max_steps`.
    """

    cell: Cell
    seeds: NDArray[np.int64]
    noise: float
    swing: Floats
    descents: NDArray[np.int64]
    pull: NDArray[np.int64]
    settled: NDArray[np.bool_]

    def share(self, noise: float | None = None, pull: int | None = None) -> float:
        """Share of seeds that swing above the noise level, of all or of one stratum (NaN if it is empty)."""
        swinging = self.swing > (self.noise if noise is None else noise)
        chosen = swinging if pull is None else swinging[self.pull == pull]
        return float(chosen.mean()) if chosen.size else float("nan")


def grid(
    dimensions: Sequence[int] = (2, 4, 8, 16),
    scales: Sequence[float] = (1e-3, 1e-2, 1e-1, 1.0),
    ratios: Sequence[float] = (1.0, 1.5, 2.0, 4.0, 8.0),
) -> list[Cell]:
    """The cells of the map, in order."""
    return [Cell(d, scale, ratio) for d, scale, ratio in itertools.product(dimensions, scales, ratios)]


def run_cell(cell: Cell, seeds: Sequence[int], *, noise: float = 0.01, max_steps: int = 20_000) -> CellResult:
    """Integrate every seed of a cell until it has settled, and measure its swing."""
    if not len(seeds):
        raise InputError("a cell of the map needs at least one seed")
    sim = cell.sim()
    point = sim.composition()
    u0 = gaussian_start(cell.scale, cell.d, seeds)
    curves, settled = ood_curves(u0, sim.strengths, point, max_steps=max_steps)
    w0 = u0 @ u0.mT
    minors = w0 - torch.diag_embed(torch.diagonal(w0, dim1=-2, dim2=-1))
    pull = torch.sign((minors @ point) @ point).long().numpy()
    return CellResult(
        cell=cell,
        seeds=np.asarray(seeds, dtype=np.int64),
        noise=noise,
        swing=swing_size(curves),
        descents=find_swings(curves, noise).descents,
        pull=pull,
        settled=settled,
    )


def ood_curves(
    u0: Tensor, strengths: Tensor, point: Tensor, *, max_steps: int, rtol: float = _RTOL
) -> tuple[Floats, NDArray[np.bool_]]:
    """OOD loss over its start (B, T), along each member's own steps, and whether the member settled.

    A member is finished once ½‖W-I‖²_F‖x‖² < 1e-5 of its starting loss: near the solution every entry of W-I
    decays (w_ij at rate 2(a_i+a_j)), so no later rise can exceed that. It then keeps its last value.
    """
    identity = torch.eye(u0.shape[-1], dtype=torch.float64)
    initial = ood_loss(u0 @ u0.mT, point)
    bound = _SETTLED * initial / (0.5 * point.square().sum())
    batch = Batch(lambda u: velocity(u, strengths), u0, rtol=rtol, atol=_ATOL)
    members = torch.arange(len(u0))
    latest = torch.ones(len(u0), dtype=torch.float64)
    columns = [latest]
    while len(members) and len(columns) <= max_steps * _POINTS:
        left = (batch.t, batch.y, batch.slope)
        batch.step(until=float("inf"))
        for y in _between(*left, batch):
            latest = latest.clone()
            # ½‖U(Uᵀx) - x‖²: two matrix–vector products instead of forming W
            image = (y @ (y.mT @ point[:, None])).squeeze(-1)
            latest[members] = 0.5 * (image - point).square().sum(-1) / initial[members]
            columns.append(latest)
        residual = batch.y @ batch.y.mT - identity
        unfinished = residual.square().sum(dim=(1, 2)) >= bound[members]
        # Dropping a few members at a time costs more in copies than it saves.
        if int(unfinished.sum()) <= 0.9 * len(members):
            batch.select(unfinished)
            members = members[unfinished]
    settled = torch.ones(len(u0), dtype=torch.bool)
    settled[members] = False
    return torch.stack(columns, dim=1).numpy(), settled.numpy()


def _between(t: Tensor, y: Tensor, slope: Tensor, batch: Batch) -> Iterator[Tensor]:
    """_POINTS states along the last step, its end included, on the cubic through both ends and their slopes.

    Steps are long where the motion is smooth, and a valley between two of them would be cut off.
    """
    h = (batch.t - t).reshape(-1, 1, 1)  # 0 for a member whose step was rejected: it stays where it is
    for k in range(1, _POINTS):
        x = k / _POINTS
        left, right = (1 + 2 * x) * (1 - x) ** 2, x**2 * (3 - 2 * x)
        yield left * y + right * batch.y + h * (x * (1 - x) ** 2 * slope - x**2 * (1 - x) * batch.slope)
    yield batch.y
