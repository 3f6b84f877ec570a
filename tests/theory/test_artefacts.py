from __future__ import annotations

import pytest
import torch

from conceptlab.errors import InputError
from conceptlab.theory import Sim, artefacts, symmetric

SIM = Sim((0.7, 1.7, 3.0), 0.05)


def _start(seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    u0 = symmetric.uniform_start(0.1, 3, [seed])[0]
    w0 = symmetric.jacobian(u0)
    return u0, (w0 + w0.T) / 2


def test_small_steps_on_the_jacobian_are_the_flow() -> None:
    """With little enough steps the printed equation is right, at half the speed: time is η·steps/2."""
    u0, w0 = _start(0)
    path = artefacts.step_on_jacobian(w0, SIM.strengths, 1e-3, 2000)
    w = symmetric.jacobian(symmetric.flow(u0, SIM.strengths, [1.0]))[0]
    assert (path[-1] - w).abs().max() < 0.02


def test_failure_of_figure_10_is_an_artefact() -> None:
    """Script: the first concept never grows and W stops being a UUᵀ. On U, with the true a, it is learnt."""
    u0, w0 = _start(0)
    script = artefacts.step_on_jacobian(w0, artefacts.script_strengths(SIM.strengths), 0.01, 4000)
    assert script[:, 0, 0].max() < 0.05
    assert artefacts.lowest_eigenvalue(script[::100]).min() < -1e-3
    proper = symmetric.jacobian(symmetric.descent(u0, SIM.strengths, 0.01, 4000, every=100))
    assert proper[-1, 0, 0] > 0.99
    assert artefacts.lowest_eigenvalue(proper).min() > -1e-12


def test_exploded_steps_are_nan() -> None:
    _, w0 = _start(0)
    path = artefacts.step_on_jacobian(w0, SIM.strengths, 2.0, 60)
    assert torch.isnan(artefacts.lowest_eigenvalue(path)[-1])
    assert torch.isfinite(artefacts.lowest_eigenvalue(path)[0])


def test_bad_input_is_named() -> None:
    with pytest.raises(InputError, match="symmetric"):
        artefacts.step_on_jacobian(torch.tensor([[1.0, 2.0], [0.0, 1.0]]), torch.ones(2), 0.1, 1)
    with pytest.raises(InputError, match="positive"):
        artefacts.step_on_jacobian(torch.eye(2), torch.ones(2), 0.0, 1)
