"""Gaussian data, for which the best possible denoiser is known: x ~ N(mean, covariance)."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from conceptlab.diffusion import Process, target


@dataclass
class Gaussian:
    mean: Tensor = field(default_factory=lambda: torch.tensor([1.0, -0.5, 0.3], dtype=torch.float64))
    covariance: Tensor = field(
        default_factory=lambda: torch.tensor(
            [[0.5, 0.3, 0.0], [0.3, 0.8, -0.2], [0.0, -0.2, 0.1]], dtype=torch.float64
        )
    )

    def draw(self, n: int, seed: int = 0) -> Tensor:
        noise = torch.randn(
            n, len(self.mean), dtype=torch.float64, generator=torch.Generator().manual_seed(seed)
        )
        return self.mean + noise @ torch.linalg.cholesky(self.covariance).T

    def best(self, kind: str, z: Tensor, alpha: Tensor, sigma: Tensor) -> Tensor:
        """The conditional expectation of the target given z, for one noise level.

        E[x | z] = mean + alpha C (alpha² C + sigma²)⁻¹ (z - alpha mean); eps follows since z is given, and v
        is linear in both.
        """
        gain = alpha * torch.linalg.solve(
            alpha**2 * self.covariance + sigma**2 * torch.eye(len(self.mean), dtype=z.dtype), self.covariance
        )
        x0 = self.mean + (z - alpha * self.mean) @ gain
        return target(kind, x0, (z - alpha * x0) / sigma, alpha, sigma)

    def predictor(self, kind: str, process: Process):
        """`predict(z, time)` for a process whose network time is the time itself."""

        def predict(z: Tensor, time: Tensor) -> Tensor:
            return self.best(kind, z, *process.alpha_sigma(time[0].double()))

        return predict
