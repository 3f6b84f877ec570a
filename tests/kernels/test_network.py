"""Whole networks compute the same with special kernels as without, forth and back."""

from __future__ import annotations

import pytest
import torch
from torch.func import functional_call

from conceptlab.denoisers import build
from conceptlab.kernels import batchnorm, conv3x3, groupnorm
from conceptlab.training import CohortDenoiser
from tests.kernels.agreement import DEVICE, DTYPE, INTERPRETED, TOLERANCE, assert_near, error, on_kernels

MEMBERS, IMAGES, SHAPE, CONDITION = 2, 3, (3, 8, 8), (4,)
NETWORKS = {
    "okawa2023": {"features": 16},
    "park2024": {"channels": (16, 32), "blocks_per_level": 1, "dropout": 0.0},
}


@pytest.fixture
def kernels(monkeypatch):
    """Switches special kernels on, also in an interpreter, or off."""

    def switch(on: bool) -> None:
        for module in (batchnorm, conv3x3, groupnorm):
            monkeypatch.setattr(module, "ENABLED", on)
            if INTERPRETED:
                monkeypatch.setattr(module, "available", lambda *_: on)

    return switch


@on_kernels
@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("training", [True, False])
def test_networks_compute_the_same_with_kernels_and_without(name, training, kernels):
    network = build(name, image_shape=SHAPE, condition_shape=CONDITION, seed=0, **NETWORKS[name])
    cohort = CohortDenoiser(network).to(DEVICE).train(training)
    generator = torch.Generator().manual_seed(0)
    # Zeros, as networks end in at first, would hide everything before them.
    rows = {
        n: 0.3 * torch.randn(MEMBERS, *p.shape, generator=generator) for n, p in network.named_parameters()
    }
    rows = {
        n: row.abs() + 0.5 if n.endswith((".variance", ".weight")) and row.ndim == 2 else row
        for n, row in rows.items()
    }
    inputs = [torch.randn(MEMBERS, IMAGES, *part, generator=generator) for part in (SHAPE, (), CONDITION)]

    def results(on: bool, dtype: torch.dtype) -> list[torch.Tensor]:
        kernels(on)
        state = {n: row.to(DEVICE, DTYPE).to(dtype).requires_grad_() for n, row in rows.items()}
        given = [part.to(DEVICE, DTYPE).to(dtype) for part in inputs]
        y = functional_call(cohort, state, tuple(given))
        trained = [part for n, part in state.items() if not n.endswith((".mean", ".variance"))]
        gradients = torch.autograd.grad(y.double().square().sum(), trained, allow_unused=True)
        with torch.no_grad():  # where drawing takes a shorter way
            again = functional_call(cohort, state, tuple(given))
        return [y, again, torch.cat([g.flatten().double() for g in gradients if g is not None])]

    # Through many layers bfloat16 alone is off by up to a tenth in gradients: kernels may not add to that.
    exact = results(False, torch.float64)
    for found, plain, expected in zip(results(True, DTYPE), results(False, DTYPE), exact):
        assert_near(found, expected, max(TOLERANCE, 2 * error(plain, expected)))
