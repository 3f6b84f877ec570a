from __future__ import annotations

import pytest
import torch

from conceptlab.diffusion import KINDS, alpha_sigma, noisy, split, target
from conceptlab.errors import InputError


@pytest.fixture
def problem() -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    x0, eps = torch.randn(2, 5, 3, 4, 4, dtype=torch.float64, generator=generator)
    alpha, sigma = alpha_sigma(torch.linspace(-6, 8, 5, dtype=torch.float64))
    return {"x0": x0, "eps": eps, "alpha": alpha, "sigma": sigma}


@pytest.mark.parametrize("kind", KINDS)
def test_split_inverts_target(problem, kind):
    z = noisy(**problem)
    x0, eps = split(kind, target(kind, **problem), z, problem["alpha"], problem["sigma"])
    torch.testing.assert_close(x0, problem["x0"], rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(eps, problem["eps"], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_any_output_is_split_consistently_with_z(problem, kind):
    """Also a wrong output: the two parts always add up to z, and turn back into the same output."""
    z, output = noisy(**problem), problem["eps"].flip(0)
    alpha, sigma = problem["alpha"], problem["sigma"]
    x0, eps = split(kind, output, z, alpha, sigma)
    torch.testing.assert_close(noisy(x0, eps, alpha, sigma), z)
    torch.testing.assert_close(target(kind, x0, eps, alpha, sigma), output)


def test_one_noise_level_for_all_images(problem):
    alpha, sigma = problem["alpha"][2], problem["sigma"][2]
    z = noisy(problem["x0"], problem["eps"], alpha, sigma)
    torch.testing.assert_close(z, alpha * problem["x0"] + sigma * problem["eps"])


def test_unknown_kind(problem):
    with pytest.raises(InputError, match="prediction"):
        target("score", **problem)
    with pytest.raises(InputError, match="prediction"):
        split("score", problem["x0"], problem["x0"], problem["alpha"], problem["sigma"])
