"""One 2-D run, fast enough to follow a slider: mu, sigma, initial scale, correlation, depth → everything to draw.

A run evaluates its velocity some hundred times on 2×2 matrices, where the cost of calling an array library
exceeds that of the arithmetic tenfold; so it is plain Python scalars, integrated by SciPy's LSODA, which turns
implicit while a deep network waits for its weak concept. However deep, a network is four numbers (`_layered`).
The tests hold it against the batched torch flow and against its layers integrated one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
import torch
from numpy.typing import NDArray

from conceptlab.errors import InputError
from conceptlab.theory import one_layer
from conceptlab.theory.sim import Sim
from conceptlab.theory.swing import Swings, find_swings
from conceptlab.theory.symmetric import correlated_start

Floats = NDArray[np.float64]
Matrix = tuple[float, float, float, float]  # 2×2, row by row

_LEARNT = 1e-6  # the run ends when the training loss has fallen to this share of its start
_LONGEST = 2000.0  # in units of 1/a_min: deep networks may sit at a small start for very long
_POINTS = 150


@dataclass(frozen=True)
class _Flow:
    """An ordinary differential equation whose state, a few numbers, stands for W."""

    start: list[float]
    velocity: Callable[[float, Floats], list[float]]
    matrix: Callable[[list[float]], Matrix]


@dataclass(frozen=True)
class PlaygroundRun:
    """A run from start to convergence, at times that are dense where the network moves."""

    times: Floats  # (T,) in units of learning rate × steps
    jacobian: Floats  # (T, 2, 2)
    output: Floats  # (T, 2): f(x_b), the trajectory in concept space
    ood_loss: Floats  # (T,)
    training_loss: Floats  # (T,)
    strengths: Floats  # (2,): a_1, a_2
    swings: Swings  # of the OOD loss, at 1 % of its start
    converged: bool


def run_playground(
    mu: Sequence[float] = (1.0, 2.0),
    sigma: Sequence[float] | float = 0.05,
    scale: float = 0.01,
    correlation: float = 0.99,
    depth: int = 2,
) -> PlaygroundRun:
    """Gradient flow of a 2-D linear network from W(0) = scale·[[1, c], [c, 1]].

    Depth 1 is the closed form, depth 2 the paper's symmetric UUᵀ; deeper networks have untied layers that all
    start at the same root W(0)^(1/depth), so that every depth begins at the same Jacobian.
    """
    if len(mu) != 2:
        raise InputError(f"the playground has two concepts; got {len(mu)} values of mu")
    if depth < 1:
        raise InputError(f"a network needs at least one layer; got depth {depth}")
    sim = Sim(mu, sigma)
    a = sim.strengths.numpy()
    if a.min() <= 0:
        raise InputError("every concept needs mu or sigma above 0; otherwise it is never learnt")
    root = correlated_start(scale, correlation).numpy()
    w0 = root @ root
    if depth == 1:
        times, path, converged = _closed_form(a, w0)
    else:
        flow = _symmetric(a, root) if depth == 2 else _layered(a, w0, depth)
        times, path, converged = _integrate(a, flow)
    point = sim.composition().numpy()
    residual = path - np.eye(2)
    ood = 0.5 * ((residual @ point) ** 2).sum(-1)
    return PlaygroundRun(
        times=times,
        jacobian=path,
        output=path @ point,
        ood_loss=ood,
        training_loss=0.5 * (residual**2 * a).sum((-2, -1)),
        strengths=a,
        swings=find_swings(ood, 0.01 * ood[0]),
        converged=converged,
    )


def _closed_form(a: Floats, w0: Floats) -> tuple[Floats, Floats, bool]:
    # e^{-2 a_min t} is the slowest decay of the loss
    times = np.linspace(0, -np.log(_LEARNT) / (2 * a.min()), _POINTS)
    path = one_layer.flow(torch.from_numpy(a), torch.from_numpy(w0), times.tolist())
    return times, path.numpy(), True


def _integrate(a: Floats, flow: _Flow) -> tuple[Floats, Floats, bool]:
    """Times, W(t) and whether learning finished."""
    longest = _LONGEST / a.min()
    solver = scipy.integrate.LSODA(flow.velocity, 0.0, flow.start, longest, rtol=1e-7, atol=1e-9)
    times, states = [0.0], [np.array(flow.start)]
    goal = _LEARNT * _loss(flow.matrix(flow.start), a)
    converged = False
    while solver.status == "running" and not converged:
        solver.step()
        times.append(solver.t)
        states.append(solver.y)
        converged = _loss(flow.matrix(solver.y.tolist()), a) <= goal
    t, y = np.array(times), np.array(states)
    slopes = np.array([flow.velocity(0.0, state) for state in y])
    dense = scipy.interpolate.CubicHermiteSpline(t, y, slopes)
    chosen = _spread(t, _jacobians(flow, y))
    return chosen, _jacobians(flow, dense(chosen)), converged


def _symmetric(a: Floats, start: Floats) -> _Flow:
    """dU/dt = -[(W-I)A + A(W-I)]U, W = UUᵀ."""
    a1, a2 = a.tolist()

    def velocity(_t: float, y: Floats) -> list[float]:
        u = tuple(y.tolist())
        w = _times(u, _transposed(u))
        pull = (2 * a1 * (1 - w[0]), -(a1 + a2) * w[1], -(a1 + a2) * w[2], 2 * a2 * (1 - w[3]))
        return list(_times(pull, u))

    def matrix(y: list[float]) -> Matrix:
        u = (y[0], y[1], y[2], y[3])
        return _times(u, _transposed(u))

    return _Flow(start.ravel().tolist(), velocity, matrix)


def _layered(a: Floats, w0: Floats, depth: int) -> _Flow:
    """dW_l/dt = -(W_L…W_{l+1})ᵀ (W-I)A (W_{l-1}…W_1)ᵀ from layers that all start at W(0)^(1/L).

    Such layers stay balanced, so that W alone obeys dW/dt = -Σ_l (WWᵀ)^((L-l)/L) (W-I)A (WᵀW)^((l-1)/L) (Arora, Cohen
    and Hazan 2018, "On the optimization of deep networks", Theorem 1). With W = P diag(s) Qᵀ it is followed by way of
    B = P diag(s^(1/L)) Qᵀ, in which a weak concept is not lost beside a strong one. Let b = s^(1/L) and
    G = Pᵀ(W-I)AQ; then dB/dt = -P Z Qᵀ where Z has the diagonal G_ii b_i^(L-1), the symmetric part of G's other
    entries times (b_1^L + b_2^L)/(b_1 + b_2), and their antisymmetric part times Σ_k b_1^(L-1-k) b_2^k.

    A real 2×2 matrix is z → αz + βz̄ on the complex plane. Its singular values are |α| ± |β|, and to leave the bases P
    and Q is to divide α and β by their phases; the state is α and β of B.
    """
    mean, half = float(a.sum() / 2), float((a[0] - a[1]) / 2)

    def velocity(_t: float, y: Floats) -> list[float]:
        turn, flip, first, second = _polar(y.tolist())
        power, weak = first ** (depth - 1), second ** (depth - 1)
        high, low = first * power, second * weak
        away_turn, away_flip = (high + low) / 2 * turn - 1, (high - low) / 2 * flip
        g_turn = (mean * away_turn + half * away_flip) * turn.conjugate()
        g_flip = (half * away_turn + mean * away_flip) * flip.conjugate()
        z_first, z_second = (g_turn.real + g_flip.real) * power, (g_turn.real - g_flip.real) * weak
        apart, step = 0.0, 1.0
        for _ in range(depth):
            apart, step = apart * first + step, step * second
        d_turn = -complex((z_first + z_second) / 2, apart * g_turn.imag) * turn
        d_flip = -complex((z_first - z_second) / 2, (high + low) / (first + second) * g_flip.imag) * flip
        return [d_turn.real, d_turn.imag, d_flip.real, d_flip.imag]

    def matrix(y: list[float]) -> Matrix:
        turn, flip, first, second = _polar(y)
        high, low = first**depth, second**depth
        alpha, beta = (high + low) / 2 * turn, (high - low) / 2 * flip
        return (
            alpha.real + beta.real,
            beta.imag - alpha.imag,
            alpha.imag + beta.imag,
            alpha.real - beta.real,
        )

    values, vectors = np.linalg.eigh(w0)
    (p, q), (_, r) = ((vectors * values.clip(min=0) ** (1 / depth)) @ vectors.T).tolist()
    return _Flow([(p + r) / 2, 0.0, (p - r) / 2, q], velocity, matrix)


def _polar(y: list[float]) -> tuple[complex, complex, float, float]:
    """Phases of α and β, and the singular values |α| ± |β|."""
    alpha, beta = complex(y[0], y[1]), complex(y[2], y[3])
    size, less = abs(alpha), abs(beta)
    # Equal singular values have no phase between them, and any gives the same flow.
    return alpha / size, beta / less if less else 1 + 0j, size + less, max(size - less, 0.0)


def _loss(w: Matrix, a: Floats) -> float:
    """Training loss ½‖(W-I)A^½‖²_F."""
    return 0.5 * (((w[0] - 1) ** 2 + w[2] ** 2) * a[0] + (w[1] ** 2 + (w[3] - 1) ** 2) * a[1])


def _jacobians(flow: _Flow, states: Floats) -> Floats:
    """W (T, 2, 2) of states (T, 4)."""
    return np.array([flow.matrix(state) for state in states.tolist()]).reshape(-1, 2, 2)


def _spread(t: Floats, path: Floats) -> Floats:
    """_POINTS times, half by time and half by distance travelled: a long wait must not hide a quick swing."""
    travelled = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(path, axis=0)).sum((1, 2)))])
    measure = t / t[-1] + travelled / travelled[-1]
    return np.interp(np.linspace(0, measure[-1], _POINTS), measure, t)


def _times(a: Matrix, b: Matrix) -> Matrix:
    return (
        a[0] * b[0] + a[1] * b[2],
        a[0] * b[1] + a[1] * b[3],
        a[2] * b[0] + a[3] * b[2],
        a[2] * b[1] + a[3] * b[3],
    )


def _transposed(a: Matrix) -> Matrix:
    return (a[0], a[2], a[1], a[3])
