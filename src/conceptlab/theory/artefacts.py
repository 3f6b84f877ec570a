"""What the paper's public scripts integrate, kept only to show how far it leads from the model (Figure 10).

Two differences from gradient descent on U: the strengths enter squared (a_p² where the theory has a_p), and the
entry equation is stepped on W itself. A step on W does not keep W = UUᵀ: the matrix can lose positive
semi-definiteness, and entries then die or explode in ways no network shows. Never use this for a result.
"""

from __future__ import annotations

import torch
from torch import Tensor

from conceptlab.errors import InputError
from conceptlab.theory.jacobian import check_strengths, entry_terms


def step_on_jacobian(w0: Tensor, strengths: Tensor, eta: float, steps: int) -> Tensor:
    """Euler steps W ← W + η(G - S - N) on the printed entry equation: W (steps+1, d, d), **an artefact**.

    The printed equation lacks the factor 2, so t = η·steps/2 of the true flow. Pass `script_strengths(a)` for
    what the scripts do, and the true strengths to separate the integrator's artefact from the squared a.
    """
    if w0.ndim != 2 or not torch.equal(w0, w0.mT):
        raise InputError(f"W(0) must be one symmetric (d, d) matrix; got shape {tuple(w0.shape)}")
    if not eta > 0 or steps < 1:
        raise InputError(f"cannot take {steps} steps at rate {eta}; both must be positive")
    w, a = w0.to(torch.float64), check_strengths(strengths, w0.shape[-1])
    path = [w]
    for _ in range(steps):
        w = w + 0.5 * eta * entry_terms(w, a).rate
        path.append(w)
    return torch.stack(path)


def script_strengths(strengths: Tensor) -> Tensor:
    """a_p², which the public scripts use in place of a_p."""
    return strengths.square()


def lowest_eigenvalue(w: Tensor) -> Tensor:
    """Smallest eigenvalue of every W (T, d, d), NaN where W has exploded; below 0 no U has UUᵀ = W."""
    result = torch.full((len(w),), float("nan"), dtype=torch.float64)
    finite = torch.isfinite(w).all(dim=(1, 2))
    result[finite] = torch.linalg.eigvalsh(w[finite])[:, 0]
    return result
