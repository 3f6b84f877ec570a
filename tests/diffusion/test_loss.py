"""Losses against their closed forms for Gaussian data under the best denoiser."""

from __future__ import annotations

import math

import pytest
import torch

from conceptlab.diffusion import KINDS, Continuous, Discrete, bound, mse, noisy, target
from conceptlab.errors import InputError

VARIANCE = 0.6


def scalar_problem(process: Continuous, kind: str):
    """x ~ N(0, VARIANCE) as 1×1 images, evenly spaced times, and the best prediction at each.

    Squared errors are quadratic in (x0, eps), so the four sign combinations of one standard deviation give
    their expectations exactly: no error of chance, and the midpoint rule's in time is below 1e-7.
    """
    grid = (torch.arange(5000, dtype=torch.float64) + 0.5) / 5000
    signs = torch.tensor([[1, 1], [1, -1], [-1, 1], [-1, -1]], dtype=torch.float64).repeat(len(grid), 1)
    t = grid.repeat_interleave(4)
    x0, eps = (signs * torch.tensor([VARIANCE**0.5, 1.0])).T[:, :, None, None, None]
    alpha, sigma = process.alpha_sigma(t)
    z = noisy(x0, eps, alpha, sigma)
    a, s = alpha[:, None, None, None], sigma[:, None, None, None]
    best_x0 = a * VARIANCE / (a**2 * VARIANCE + s**2) * z
    return t, x0, eps, target(kind, best_x0, (z - a * best_x0) / s, alpha, sigma)


@pytest.mark.parametrize("kind", KINDS)
def test_bound_of_gaussian_data_has_its_closed_form(kind):
    process = Continuous(-9.0, 9.0)
    data_noise = math.exp(-9.0 / 2)
    t, x0, eps, best = scalar_problem(process, kind)
    parts = bound(kind, best, x0, eps, t, process, data_noise)
    # Var(eps | z) = c / (c + e^gamma), so the diffusion part is ½ [gamma - log(c + e^gamma)] between the ends.
    low, high = (g - math.log(VARIANCE + math.exp(g)) for g in (-9.0, 9.0))
    assert parts.diffusion.mean().item() == pytest.approx(0.5 * (high - low), abs=1e-6)
    a2 = 1 / (1 + math.exp(9.0))
    prior = 0.5 * ((1 - a2) + a2 * VARIANCE - math.log(1 - a2) - 1)
    assert parts.prior.mean().item() == pytest.approx(prior, abs=1e-8)
    # With data_noise² = e^gamma_0 the likelihood's two terms are those of a unit Gaussian.
    reconstruction = 0.5 * math.log(2 * math.pi * math.e * data_noise**2)
    assert parts.reconstruction.mean().item() == pytest.approx(reconstruction, abs=1e-6)
    # The bound is tight here: it is the entropy of the data seen through the likelihood's noise.
    entropy = 0.5 * math.log(2 * math.pi * math.e * (VARIANCE + data_noise**2))
    assert parts.total.mean().item() == pytest.approx(entropy, abs=1e-4)
    assert parts.total.shape == t.shape


def test_bound_of_a_worse_prediction_is_looser():
    process = Continuous(-9.0, 9.0)
    t, x0, eps, best = scalar_problem(process, "eps")
    tight = bound("eps", best, x0, eps, t, process, 0.01).total.mean()
    assert bound("eps", 0.9 * best, x0, eps, t, process, 0.01).total.mean() > tight + 0.01
    assert bound("eps", torch.zeros_like(best), x0, eps, t, process, 0.01).total.mean() > tight + 1


def test_learned_schedule_gets_the_gradient_of_the_closed_form():
    """d bound / d gamma_min for the best denoiser: the reconstruction pulls it to log data_noise²."""
    process = Continuous(-9.0, 9.0, learned=True).double()
    t, x0, eps, best = scalar_problem(process, "eps")
    parts = bound("eps", best.detach(), x0, eps, t, process, 1e-3)
    (gradient,) = torch.autograd.grad(parts.reconstruction.mean(), [process.start], retain_graph=True)
    assert gradient.item() == pytest.approx(0.5 * math.exp(-9.0) / 1e-6, rel=1e-6)
    parts.total.mean().backward()
    assert process.start.grad is not None
    assert process.width.grad is not None
    assert process.width.grad.abs() > 0


@pytest.mark.parametrize("kind", KINDS)
def test_mse_is_zero_for_the_target_and_per_image_otherwise(kind):
    generator = torch.Generator().manual_seed(0)
    x0, eps = torch.randn(2, 3, 2, 4, 4, generator=generator)
    alpha, sigma = Continuous().alpha_sigma(torch.tensor([0.1, 0.5, 0.9]))
    right = target(kind, x0, eps, alpha, sigma)
    assert torch.equal(mse(kind, right, x0, eps, alpha, sigma), torch.zeros(3))
    offset = torch.tensor([1.0, 2.0, 3.0])[:, None, None, None]
    wrong = mse(kind, right + offset, x0, eps, alpha, sigma)
    torch.testing.assert_close(wrong, torch.tensor([1.0, 4.0, 9.0]))


def test_bound_needs_continuous_time():
    x = torch.zeros(2, 1, 1, 1)
    with pytest.raises(InputError, match="continuous"):
        bound("eps", x, x, x, torch.ones(2), Discrete(), 0.01)
