"""The one-layer linear model f(x) = Wx on SIM: exact learning dynamics (yang2025).

The loss ½‖(W-I)A^½‖²_F has gradient (W-I)A, so W(t) = I + (W(0)-I)e^{-At} under gradient flow, and
W_n = I + (W_0-I)(I-ηA)^n under gradient descent. Coordinates with a_i = 0 never change.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from conceptlab.errors import InputError


class OutputTerms(NamedTuple):
    """The output of the network, split as the paper splits it; their sum is f(W(t), z). Shapes (T, …, d)."""

    growth: Tensor  # 1_{k≤s}(1-e^{-a_k t}) z_k: the identity being learnt
    noise: Tensor  # Σ_{a_i>0} e^{-a_i t} w_ki(0) z_i: the initialisation being forgotten
    frozen: Tensor  # Σ_{a_i=0} w_ki(0) z_i: what no training point ever corrects


def flow(moment: Tensor, w0: Tensor, times: Sequence[float] | Tensor) -> Tensor:
    """W(t) (T, …, d, d) under gradient flow from w0 (…, d, d); `moment` is A (d, d) or its diagonal (d,)."""
    times = torch.as_tensor(times, dtype=torch.float64)
    return _closed_form(moment, w0, lambda a: torch.exp(-a * times[:, None]))


def descent(moment: Tensor, w0: Tensor, eta: float, steps: Sequence[int] | Tensor) -> Tensor:
    """W_n (T, …, d, d) after the given numbers of gradient-descent steps, without taking them."""
    _check_rate(eta)
    steps = torch.as_tensor(steps, dtype=torch.float64)
    # integer powers as floats are exact in sign: steps are whole numbers, also where 1-ηa < 0
    return _closed_form(moment, w0, lambda a: torch.pow(1 - eta * a, steps[:, None]))


def simulate(moment: Tensor, w0: Tensor, eta: float, steps: int) -> Tensor:
    """The same gradient descent, step by step: W_0 … W_steps (steps+1, …, d, d)."""
    _check_rate(eta)
    a = _as_matrix(moment, w0)
    identity = torch.eye(a.shape[-1], dtype=torch.float64)
    w = w0.to(torch.float64)
    path = [w]
    for _ in range(steps):
        w = w - eta * (w - identity) @ a
        path.append(w)
    return torch.stack(path)


def output_terms(strengths: Tensor, w0: Tensor, z: Tensor, times: Sequence[float] | Tensor) -> OutputTerms:
    """f(W(t), z) in the paper's terms, for diagonal A and **any** input z (d,).

    The paper's form holds for z supported on coordinates with a_i > 0; the third term makes it complete.
    """
    times = torch.as_tensor(times, dtype=torch.float64)
    _as_matrix(strengths, w0)
    if strengths.ndim != 1 or z.shape != strengths.shape:
        raise InputError(
            f"strengths {tuple(strengths.shape)} and z {tuple(z.shape)} must be of one shape (d,)"
        )
    decay = torch.exp(-strengths * times[:, None])
    batch = [1] * (w0.ndim - 2)
    growth = ((1 - decay) * z).reshape(len(times), *batch, -1)
    learning = strengths > 0
    decaying = (decay * z * learning).reshape(len(times), *batch, 1, -1)
    noise = (w0 * decaying).sum(-1)
    frozen = (w0 * (z * ~learning)).sum(-1)
    return OutputTerms(growth.expand_as(noise), noise, frozen.expand_as(noise))


def half_learning_time(strengths: Tensor) -> Tensor:
    """ln 2 / a_p: when concept p is half learnt from a small start (infinite where a_p = 0)."""
    return math.log(2) / strengths


def _closed_form(moment: Tensor, w0: Tensor, decay: Callable[[Tensor], Tensor]) -> Tensor:
    """I + (W(0)-I) Q diag(decay(λ)) Qᵀ for A = Q diag(λ) Qᵀ."""
    a = _as_matrix(moment, w0)
    if moment.ndim == 1:
        values, vectors = moment.to(torch.float64), torch.eye(len(moment), dtype=torch.float64)
    else:
        values, vectors = torch.linalg.eigh(a)
    factors = decay(values)
    operator = (vectors * factors[:, None, :]) @ vectors.T
    operator = operator.reshape(len(factors), *[1] * (w0.ndim - 2), *a.shape)
    identity = torch.eye(a.shape[-1], dtype=torch.float64)
    return identity + (w0.to(torch.float64) - identity) @ operator


def _as_matrix(moment: Tensor, w0: Tensor) -> Tensor:
    a = torch.diag(moment) if moment.ndim == 1 else moment
    if a.ndim != 2 or a.shape[0] != a.shape[1] or w0.ndim < 2 or w0.shape[-2:] != a.shape:
        raise InputError(
            f"A {tuple(moment.shape)} and W(0) {tuple(w0.shape)} do not fit: need (d, d) for both"
        )
    return a.to(torch.float64)


def _check_rate(eta: float) -> None:
    if not eta > 0:
        raise InputError(f"the learning rate is {eta}; it must be positive")
