"""Structured identity mapping (SIM): the data of yang2025.

s Gaussian clusters sit on the first s axes of R^d at distance mu_p from the origin; the task is to copy the
input; the test is the point that combines all concepts, x_b = Σ mu_p e_p, which no cluster contains.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor

from conceptlab.errors import InputError, unknown
from conceptlab.theory.truncation import ball_probability, truncated_variances

Spread = Literal["deviation", "variance"]
_RAREST_BALL = 1e-4  # below this share inside the ball, rejection sampling would hardly ever end


class SimSample(NamedTuple):
    """Training points (N, d) and the cluster of each; the origin cluster, where there is one, is number s."""

    points: Tensor
    clusters: Tensor


@dataclass(frozen=True)
class Sim:
    """One SIM task; everything exact about it, and seeded draws from it.

    `sigma` is one number for the first s axes, one per concept, or one per axis; `spread` says whether it is a
    standard deviation (the paper's text) or a variance (the paper's scripts). `origin` adds the scripts' extra
    cluster at 0. `rotation` is the seed of a random rotation of everything. `radius` cuts every cluster off
    outside a ball around its centre (Figures 13–16: half the smallest mu).
    """

    mu: Sequence[float]
    sigma: Sequence[float] | float = 0.05
    d: int | None = None
    spread: Spread = "deviation"
    origin: bool = False
    rotation: int | None = None
    radius: float | None = None

    def __post_init__(self) -> None:
        if self.spread not in ("deviation", "variance"):
            raise unknown("spread", self.spread, ("deviation", "variance"), where="SIM")
        if self.s == 0:
            raise InputError("SIM needs at least one concept; mu is empty")
        if self.d is not None and self.s > self.d:
            raise InputError(f"SIM has s={self.s} concepts in d={self.d} dimensions; s must not exceed d")
        if not all(math.isfinite(m) for m in self.mu):
            raise InputError(f"SIM's mu must be finite numbers; got {tuple(self.mu)}")
        values = np.asarray(self.sigma, dtype=np.float64)
        if values.shape not in ((), (self.s,), (self.dimension,)):
            raise InputError(
                f"SIM got sigma of shape {values.shape} for s={self.s}, d={self.dimension}; "
                "give one number, s or d of them"
            )
        if not (np.isfinite(values) & (values >= 0)).all():
            raise InputError(f"SIM's sigma must be finite and not negative; got {self.sigma}")
        if self.radius is not None:
            share = ball_probability(self._full_variances, self.radius)
            if share < _RAREST_BALL:
                raise InputError(
                    f"only {share:.1e} of the points lie within radius {self.radius}; "
                    "raise the radius or lower sigma"
                )

    @property
    def s(self) -> int:
        """Number of concepts."""
        return len(self.mu)

    @property
    def dimension(self) -> int:
        """Dimension of the space: d, or s where d was not given."""
        return self.s if self.d is None else self.d

    @property
    def cluster_count(self) -> int:
        return self.s + int(self.origin)

    @cached_property
    def _full_variances(self) -> np.ndarray:
        """Per-axis variance before any truncation; a scalar or one sigma per concept leaves the rest at 0."""
        values = np.asarray(self.sigma, dtype=np.float64)
        result = np.zeros(self.dimension)
        result[: values.size if values.ndim else self.s] = values
        return result if self.spread == "variance" else result**2

    @cached_property
    def variances(self) -> Tensor:
        """Exact variance of a cluster along every axis, truncation included."""
        full = self._full_variances
        return torch.tensor(full if self.radius is None else truncated_variances(full, self.radius))

    @cached_property
    def strengths(self) -> Tensor:
        """a (d,), the diagonal of E[xxᵀ] in the unrotated frame: a_p = var_p + mu_p² / clusters.

        Without origin cluster and truncation this is yang2025's a_p = sigma_p² + mu_p²/s for p ≤ s, else 0.
        """
        means = torch.zeros(self.dimension, dtype=torch.float64)
        means[: self.s] = torch.tensor(self.mu, dtype=torch.float64) ** 2
        return self.variances + means / self.cluster_count

    @cached_property
    def axes(self) -> Tensor:
        """The rotation R (d, d): its columns are the concept axes in data space; the identity if unrotated."""
        if self.rotation is None:
            return torch.eye(self.dimension, dtype=torch.float64)
        generator = torch.Generator().manual_seed(self.rotation)
        gaussian = torch.randn(self.dimension, self.dimension, generator=generator, dtype=torch.float64)
        q, r = torch.linalg.qr(gaussian)
        # QR fixes columns up to sign; fixing it by R's diagonal makes the draw uniform over rotations.
        return q * torch.sign(torch.diagonal(r))

    @property
    def second_moment(self) -> Tensor:
        """Population A = E[xxᵀ] (d, d), exact."""
        return (self.axes * self.strengths) @ self.axes.T

    @cached_property
    def centres(self) -> Tensor:
        """Cluster centres (clusters, d); the origin, where there is one, comes last."""
        result = torch.zeros(self.cluster_count, self.dimension, dtype=torch.float64)
        index = torch.arange(self.s)
        result[index, index] = torch.tensor(self.mu, dtype=torch.float64)
        return result @ self.axes.T

    def composition(self, concepts: Sequence[int] | None = None) -> Tensor:
        """x_b = Σ mu_p e_p over the given concepts (all by default), e.g. the binary compositions of Fig 7."""
        chosen = range(self.s) if concepts is None else concepts
        if any(not 0 <= p < self.s for p in chosen):
            raise InputError(f"concepts {list(chosen)} do not all exist; SIM numbers them 0 to {self.s - 1}")
        return self.centres[list(chosen)].sum(dim=0)

    def to_axes(self, points: Tensor) -> Tensor:
        """Coordinates along the concept axes of points (…, d) in data space: undoes the rotation."""
        return points @ self.axes.to(points.dtype)

    def draw(self, n: int, seed: int) -> SimSample:
        """n points of every cluster, float64, the same for the same seed on any machine."""
        if n < 1:
            raise InputError(f"SIM cannot draw {n} points a cluster; ask for at least 1")
        generator = torch.Generator().manual_seed(seed)
        deviation = torch.tensor(self._full_variances).sqrt()
        total = n * self.cluster_count
        noise = _gaussian(total, deviation, generator)
        while self.radius is not None and (outside := noise.norm(dim=1) > self.radius).any():
            noise[outside] = _gaussian(int(outside.sum()), deviation, generator)
        clusters = torch.arange(self.cluster_count).repeat_interleave(n)
        return SimSample(self.centres[clusters] + noise @ self.axes.T, clusters)


def sample_second_moment(points: Tensor) -> Tensor:
    """Finite-sample XᵀX/N (…, d, d): what full-batch training on these points really sees."""
    return points.mT @ points / points.shape[-2]


def _gaussian(count: int, deviation: Tensor, generator: torch.Generator) -> Tensor:
    return torch.randn(count, len(deviation), generator=generator, dtype=torch.float64) * deviation
