from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp

from conceptlab.errors import InputError
from conceptlab.theory import (
    Sim,
    entry_terms,
    find_swings,
    integrate,
    ood_loss,
    roles,
    symmetric,
    training_loss,
)


def _reference(u0: torch.Tensor, a: torch.Tensor, times: np.ndarray) -> np.ndarray:
    """Independent integration: numpy, the gradient written as in the paper, scipy's DOP853 at 1e-12."""
    matrix, shape = np.diag(a.numpy()), tuple(u0.shape)

    def field(_t: float, y: np.ndarray) -> np.ndarray:
        u = y.reshape(shape)
        residual = u @ u.T - np.eye(len(u))
        return -((residual @ matrix + matrix @ residual) @ u).ravel()

    found = solve_ivp(field, (0, times[-1]), u0.numpy().ravel(), "DOP853", times, rtol=1e-12, atol=1e-14)
    return found.y.T.reshape(len(times), *shape)


@pytest.mark.parametrize(("d", "h", "scale"), [(2, 2, 0.1), (4, 4, 0.5), (5, 3, 1.0), (3, 6, 0.01)])
def test_flow_agrees_with_scipy(d: int, h: int, scale: float) -> None:
    """Each member of a batch within 1e-8 of an independent integrator, at every requested time."""
    a = torch.linspace(0.0, 3.0, d, dtype=torch.float64)
    u0 = symmetric.gaussian_start(scale, d, range(3), h)
    times = np.linspace(0, 6, 13)
    found = symmetric.flow(u0, a, times.tolist())
    for member in range(3):
        assert np.abs(found[:, member].numpy() - _reference(u0[member], a, times)).max() < 1e-8


def test_a_member_does_not_depend_on_its_neighbours() -> None:
    a = torch.tensor([0.5, 2.0], dtype=torch.float64)
    u0 = symmetric.gaussian_start(0.1, 2, range(20))
    together = symmetric.flow(u0, a, [1.0, 4.0])
    alone = symmetric.flow(u0[7], a, [1.0, 4.0])
    assert torch.equal(symmetric.gaussian_start(0.1, 2, [7])[0], u0[7])
    assert (together[:, 7] - alone).abs().max() < 1e-12


def test_velocity_is_the_negative_gradient() -> None:
    sim = Sim((1, 2, 1.5), 0.2, d=4)
    u = symmetric.gaussian_start(0.5, 4, [0])[0].requires_grad_()
    training_loss(symmetric.jacobian(u), sim.second_moment).backward()
    assert u.grad is not None
    assert torch.allclose(symmetric.velocity(u.detach(), sim.strengths), -u.grad, atol=1e-13)


def test_matrix_equation_is_the_entry_equation() -> None:
    """dW/dt from the flow of U equals 2(G-S-N), entry by entry, in any dimension and batch."""
    for d in (1, 2, 3, 7):
        a = torch.linspace(0.0, 4.0, d, dtype=torch.float64)
        u = symmetric.gaussian_start(0.7, d, range(5))
        slope = symmetric.velocity(u, a)
        expected = slope @ u.mT + u @ slope.mT
        found = entry_terms(symmetric.jacobian(u), a)
        assert (found.rate - expected).abs().max() < 1e-11


def test_entry_terms_are_the_printed_sums() -> None:
    """Growth, suppression and noise one by one, from the formulas with explicit loops."""
    a = torch.tensor([0.3, 1.0, 2.0, 0.0], dtype=torch.float64)
    w = symmetric.jacobian(symmetric.gaussian_start(0.7, 4, [1])[0])
    found = entry_terms(w, a)
    for i in range(4):
        for j in range(4):
            growth = w[i, j] * (a[i] + a[j])
            suppression = 0.5 * w[i, j] * w[i, i] * (3 * a[i] + a[j])
            if i != j:
                suppression = suppression + 0.5 * w[i, j] * w[j, j] * (3 * a[j] + a[i])
            noise = sum(
                0.5 * w[k, i] * w[k, j] * (a[i] + a[j] + 2 * a[k]) for k in range(4) if k not in (i, j)
            )
            assert found.growth[i, j] == pytest.approx(float(growth), abs=1e-13)
            assert found.suppression[i, j] == pytest.approx(float(suppression), abs=1e-13)
            assert found.noise[i, j] == pytest.approx(float(noise), abs=1e-13)


@pytest.mark.parametrize(
    ("scale", "correlation", "losses", "steps"),
    [(0.01, 0.99, [2.411, 0.302, 0.455], [0, 85, 231]), (0.1, 0.99, [1.693, 0.090, 0.350], [0, 53, 177])],
)
def test_reference_runs_of_double_descent(scale, correlation, losses, steps) -> None:
    sim = Sim((1, 2), 0.05)
    u = symmetric.descent(symmetric.correlated_start(scale, correlation), sim.strengths, 0.01, 2000)
    loss = ood_loss(symmetric.jacobian(u), sim.composition()).numpy()
    found = find_swings(loss, 1e-3)
    assert found.names() == ["double descent"]
    assert found.index[0, :3].tolist() == steps
    assert [round(v, 3) for v in found.value[0, :3]] == losses
    assert loss[-1] < 1e-20


def test_reference_run_without_swing() -> None:
    sim = Sim((1, 2), 0.05)
    u = symmetric.descent(symmetric.correlated_start(0.01, -0.99), sim.strengths, 0.01, 2000)
    loss = ood_loss(symmetric.jacobian(u), sim.composition())
    assert (loss.diff() <= 1e-15).all()
    assert loss[-1] < 1e-20


def test_reference_run_of_triple_descent() -> None:
    sim = Sim((1, 2, 4), 0.05)
    u = symmetric.descent(symmetric.correlated_start(0.01, 0.9, d=3), sim.strengths, 0.005, 4000)
    loss = ood_loss(symmetric.jacobian(u), sim.composition()).numpy()
    found = find_swings(loss, 1e-3)
    assert found.names() == ["triple descent"]
    assert [round(v, 4) for v in found.value[0, :5]] == [10.0444, 1.5081, 1.9987, 0.4355, 0.4401]


def test_equal_concepts_never_swing() -> None:
    sim = Sim((2, 2), 0.05)
    u = symmetric.descent(symmetric.gaussian_start(0.1, 2, range(200)), sim.strengths, 0.01, 1000)
    loss = ood_loss(symmetric.jacobian(u), sim.composition())
    assert (loss.diff(dim=0) <= 1e-14).all()


def test_correlated_start_has_the_stated_jacobian() -> None:
    for d, c in ((2, 0.99), (2, -1.0), (3, 0.9), (4, -1 / 3), (1, 0.5)):
        u = symmetric.correlated_start(0.01, c, d)
        expected = 0.01 * ((1 - c) * torch.eye(d, dtype=torch.float64) + c)
        assert torch.allclose(symmetric.jacobian(u), expected, atol=1e-15)


def test_roles_split_all_entries() -> None:
    major, minor, irrelevant = roles(4, 2)
    assert (major.int() + minor.int() + irrelevant.int() == 1).all()
    assert (int(major.sum()), int(minor.sum()), int(irrelevant.sum())) == (2, 2, 12)


def test_integrator_lands_on_known_answers() -> None:
    """dy/dt = -y with rates that differ a thousandfold between members, and a rotation."""
    rates = torch.tensor([[1.0], [1000.0], [1e-3]], dtype=torch.float64)
    found = integrate(lambda y: -rates * y, torch.ones(3, 1, dtype=torch.float64), [0.0, 0.5, 2.0])
    exact = torch.exp(-rates.T * torch.tensor([[0.0], [0.5], [2.0]], dtype=torch.float64))
    assert (found[..., 0] - exact).abs().max() < 1e-8
    spin = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64)
    circle = integrate(lambda y: y @ spin.T, torch.tensor([[1.0, 0.0]], dtype=torch.float64), [2 * np.pi])
    assert circle.flatten().tolist() == pytest.approx([1, 0], abs=1e-7)


def test_fixed_points_stay() -> None:
    a = torch.tensor([0.5, 2.0], dtype=torch.float64)
    rest = torch.stack([torch.zeros(2, 2, dtype=torch.float64), torch.eye(2, dtype=torch.float64)])
    assert torch.equal(symmetric.flow(rest, a, [0.0, 5.0])[-1], rest)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda a, u: symmetric.flow(u[0, 0], a, [1.0]), "must be"),
        (lambda a, u: symmetric.flow(u, a[:1], [1.0]), "shape"),
        (lambda a, u: symmetric.flow(u, -a, [1.0]), "negative"),
        (lambda a, u: symmetric.flow(u, a, [1.0, 0.5]), "increasing"),
        (lambda a, u: symmetric.flow(u * float("nan"), a, [1.0]), "finite"),
        (lambda a, u: symmetric.descent(u, a, -0.1, 3), "positive"),
        (lambda a, u: symmetric.descent(u, a, 50.0, 300), "lower it"),
        (lambda a, u: symmetric.descent(u, a, 0.1, 3, every=0), "every"),
        (lambda a, u: symmetric.correlated_start(0.1, -0.9, d=3), "must lie in"),
        (lambda a, u: symmetric.correlated_start(-0.1, 0.9), "positive"),
        (lambda a, u: roles(2, 3), "between 1 and d"),
    ],
)
def test_bad_input_is_named(call, word: str) -> None:
    with pytest.raises(InputError, match=word):
        call(torch.tensor([0.5, 2.0]), symmetric.gaussian_start(0.1, 2, [0]))
