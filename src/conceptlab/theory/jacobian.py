"""The Jacobian W of a linear model on SIM: its losses, the roles of its entries, and what moves each entry.

For the symmetric network W = UUᵀ (yang2025, two-layer analysis), dU/dt = -[(W-I)A + A(W-I)]U gives entry by
entry dw_ij/dt = 2(G - S - N). The paper prints the equation without the factor 2, which only rescales time;
here it stays, so that time t is learning rate × steps of gradient descent on U.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from conceptlab.errors import InputError


class EntryTerms(NamedTuple):
    """Growth, suppression and noise of every entry, each (…, d, d)."""

    growth: Tensor
    suppression: Tensor
    noise: Tensor

    @property
    def rate(self) -> Tensor:
        """dw_ij/dt = 2(G - S - N)."""
        return 2 * (self.growth - self.suppression - self.noise)


class Roles(NamedTuple):
    """Boolean masks (d, d) that split the entries in three (yang2025, Figure 4)."""

    major: Tensor  # w_pp of a concept: must grow to 1
    minor: Tensor  # w_pq between two concepts: must vanish, and makes the swing on its way
    irrelevant: Tensor  # any entry of a coordinate that is no concept


def training_loss(w: Tensor, moment: Tensor) -> Tensor:
    """L = ½‖(W-I)A^½‖²_F = ½ tr((W-I)A(W-I)ᵀ) for W (…, d, d); `moment` is A (d, d) or its diagonal."""
    residual = w - torch.eye(w.shape[-1], dtype=w.dtype)
    a = torch.diag(moment) if moment.ndim == 1 else moment
    return 0.5 * ((residual @ a) * residual).sum(dim=(-2, -1))


def ood_loss(w: Tensor, point: Tensor) -> Tensor:
    """½‖Wx - x‖² at one point x (d,), normally the composition x_b; W (…, d, d) gives (…)."""
    return 0.5 * ((w @ point - point) ** 2).sum(dim=-1)


def entry_terms(w: Tensor, strengths: Tensor) -> EntryTerms:
    """Growth, suppression and noise of every entry of a symmetric W (…, d, d) under the UUᵀ flow.

    G_ij = w_ij(a_i+a_j)
    S_ij = ½ w_ij [w_ii(3a_i+a_j) + 1_{i≠j} w_jj(3a_j+a_i)]
    N_ij = ½ Σ_{k∉{i,j}} w_ki w_kj (a_i+a_j+2a_k)
    """
    a = check_strengths(strengths, w.shape[-1])
    pair = a[:, None] + a[None, :]
    diagonal = torch.diagonal(w, dim1=-2, dim2=-1)
    other = 1 - torch.eye(len(a), dtype=w.dtype)
    own = diagonal[..., :, None] * (3 * a[:, None] + a[None, :])
    suppression = 0.5 * w * (own + other * own.mT)
    # the full sum over k, then without k = i and (where it is another) k = j
    every = (w @ w) * pair + 2 * w @ (a[:, None] * w)
    at_i = diagonal[..., :, None] * w * (pair + 2 * a[:, None])
    noise = 0.5 * (every - at_i - other * at_i.mT)
    return EntryTerms(w * pair, suppression, noise)


def roles(d: int, s: int) -> Roles:
    """Which entries are major, minor and irrelevant when the first s of d coordinates carry concepts."""
    if not 1 <= s <= d:
        raise InputError(f"s={s} concepts in d={d} dimensions; s must lie between 1 and d")
    concept = torch.arange(d) < s
    within = concept[:, None] & concept[None, :]
    diagonal = torch.eye(d, dtype=torch.bool)
    return Roles(within & diagonal, within & ~diagonal, ~within)


def turning_level(weak: float, strong: float) -> float:
    """Level of w_jj at which the minor entry w_ij turns from growth to decay, while w_ii is still near 0.

    G = S with w_ii = 0 and N = 0 gives w_jj = 2(a_i+a_j)/(3a_j+a_i), for a_j = `strong` > a_i = `weak`. Equal
    strengths give 1: the entry turns only when learning is over, so there is nothing to swing.
    """
    _check_pair(weak, strong)
    return 2 * (weak + strong) / (3 * strong + weak)


def minor_decay_rate(weak: float, strong: float) -> float:
    """d log w_ij / dt = a_i - a_j (not positive) after concept j is learnt and before concept i is."""
    _check_pair(weak, strong)
    return weak - strong


def peak_exponent(weak: float, strong: float) -> float:
    """The peak of a minor entry scales as (scale of W(0))^((1 - a_i/a_j)/2): tiny starts do not swing."""
    _check_pair(weak, strong)
    return (1 - weak / strong) / 2


def check_strengths(strengths: Tensor, d: int) -> Tensor:
    """The strengths a (d,) in float64, or an `InputError` saying what is wrong with them."""
    if strengths.shape != (d,):
        raise InputError(f"strengths have shape {tuple(strengths.shape)}, the network has d={d}; give (d,)")
    if not bool((strengths >= 0).all()):
        raise InputError(f"strengths must not be negative; got {strengths.tolist()}")
    return strengths.to(torch.float64)


def _check_pair(weak: float, strong: float) -> None:
    if not 0 < weak <= strong:
        raise InputError(f"strengths ({weak}, {strong}) must be positive, the weaker one first")
