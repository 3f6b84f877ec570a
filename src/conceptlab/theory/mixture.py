"""Gaussian mixtures under noise: everything a diffusion model estimates, in closed form.

Noise of standard deviation sigma is added: p_sigma = p * N(0, sigma² I). A variance-preserving process is the same up
to scale: z = alpha x + s eps has the noise level sigma = s / alpha, and its score is that of z / alpha over alpha.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from conceptlab.errors import InputError


@dataclass(frozen=True, eq=False)
class Mixture:
    """K Gaussians in d dimensions, float64: weights (K,), means (K, d), covariances (K, d, d)."""

    weights: Tensor
    means: Tensor
    covariances: Tensor

    def __post_init__(self) -> None:
        for name in ("weights", "means", "covariances"):
            object.__setattr__(self, name, torch.as_tensor(getattr(self, name), dtype=torch.float64))
        k, d = self.means.shape
        if self.weights.shape != (k,) or self.covariances.shape != (k, d, d):
            raise InputError(
                f"a mixture of {k} components in {d} dimensions needs weights ({k},) and covariances ({k}, {d}, {d}); "
                f"got {tuple(self.weights.shape)} and {tuple(self.covariances.shape)}"
            )
        if not (self.weights >= 0).all() or abs(float(self.weights.sum()) - 1) > 1e-9:
            raise InputError("the weights of a mixture must be 0 or more and add up to 1")

    @property
    def dimension(self) -> int:
        return self.means.shape[1]

    @property
    def mean(self) -> Tensor:
        """The mean of the whole, (d,)."""
        return self.weights @ self.means

    def marginal(self, pixels: Sequence[int]) -> Mixture:
        """The distribution of some of the coordinates."""
        kept = torch.as_tensor(list(pixels), dtype=torch.int64)
        covariances = self.covariances[:, kept][:, :, kept]
        return Mixture(self.weights, self.means[:, kept], covariances)

    def log_density(self, x: Tensor, sigma: float) -> Tensor:
        """log p_sigma(x) for x (…, d)."""
        return torch.logsumexp(self._joint_log(x, sigma)[0], dim=-1)

    def score(self, x: Tensor, sigma: float) -> Tensor:
        """∇ log p_sigma(x): the mean over components, given x, of -(C + sigma² I)⁻¹ (x - m)."""
        logs, solved = self._joint_log(x, sigma)
        return -(torch.softmax(logs, dim=-1)[..., None] * solved).sum(-2)

    def score_jacobian(self, x: Tensor, sigma: float) -> Tensor:
        """∂ score_i / ∂ x_j (B, d, d) for x (B, d): the Hessian of the log density, by automatic differentiation."""
        hessian = torch.func.hessian(lambda point: self.log_density(point, sigma))
        found = torch.func.vmap(hessian)(x)
        assert isinstance(found, Tensor)
        return found

    def draw(self, n: int, sigma: float, seed: int) -> Tensor:
        """n points of p_sigma."""
        generator = torch.Generator().manual_seed(seed)
        chosen = torch.multinomial(self.weights, n, replacement=True, generator=generator)
        factors = torch.linalg.cholesky(self._noised(sigma))
        white = torch.randn(n, self.dimension, 1, generator=generator, dtype=torch.float64)
        return self.means[chosen] + (factors[chosen] @ white)[..., 0]

    def _noised(self, sigma: float) -> Tensor:
        return self.covariances + sigma**2 * torch.eye(self.dimension, dtype=torch.float64)

    def _joint_log(self, x: Tensor, sigma: float) -> tuple[Tensor, Tensor]:
        """log (weight · density) of every component (…, K), and (C + sigma² I)⁻¹ (x - m) (…, K, d)."""
        noised = self._noised(sigma)
        away = x[..., None, :] - self.means
        solved = (torch.linalg.inv(noised) @ away[..., None])[..., 0]
        squared = (away * solved).sum(-1)
        constant = torch.logdet(noised) + self.dimension * math.log(2 * math.pi)
        return self.weights.log() - (squared + constant) / 2, solved


def product(parts: Sequence[tuple[Sequence[int], Mixture]]) -> Mixture:
    """Independent mixtures on disjoint coordinates as **one** joint mixture over all of them: a component for every
    combination of components, the last part's index running fastest."""
    pixels = [list(where) for where, _ in parts]
    together = [pixel for where in pixels for pixel in where]
    d = len(together)
    if sorted(together) != list(range(d)):
        raise InputError(f"the parts must cover the coordinates 0 … {d - 1} once each; they cover {together}")
    numbers = [torch.arange(len(part.weights)) for _, part in parts]
    chosen = torch.cartesian_prod(*numbers).reshape(-1, len(parts))
    weights = torch.ones(len(chosen), dtype=torch.float64)
    means = torch.zeros(len(chosen), d, dtype=torch.float64)
    covariances = torch.zeros(len(chosen), d, d, dtype=torch.float64)
    for place, (where, (_, part)) in enumerate(zip(pixels, parts)):
        own = chosen[:, place]
        weights = weights * part.weights[own]
        means[:, where] = part.means[own]
        rows, columns = torch.meshgrid(torch.tensor(where), torch.tensor(where), indexing="ij")
        covariances[:, rows, columns] = part.covariances[own]
    return Mixture(weights, means, covariances)
