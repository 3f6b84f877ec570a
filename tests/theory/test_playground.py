from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp

from conceptlab.errors import InputError
from conceptlab.theory import Sim, one_layer, ood_loss, run_playground, symmetric, training_loss


def test_depth_two_is_the_symmetric_flow() -> None:
    run = run_playground(depth=2, scale=0.01, correlation=0.99)
    a = Sim((1, 2), 0.05).strengths
    w = symmetric.jacobian(symmetric.flow(symmetric.correlated_start(0.01, 0.99), a, run.times.tolist()))
    assert np.abs(w.numpy() - run.jacobian).max() < 1e-4
    assert run.swings.names() == ["double descent"]
    assert run.converged
    assert run.strengths == pytest.approx(a.numpy())


def test_depth_one_is_the_closed_form() -> None:
    run = run_playground(depth=1, scale=0.3, correlation=-0.5, mu=(1, 3), sigma=(0.1, 0.4))
    w0 = symmetric.jacobian(symmetric.correlated_start(0.3, -0.5))
    expected = one_layer.flow(Sim((1, 3), (0.1, 0.4)).strengths, w0, run.times.tolist())
    assert np.abs(run.jacobian - expected.numpy()).max() < 1e-12
    assert run.swings.names() == ["single descent"]


@pytest.mark.parametrize("depth", [3, 5])
def test_deeper_networks_follow_small_steps_of_descent(depth: int) -> None:
    """Autograd descent on the population loss of untied layers, from the same balanced root."""
    run = run_playground(depth=depth, scale=0.2, correlation=0.8)
    sim = Sim((1, 2), 0.05)
    values, vectors = torch.linalg.eigh(symmetric.jacobian(symmetric.correlated_start(0.2, 0.8)))
    root = (vectors * values ** (1 / depth)) @ vectors.T
    layers = [root.clone().requires_grad_() for _ in range(depth)]
    eta, steps = 2e-3, 1000
    for _ in range(steps):
        w = layers[0]
        for layer in layers[1:]:
            w = layer @ w
        for layer, slope in zip(
            layers, torch.autograd.grad(training_loss(w, sim.strengths), layers), strict=True
        ):
            layer.data -= eta * slope
    found = np.array(
        [np.interp(eta * steps, run.times, run.jacobian[:, i, j]) for i in (0, 1) for j in (0, 1)]
    )
    w = layers[0]
    for layer in layers[1:]:
        w = layer @ w
    assert np.abs(found - w.detach().numpy().ravel()).max() < 0.01


@pytest.mark.parametrize(("depth", "scale", "correlation"), [(3, 1e-3, 0.99), (5, 1e-2, 0.99), (5, 0.2, 0.0)])
def test_four_numbers_stand_for_all_layers(depth: int, scale: float, correlation: float) -> None:
    """Every layer integrated by itself, very finely, ends where the balanced flow of W alone does."""
    run = run_playground(depth=depth, scale=scale, correlation=correlation)
    values, vectors = np.linalg.eigh(run.jacobian[0])
    root = (vectors * values ** (1 / depth)) @ vectors.T

    def product(layers: np.ndarray) -> np.ndarray:
        return np.linalg.multi_dot([*layers[::-1]])

    def velocity(_t: float, y: np.ndarray) -> np.ndarray:
        layers = y.reshape(depth, 2, 2)
        pull = (np.eye(2) - product(layers)) * run.strengths
        below = [np.eye(2)]
        for layer in layers:
            below.append(layer @ below[-1])
        above = [np.eye(2)]
        for layer in layers[::-1]:
            above.append(above[-1] @ layer)
        return np.stack([above[depth - 1 - i].T @ pull @ below[i].T for i in range(depth)]).ravel()

    times = run.times[::20]
    found = solve_ivp(
        velocity, (0, times[-1]), np.tile(root.ravel(), depth), "LSODA", times, rtol=1e-11, atol=1e-13
    )
    exact = np.stack([product(y.reshape(depth, 2, 2)) for y in found.y.T])
    assert np.abs(exact - run.jacobian[::20]).max() < 1e-3


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_arrays_belong_together(depth: int) -> None:
    run = run_playground(depth=depth)
    sim = Sim((1, 2), 0.05)
    w = torch.from_numpy(run.jacobian)
    assert run.output == pytest.approx((w @ sim.composition()).numpy())
    assert run.ood_loss == pytest.approx(ood_loss(w, sim.composition()).numpy())
    assert run.training_loss == pytest.approx(training_loss(w, sim.strengths).numpy())
    assert run.jacobian[0] == pytest.approx(0.01 * np.array([[1, 0.99], [0.99, 1]]))
    assert (np.diff(run.times) > 0).all()
    assert run.training_loss[-1] <= 2e-6 * run.training_loss[0]


def test_a_start_that_cannot_learn_says_so() -> None:
    """Rows that are one and the same stay so: the composition is never reached."""
    assert not run_playground(correlation=1.0).converged


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"mu": (1, 2, 3)}, "two concepts"),
        ({"depth": 0}, "at least one layer"),
        ({"scale": 0.0}, "positive"),
        ({"correlation": 1.5}, "must lie in"),
        ({"sigma": -1.0}, "not negative"),
        ({"mu": (0, 1), "sigma": 0.0}, "never learnt"),
    ],
)
def test_bad_input_is_named(change, word: str) -> None:
    with pytest.raises(InputError, match=word):
        run_playground(**change)
