"""One 2-D run, fast enough to follow a slider: mu, sigma, initial scale, correlation, depth → everything to draw.

A run evaluates its velocity about a thousand times on 2×2 matrices, where the cost of calling an array library
exceeds that of the arithmetic tenfold; so it is plain Python scalars, integrated by SciPy's LSODA, which turns
implicit while a deep network waits for its weak concept. The tests hold it against the batched torch flow.
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
Velocity = Callable[[float, Floats], list[float]]

_IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0)
_LEARNT = 1e-6  # the run ends when the training loss has fallen to this share of its start
_LONGEST = 2000.0  # in units of 1/a_min: deep networks may sit at a small start for very long
_POINTS = 240


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
        start = root[None] if depth == 2 else _layers(w0, depth)
        velocity = _symmetric_velocity(a) if depth == 2 else _layered_velocity(a)
        times, path, converged = _integrate(a, start, velocity)
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


def _layers(w0: Floats, depth: int) -> Floats:
    """depth copies of the symmetric root W(0)^(1/depth), stacked (depth, 2, 2): a balanced start."""
    values, vectors = np.linalg.eigh(w0)
    root = (vectors * values.clip(min=0) ** (1 / depth)) @ vectors.T
    return np.repeat(root[None], depth, axis=0)


def _integrate(a: Floats, start: Floats, velocity: Velocity) -> tuple[Floats, Floats, bool]:
    """Times, W(t) and whether learning finished, for the parameters `start` (layers, 2, 2)."""
    solver = scipy.integrate.LSODA(velocity, 0.0, start.ravel(), _LONGEST / a.min(), rtol=1e-6, atol=1e-9)
    tied = len(start) == 1
    times, states = [0.0], [start.ravel()]
    goal = _LEARNT * _loss(start.ravel().tolist(), a, tied)
    converged = False
    while solver.status == "running" and not converged:
        solver.step()
        times.append(solver.t)
        states.append(solver.y)
        converged = _loss(solver.y.tolist(), a, tied) <= goal
    t, y = np.array(times), np.array(states)
    slopes = np.array([velocity(0.0, state) for state in y])
    dense = scipy.interpolate.CubicHermiteSpline(t, y, slopes)
    chosen = _spread(t, _jacobians(y))
    return chosen, _jacobians(dense(chosen)), converged


def _symmetric_velocity(a: Floats) -> Velocity:
    """dU/dt = -[(W-I)A + A(W-I)]U, W = UUᵀ."""
    a1, a2 = a.tolist()

    def velocity(_t: float, y: Floats) -> list[float]:
        u = tuple(y.tolist())
        w = _times(u, _transposed(u))
        pull = (2 * a1 * (1 - w[0]), -(a1 + a2) * w[1], -(a1 + a2) * w[2], 2 * a2 * (1 - w[3]))
        return list(_times(pull, u))

    return velocity


def _layered_velocity(a: Floats) -> Velocity:
    """dW_l/dt = -(W_L…W_{l+1})ᵀ (W-I)A (W_{l-1}…W_1)ᵀ."""
    a1, a2 = a.tolist()

    def velocity(_t: float, y: Floats) -> list[float]:
        layers = _split(y.tolist())
        below = [_IDENTITY]
        for layer in layers:
            below.append(_times(layer, below[-1]))
        w = below[-1]
        pull = (a1 * (1 - w[0]), -a2 * w[1], -a1 * w[2], a2 * (1 - w[3]))
        slopes: list[Matrix] = []
        for layer, under in zip(reversed(layers), reversed(below[:-1]), strict=True):
            slopes.append(_times(pull, _transposed(under)))
            pull = _times(_transposed(layer), pull)
        return [entry for slope in reversed(slopes) for entry in slope]

    return velocity


def _loss(y: list[float], a: Floats, tied: bool) -> float:
    """Training loss ½‖(W-I)A^½‖²_F of a flat list of parameters."""
    layers = _split(y)
    w = _times(layers[0], _transposed(layers[0])) if tied else layers[0]
    for layer in layers[1:]:
        w = _times(layer, w)
    return 0.5 * (((w[0] - 1) ** 2 + w[2] ** 2) * a[0] + (w[1] ** 2 + (w[3] - 1) ** 2) * a[1])


def _jacobians(states: Floats) -> Floats:
    """W (T, 2, 2) of states (T, 4·layers): UUᵀ for one matrix, the product of all for several."""
    layers = states.reshape(len(states), -1, 2, 2).swapaxes(0, 1)
    if len(layers) == 1:
        return layers[0] @ layers[0].swapaxes(1, 2)
    w = layers[0]
    for layer in layers[1:]:
        w = layer @ w
    return w


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


def _split(y: list[float]) -> list[Matrix]:
    return [(y[k], y[k + 1], y[k + 2], y[k + 3]) for k in range(0, len(y), 4)]
