"""The symmetric two-layer network f(x) = UUᵀx on SIM, the paper's model of Swing-by (yang2025).

Always integrated on U, never on W = UUᵀ: a step taken on W can lose positive semi-definiteness, and with it
the meaning of the run (see `artefacts`). Everything is float64 and batched: U is (d, h) or (B, d, h).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from conceptlab.errors import InputError
from conceptlab.theory.integrate import integrate
from conceptlab.theory.jacobian import check_strengths


def velocity(u: Tensor, strengths: Tensor) -> Tensor:
    """dU/dt = -[(W-I)A + A(W-I)]U with W = UUᵀ: minus the gradient of ½‖(W-I)A^½‖²_F with respect to U."""
    # For diagonal A, [(W-I)A + A(W-I)]_ij = (w_ij - δ_ij)(a_i + a_j).
    pair = strengths[:, None] + strengths[None, :]
    return (2 * strengths)[:, None] * u - ((u @ u.mT) * pair) @ u


def flow(
    u0: Tensor, strengths: Tensor, times: Sequence[float] | Tensor, *, rtol: float = 1e-9, atol: float = 1e-12
) -> Tensor:
    """U (T, …, d, h) under gradient flow at increasing times."""
    u, a = _check(u0, strengths)
    batch = u.reshape(-1, *u.shape[-2:])
    path = integrate(lambda y: velocity(y, a), batch, times, rtol=rtol, atol=atol)
    return path.reshape(len(path), *u.shape)


def descent(u0: Tensor, strengths: Tensor, eta: float, steps: int, *, every: int = 1) -> Tensor:
    """U (T, …, d, h) under gradient descent with rate eta, at steps 0, every, 2·every, … ≤ steps."""
    u, a = _check(u0, strengths)
    if not eta > 0:
        raise InputError(f"the learning rate is {eta}; it must be positive")
    if steps < 0 or every < 1:
        raise InputError(f"cannot record every {every} of {steps} steps; need every ≥ 1 and steps ≥ 0")
    # I + 2ηA and η(a_i+a_j), computed once: a step is two products and three element-wise operations.
    gain = (1 + 2 * eta * a)[:, None]
    pair = eta * (a[:, None] + a[None, :])
    path = [u]
    for step in range(1, steps + 1):
        u = gain * u - ((u @ u.mT) * pair) @ u
        if step % every == 0:
            path.append(u)
    if not bool(torch.isfinite(u).all()):
        raise InputError(f"gradient descent diverged within {steps} steps at learning rate {eta}; lower it")
    return torch.stack(path)


def jacobian(u: Tensor) -> Tensor:
    """W = UUᵀ, the Jacobian of the network."""
    return u @ u.mT


def correlated_start(scale: float, correlation: float, d: int = 2) -> Tensor:
    """U(0) with W(0) = scale·[(1-c)I + c11ᵀ]: every pair of rows correlated by c, as in the reference runs."""
    if scale <= 0:
        raise InputError(f"the initial scale is {scale}; it must be positive")
    if d < 1:
        raise InputError(f"a network of d={d} dimensions does not exist; d must be at least 1")
    lowest = -1.0 if d == 1 else -1 / (d - 1)
    if not lowest <= correlation <= 1:
        raise InputError(f"no {d} vectors all correlate by {correlation}; it must lie in [{lowest:.3g}, 1]")
    # (1-c)I + c11ᵀ has eigenvalue 1+(d-1)c on 1 and 1-c elsewhere; its symmetric root is exact also at the ends.
    ones = torch.full((d, d), 1 / d, dtype=torch.float64)
    along = math.sqrt(max(1 + (d - 1) * correlation, 0.0)) if d > 1 else 1.0
    across = math.sqrt(max(1 - correlation, 0.0))
    return math.sqrt(scale) * (along * ones + across * (torch.eye(d, dtype=torch.float64) - ones))


def gaussian_start(scale: float, d: int, seeds: Sequence[int], h: int | None = None) -> Tensor:
    """U(0) (B, d, h) with independent entries N(0, scale²), one member per seed."""
    if scale <= 0:
        raise InputError(f"the initial scale is {scale}; it must be positive")
    width = d if h is None else h
    draws = [
        torch.randn(d, width, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        for seed in seeds
    ]
    return scale * torch.stack(draws)


def uniform_start(scale: float, d: int, seeds: Sequence[int]) -> Tensor:
    """U(0) (B, d, d) with entries U[0, scale): the paper's scripts (Figures 5 and 8–10 use 1/5 and 1/10)."""
    if scale <= 0:
        raise InputError(f"the initial scale is {scale}; it must be positive")
    draws = [
        torch.rand(d, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) for seed in seeds
    ]
    return scale * torch.stack(draws)


def _check(u0: Tensor, strengths: Tensor) -> tuple[Tensor, Tensor]:
    if u0.ndim < 2:
        raise InputError(f"U(0) has shape {tuple(u0.shape)}; it must be (d, h) or (B, d, h)")
    if not bool(torch.isfinite(u0).all()):
        raise InputError("U(0) holds values that are not finite")
    return u0.to(torch.float64), check_strengths(strengths, u0.shape[-2])
