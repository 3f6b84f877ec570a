from __future__ import annotations

import math

import pytest
import torch
from scipy.integrate import solve_ivp

from conceptlab.errors import InputError
from conceptlab.theory import Sim, one_layer, sample_second_moment


def _start(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_flow_is_the_solution_of_the_equation() -> None:
    """scipy's DOP853 at rtol 1e-12, on a full (rotated) covariance with dead directions."""
    sim = Sim((1, 2), 0.3, d=4, rotation=5)
    a, w0 = sim.second_moment, _start(4, 4)
    times = [0.0, 0.5, 2.0, 7.0]
    eye = torch.eye(4, dtype=torch.float64)

    def field(_t, y):
        return (-(torch.from_numpy(y).reshape(4, 4) - eye) @ a).flatten().numpy()

    found = solve_ivp(field, (0, 7), w0.flatten().numpy(), "DOP853", times, rtol=1e-12, atol=1e-14)
    expected = torch.from_numpy(found.y.T.reshape(4, 4, 4).copy())
    assert (one_layer.flow(a, w0, times) - expected).abs().max() < 1e-10


def test_descent_is_the_simulation_to_rounding() -> None:
    sim = Sim((1, 2), 0.05, d=3)
    w0 = _start(5, 3, 3)
    steps = list(range(2001))
    exact = one_layer.descent(sim.strengths, w0, 0.1, steps)
    assert (exact - one_layer.simulate(sim.strengths, w0, 0.1, 2000)).abs().max() <= 6e-14


def test_descent_predicts_training_on_a_finite_sample_exactly() -> None:
    moment = sample_second_moment(Sim((1, 2), 0.3, d=3, rotation=1).draw(50, seed=0).points)
    w0 = _start(3, 3)
    exact = one_layer.descent(moment, w0, 0.1, list(range(501)))
    assert (exact - one_layer.simulate(moment, w0, 0.1, 500)).abs().max() < 1e-12


def test_oscillating_descent_keeps_its_sign() -> None:
    """1-ηa < 0: the discrete form alternates, which no exponential can."""
    moment = torch.tensor([1.5], dtype=torch.float64)
    w = one_layer.descent(moment, torch.zeros(1, 1, dtype=torch.float64), 1.0, [0, 1, 2, 3])
    assert w.flatten().tolist() == pytest.approx([0, 1.5, 0.75, 1.125])


@pytest.mark.parametrize(("eta", "reference"), [(0.1, 0.080), (0.01, 0.0074), (0.001, 0.00073)])
def test_gap_between_descent_and_flow(eta: float, reference: float) -> None:
    """Largest output error up to T=20 at the composition, mu=(1,2), sigma=.05, from zero."""
    sim = Sim((1, 2), 0.05)
    steps = torch.arange(round(20 / eta) + 1)
    w0 = torch.zeros(2, 2, dtype=torch.float64)
    gap = one_layer.descent(sim.strengths, w0, eta, steps) - one_layer.flow(sim.strengths, w0, eta * steps)
    assert float((gap @ sim.composition()).abs().max()) == pytest.approx(reference, rel=0.02)


def test_paper_terms_add_up_for_any_input() -> None:
    sim = Sim((1, 2), 0.2, d=4)
    w0, z = _start(7, 4, 4), _start(4, seed=1)
    times = [0.0, 1.0, 30.0]
    terms = one_layer.output_terms(sim.strengths, w0, z, times)
    expected = one_layer.flow(sim.strengths, w0, times) @ z
    assert (terms.growth + terms.noise + terms.frozen - expected).abs().max() < 1e-13
    # the part of the input outside the data is never corrected: without the third term the form is wrong
    assert (terms.growth + terms.noise - expected).abs().max() > 0.1


def test_half_learning_time() -> None:
    sim = Sim((1, 2), 0.05)
    t = one_layer.half_learning_time(sim.strengths)
    w = one_layer.flow(sim.strengths, torch.zeros(2, 2, dtype=torch.float64), t)
    assert [float(w[p, p, p]) for p in range(2)] == pytest.approx([0.5, 0.5])
    assert math.isinf(one_layer.half_learning_time(torch.zeros(1)).item())


def test_wrong_shapes_are_named() -> None:
    a, w0 = Sim((1, 2)).strengths, _start(3, 3)
    with pytest.raises(InputError, match="do not fit"):
        one_layer.flow(a, w0, [1.0])
    with pytest.raises(InputError, match="positive"):
        one_layer.simulate(a, _start(2, 2), 0.0, 3)
    with pytest.raises(InputError, match="one shape"):
        one_layer.output_terms(a, _start(2, 2), _start(3), [1.0])
