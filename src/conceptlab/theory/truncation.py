"""Gaussians cut off outside a ball: the chance to lie inside, and the variances that remain.

Q = Σ v_i χ²_1 is the squared length of a centred Gaussian with variances v. Its distribution function has no
elementary form when the variances differ, but its Laplace transform does, and all of that transform's
singularities lie on the negative real axis, where the fixed Talbot contour inverts it to about 1e-11.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conceptlab.errors import InputError

Floats = NDArray[np.float64]

_NODES = 24  # truncation error ~ 10^(-.6·24), rounding ~ e^(.4·24)·2e-16 ~ 3e-12: the balance in float64


def ball_probability(variances: Floats, radius: float) -> float:
    """P(‖x‖ ≤ radius) for x ~ N(0, diag(variances)); coordinates without variance never leave the ball."""
    if radius <= 0:
        raise InputError(f"the truncation radius is {radius}; it must be positive")
    active = np.asarray(variances, dtype=np.float64)
    active = active[active > 0]
    if active.size == 0:
        return 1.0
    return _weighted_chi_square_cdf(radius**2, active, np.ones_like(active))


def truncated_variances(variances: Floats, radius: float) -> Floats:
    """Var(x_i | ‖x‖ ≤ radius); the mean stays 0 and the covariance diagonal, by symmetry.

    x² φ(x) is, up to the factor v_i, the density of a coordinate with three degrees of freedom instead of one:
    Var_i = v_i · P(Q + v_i χ²_2 ≤ r²) / P(Q ≤ r²).
    """
    variances = np.asarray(variances, dtype=np.float64)
    inside = ball_probability(variances, radius)
    result = np.zeros_like(variances)
    active = np.flatnonzero(variances > 0)
    for place, index in enumerate(active):
        freedom = np.ones(active.size)
        freedom[place] = 3.0
        result[index] = variances[index] * _weighted_chi_square_cdf(radius**2, variances[active], freedom)
    return result / inside


def _weighted_chi_square_cdf(x: float, weights: Floats, freedom: Floats) -> float:
    """P(Σ w_i χ²_{h_i} ≤ x) by fixed Talbot inversion of Π(1+2 w_i z)^(-h_i/2) / z."""

    def transform(z: NDArray[np.complex128]) -> NDArray[np.complex128]:
        logs = np.log1p(2 * weights[:, None] * z)
        return np.exp(-0.5 * (freedom[:, None] * logs).sum(axis=0)) / z

    r = 2 * _NODES / (5 * x)
    theta = np.arange(1, _NODES) * np.pi / _NODES
    cot = 1 / np.tan(theta)
    z = r * theta * (cot + 1j)
    slope = theta + (theta * cot - 1) * cot
    inner = (np.exp(x * z) * transform(z) * (1 + 1j * slope)).real.sum()
    ends = 0.5 * (np.exp(r * x) * transform(np.array([r + 0j]))).real[0]
    return float(np.clip(r / _NODES * (ends + inner), 0.0, 1.0))
