from __future__ import annotations

import math

import pytest
import torch

from conceptlab.diffusion import Continuous, Cosine, Discrete, build, spread
from conceptlab.errors import InputError


@pytest.mark.parametrize("process", [Continuous(), Continuous(learned=True), Cosine(), Discrete(500)])
def test_variance_is_preserved_and_noise_grows(process):
    t = torch.linspace(0.002, 1, 500)
    alpha, sigma = process.alpha_sigma(t)
    torch.testing.assert_close(alpha**2 + sigma**2, torch.ones(500))
    assert (process.gamma(t).diff() > 0).all()
    torch.testing.assert_close(torch.log(sigma**2 / alpha**2), process.gamma(t), rtol=1e-3, atol=1e-3)


def test_discrete_table_is_the_product_of_the_betas():
    process = Discrete(steps=10, beta_min=0.1, beta_max=0.9)
    betas = torch.linspace(0.1, 0.9, 10, dtype=torch.float64)
    alpha, _ = process.alpha_sigma(torch.arange(11) / 10)
    expected = torch.cat((torch.ones(1, dtype=torch.float64), (1 - betas).cumprod(0)))
    torch.testing.assert_close(alpha.double() ** 2, expected, rtol=1e-5, atol=1e-9)
    assert process.alpha_sigma(torch.zeros(1))[1] == 0


def test_discrete_tends_to_its_continuous_limit():
    """log alpha-bar → -∫ beta with beta(t) = T (beta_min + t (beta_max - beta_min)): DDPM's linear schedule."""
    errors = []
    for steps in (100, 1000, 10_000):
        low, high = 0.1 / steps, 20.0 / steps
        process = Discrete(steps, low, high)
        t = torch.linspace(0.1, 1, 10)
        limit = torch.exp(-(0.1 * t + 0.5 * t**2 * (20.0 - 0.1)))
        errors.append((process.alpha_sigma(t)[0] ** 2 - limit).abs().max().item())
    assert errors[0] > 5 * errors[1] > 25 * errors[2]


def test_discrete_times_are_its_levels_each_as_likely():
    process = Discrete(500)
    times = process.times((torch.arange(5000) + 0.5) / 5000)
    assert torch.equal(times, (torch.arange(5000) // 10 + 1) / 500)


@pytest.mark.parametrize("steps", [1, 3, 50, 499, 500])
def test_discrete_sampling_times_are_levels_from_the_last_down(steps):
    process = Discrete(500)
    index = process.sampling_times(steps, torch.device("cpu")) * 500
    assert len(index) == steps
    assert index[0] == 500
    torch.testing.assert_close(index, index.round(), rtol=0, atol=1e-3)
    gaps = -index.round().diff()
    assert steps == 1 or gaps.max() - gaps.min() <= 1
    assert index[-1] >= 1


def test_discrete_sampling_times_that_do_not_divide_are_rounded_up():
    """Members were drawn from at these levels; others would be other numbers."""
    process = Discrete(10, 0.1, 0.9)
    times = process.sampling_times(4, torch.device("cpu"))
    assert (times * 10).round().tolist() == [10, 8, 5, 3]


def test_cosine_is_the_cosine_between_its_ends():
    process = Cosine(-8, 9)
    t = torch.linspace(0, 1, 101, dtype=torch.float64)
    torch.testing.assert_close(process.gamma(t)[[0, -1]], torch.tensor([-8.0, 9.0], dtype=torch.float64))
    angles = torch.atan(torch.exp(torch.tensor([-4.0, 4.5], dtype=torch.float64)))
    angle = angles[0] + t * (angles[1] - angles[0])
    alpha, sigma = process.alpha_sigma(t)
    torch.testing.assert_close(alpha, torch.cos(angle))
    torch.testing.assert_close(sigma, torch.sin(angle))
    slope = torch.func.vmap(torch.func.grad(process.gamma))(t)
    torch.testing.assert_close(process.slope(t), slope)
    assert build("cosine", gamma_max=7).gamma(torch.ones(())).item() == pytest.approx(7, abs=1e-3)
    with pytest.raises(InputError, match="gamma_min 3 must be below"):
        Cosine(3, 2)
    with pytest.raises(InputError, match="does not end in noise"):
        Cosine(-8, 2)


def test_learned_schedule_starts_as_the_fixed_one_and_stays_monotone():
    fixed, learned = Continuous(-5, 10), Continuous(-5, 10, learned=True)
    t = torch.linspace(0, 1, 7)
    assert torch.equal(fixed.gamma(t), learned.gamma(t))
    torch.testing.assert_close(learned.network_time(t), t)
    assert len(list(fixed.parameters())) == 0
    assert {name for name, _ in learned.named_parameters()} == {"start", "width"}
    with torch.no_grad():
        learned.width.neg_()
        learned.start -= 3
    assert (learned.gamma(t).diff() > 0).all()
    assert learned.network_time(torch.zeros(1)).item() == pytest.approx(-3 / 15)


@pytest.mark.parametrize("kind", ["uniform", "stratified", "antithetic"])
def test_spread_is_uniform_on_average_and_in_range(kind):
    uniforms = torch.rand(4000, 16, generator=torch.Generator().manual_seed(0))
    times = spread(kind, uniforms)
    assert times.shape == uniforms.shape
    assert times.min() >= 0
    assert times.max() < 1
    counts = torch.histc(times.flatten(), bins=20, min=0, max=1) / times.numel()
    assert (counts - 0.05).abs().max() < 5 * math.sqrt(0.05 / times.numel())


def test_spread_covers_every_part():
    uniforms = torch.rand(100, 16, generator=torch.Generator().manual_seed(0))
    for kind in ("stratified", "antithetic"):
        parts = (spread(kind, uniforms) * 16).floor().sort(dim=1).values
        assert torch.equal(parts, torch.arange(16.0).expand(100, 16)), kind
    comb = spread("antithetic", uniforms).sort(dim=1).values.diff(dim=1)
    torch.testing.assert_close(comb, torch.full_like(comb, 1 / 16), rtol=0, atol=1e-6)
    ones = torch.full((1, 64), 1 - 2**-24)
    assert all(spread(kind, ones).max() < 1 for kind in ("uniform", "stratified", "antithetic"))


def test_a_process_that_does_not_end_in_noise_is_refused():
    with pytest.raises(InputError, match=r"alpha-bar is 0\.36"):
        build("discrete", steps=100)
    with pytest.raises(InputError, match="gamma_max"):
        build("continuous", gamma_max=2.0)
    assert isinstance(build("discrete", steps=100, allow_signal_at_end=True), Discrete)
    assert isinstance(build("discrete", steps=500), Discrete)


def test_bad_settings_are_input_errors():
    with pytest.raises(InputError, match="did you mean 'continuous'"):
        build("continous")
    with pytest.raises(InputError, match="did you mean 'gamma_min'"):
        build("continuous", gama_min=-5)
    with pytest.raises(InputError, match="below"):
        build("continuous", gamma_min=9.0)
    with pytest.raises(InputError, match="beta_min"):
        build("discrete", beta_min=0.5)
    with pytest.raises(InputError, match="at most 500"):
        Discrete(500).sampling_times(501, torch.device("cpu"))
    with pytest.raises(InputError, match="times"):
        spread("even", torch.rand(4))
