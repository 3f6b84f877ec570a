"""Samples drawn with the best denoiser of Gaussian data have its mean and covariance."""

from __future__ import annotations

import itertools

import pytest
import torch

from conceptlab.diffusion import KINDS, Continuous, Discrete, Process, alpha_sigma, sample, split
from conceptlab.errors import InputError

from .gaussian import Gaussian

DATA = Gaussian()
N = 20_000


def standard_normal(seed: int, n: int = N) -> torch.Tensor:
    return torch.randn(n, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def whitened(n: int = N) -> torch.Tensor:
    """Noise whose sample mean and covariance are exactly 0 and I: what a linear sampler makes of it has no
    error of chance, so only the error of the finite number of steps is left."""
    noise = standard_normal(0, n)
    noise = noise - noise.mean(0)
    return noise @ torch.linalg.inv(torch.linalg.cholesky(noise.T.cov(correction=0))).T


def errors(samples: torch.Tensor) -> tuple[float, float]:
    mean = (samples.mean(0) - DATA.mean).abs().max().item()
    covariance = (samples.T.cov(correction=0) - DATA.covariance).abs().max().item()
    return mean, covariance


PROCESSES: list[Process] = [Continuous(-12.0, 12.0).double(), Discrete(1000)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("process", PROCESSES, ids=["continuous", "discrete"])
def test_ddim_reaches_the_data(process, kind):
    predict = DATA.predictor(kind, process)
    noise = whitened(200)
    found = [errors(sample(predict, process, kind, noise, steps)) for steps in (10, 100, 1000)]
    # First order: ten times the steps, about a tenth of the error in the covariance.
    assert found[0][1] > 4 * found[1][1] > 16 * found[2][1]
    assert found[2][0] < 0.01
    assert found[2][1] < 0.01


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("process", PROCESSES, ids=["continuous", "discrete"])
def test_ancestral_reaches_the_data(process, kind):
    samples = sample(
        DATA.predictor(kind, process),
        process,
        kind,
        standard_normal(0),
        300,
        method="ancestral",
        draw=lambda i: standard_normal(1 + i),
    )
    # Four standard errors of a covariance from N draws, plus the error of 300 steps.
    mean, covariance = errors(samples)
    assert mean < 4 * (0.8 / N) ** 0.5 + 0.005
    assert covariance < 4 * 0.8 * (2 / N) ** 0.5 + 0.015


def test_parametrisations_give_the_same_samples():
    process = PROCESSES[0]
    noise = standard_normal(0, 50)
    samples = [sample(DATA.predictor(kind, process), process, kind, noise, 20) for kind in KINDS]
    torch.testing.assert_close(samples[0], samples[1], rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(samples[1], samples[2], rtol=1e-4, atol=1e-4)


def test_one_step_gives_the_expectation():
    """From pure noise the best single guess is the data's mean."""
    process = Continuous(-20.0, 30.0).double()
    samples = sample(DATA.predictor("v", process), process, "v", standard_normal(0, 10), 1)
    torch.testing.assert_close(samples, DATA.mean.expand(10, 3), rtol=0, atol=1e-5)


def test_ddim_run_backwards_returns_to_the_noise():
    """Data to noise along the same flow in tiny steps, then `sample`: back at the data."""
    process, steps = Continuous(-12.0, 12.0).double(), 2000
    start = DATA.draw(20)
    times = torch.arange(1, steps + 1, dtype=torch.float64) / steps
    z = process.alpha_sigma(times[0])[0] * start
    for t, later in itertools.pairwise(times):
        alpha, sigma = process.alpha_sigma(t)
        x0, eps = split("eps", DATA.best("eps", z, alpha, sigma), z, alpha, sigma)
        alpha, sigma = process.alpha_sigma(later)
        z = alpha * x0 + sigma * eps
    assert (z - start).abs().max() > 0.5
    back = sample(DATA.predictor("eps", process), process, "eps", z, steps)
    torch.testing.assert_close(back, start, rtol=0, atol=0.02)


def test_full_discrete_ancestral_step_is_ddpms_posterior():
    """One step of the table against Ho et al. 2020, Eq. 6–7, written with betas."""
    process = Discrete(10, 0.1, 0.9)
    betas = torch.linspace(0.1, 0.9, 10, dtype=torch.float64)
    signal = (1 - betas).cumprod(0)
    z, x0, noise = (standard_normal(seed, 5) for seed in range(3))
    trajectory: list[torch.Tensor] = []

    def predict(z: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        trajectory.append(z)
        return x0

    sample(predict, process, "x0", z, 10, method="ancestral", draw=lambda i: noise)
    mean = signal[8].sqrt() * betas[9] / (1 - signal[9]) * x0
    mean += (1 - betas[9]).sqrt() * (1 - signal[8]) / (1 - signal[9]) * z
    deviation = (betas[9] * (1 - signal[8]) / (1 - signal[9])).sqrt()
    torch.testing.assert_close(trajectory[1], mean + deviation * noise, rtol=1e-5, atol=1e-5)


def test_network_sees_its_own_time_for_every_image():
    process = Continuous(-5.0, 10.0, learned=True)
    with torch.no_grad():
        process.start -= 3
    seen: list[torch.Tensor] = []

    def predict(z: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        seen.append(time.detach())
        return torch.zeros_like(z)

    sample(predict, process, "v", torch.zeros(4, 3), 2)
    torch.testing.assert_close(torch.stack(seen), torch.tensor([[12 / 15] * 4, [4.5 / 15] * 4]))


def test_under_vmap_each_member_samples_as_alone():
    process = Continuous()
    gains, noise = torch.tensor([0.3, 0.8]), torch.randn(2, 5, 3, generator=torch.Generator().manual_seed(0))

    def one(gain, noise):
        return sample(lambda z, time: gain * z * time[:, None], process, "v", noise, 7)

    together = torch.func.vmap(one)(gains, noise)
    torch.testing.assert_close(together, torch.stack([one(g, n) for g, n in zip(gains, noise)]))


def test_bad_requests_are_input_errors():
    noise, process = torch.zeros(2, 3), Continuous()
    with pytest.raises(InputError, match="did you mean 'ddim'"):
        sample(lambda z, t: z, process, "eps", noise, 5, method="dim")
    with pytest.raises(InputError, match="draw"):
        sample(lambda z, t: z, process, "eps", noise, 5, method="ancestral")
    with pytest.raises(InputError, match="at least 1"):
        sample(lambda z, t: z, process, "eps", noise, 0)


def test_alpha_sigma_at_the_clean_end():
    alpha, sigma = alpha_sigma(torch.tensor(-torch.inf))
    assert (alpha.item(), sigma.item()) == (1.0, 0.0)
