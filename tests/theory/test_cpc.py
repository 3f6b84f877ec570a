"""CPC distributions and their scores, against exact answers: Lemma 1, couplings, and composition."""

from __future__ import annotations

import math

import pytest
import torch

from conceptlab.errors import InputError
from conceptlab.theory import (
    Cpc,
    Mixture,
    composed_score,
    condition_error,
    couple_modes,
    couple_pixels,
    energy_distance,
    flow_samples,
    lcs_error,
    lemma_error,
    noise_levels,
    product,
    random_cpc,
)

LEVELS = (0.01, 0.1, 0.7, 4.0, 30.0)
ALL = (0, 1, 2)


def gaussian(mean: float, variance: float) -> Mixture:
    return Mixture(torch.ones(1), torch.tensor([[mean]]), torch.tensor([[[variance]]]))


def test_a_gaussian_has_the_score_of_a_gaussian() -> None:
    x = torch.tensor([[2.0]], dtype=torch.float64)
    one = gaussian(1.0, 0.5)
    assert one.score(x, 0.5).item() == pytest.approx(-1 / 0.75)
    assert one.score_jacobian(x, 0.5).item() == pytest.approx(-1 / 0.75)
    assert one.log_density(x, 0.5).item() == pytest.approx(-0.5 / 0.75 - 0.5 * math.log(2 * math.pi * 0.75))


def test_the_score_is_the_gradient_of_the_density_and_draws_are_from_it() -> None:
    mixture = random_cpc(3).joint(ALL)
    x = mixture.draw(8, 0.3, 0).requires_grad_()
    (gradient,) = torch.autograd.grad(mixture.log_density(x, 0.3).sum(), x)
    torch.testing.assert_close(mixture.score(x, 0.3), gradient, rtol=1e-9, atol=1e-9)
    many = mixture.draw(40_000, 0.3, 1)
    assert (many.mean(0) - mixture.mean).abs().max() < 0.03
    # Stein: E[x score] = -I for any density
    assert (many.T @ mixture.score(many, 0.3) / len(many) + torch.eye(11)).abs().max() < 0.1


def test_a_product_has_the_density_of_its_factors() -> None:
    cpc = random_cpc(1, modes=3)
    joint, x = cpc.joint((0, 2)), torch.randn(5, 11, dtype=torch.float64)
    blocks = cpc.blocks((0, 2))
    assert blocks == [(0, 1, 2), (6, 7, 8), (3, 4, 5, 9, 10)]
    parts = [cpc.parts[0], cpc.parts[2], cpc.background.marginal(blocks[2])]
    separate = sum(part.log_density(x[:, list(b)], 0.2) for part, b in zip(parts, blocks))
    torch.testing.assert_close(joint.log_density(x, 0.2), separate)
    assert len(joint.weights) == 9


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sigma", LEVELS)
def test_lemma_1_holds_at_every_noise_level(seed: int, sigma: float) -> None:
    cpc = random_cpc(seed)
    joint = cpc.joint(ALL)
    x = joint.draw(6, sigma, seed)
    assert lemma_error(joint, cpc.blocks(ALL), sigma, x) < 1e-10
    assert condition_error(cpc, ALL, sigma, x) < 1e-10
    assert lcs_error(joint, cpc.blocks(ALL), sigma, 200).relative < 1e-10


def test_the_lemma_is_not_true_of_everything() -> None:
    cpc = random_cpc(0)
    coupled = couple_modes(cpc, ALL, 0.5)
    x = coupled.draw(50, 0.7, 0)
    assert lemma_error(coupled, cpc.blocks(ALL), 0.7, x) > 0.01
    wrong = [(0, 1), (2, 3, 4, 5), (6, 7, 8), (9, 10)]
    assert lemma_error(cpc.joint(ALL), wrong, 0.7, x) > 0.01


@pytest.mark.parametrize("couple", [couple_modes, couple_pixels])
def test_couplings_leave_every_region_as_it_was_and_vanish_with_epsilon(couple) -> None:
    cpc = random_cpc(2)
    x = torch.randn(6, 11, dtype=torch.float64)
    plain, coupled = cpc.joint(ALL), couple(cpc, ALL, 0.4)
    for block in cpc.blocks(ALL):
        inside = x[:, list(block)]
        one, other = (m.marginal(block).log_density(inside, 0.1) for m in (plain, coupled))
        torch.testing.assert_close(one, other)
    assert (plain.log_density(x, 0.1) - coupled.log_density(x, 0.1)).abs().max() > 0.1
    torch.testing.assert_close(couple(cpc, ALL, 0.0).log_density(x, 0.1), plain.log_density(x, 0.1))


def test_lcs_error_of_two_coupled_pixels_has_its_exact_value() -> None:
    """Correlated Gaussians: the score is -S⁻¹x, the local one -x/s, E|·|² is a trace."""
    pixel = gaussian(0.0, 1.0)
    nothing = product([((0,), pixel), ((1,), pixel)])
    coupled = couple_pixels(Cpc(nothing, ((0,), (1,)), (pixel, pixel)), (0, 1), 0.5)
    sigma, rho = 0.6, 0.5
    s = 1 + sigma**2
    covariance = torch.tensor([[s, rho], [rho, s]], dtype=torch.float64)
    away = torch.linalg.inv(covariance) - torch.eye(2, dtype=torch.float64) / s
    exact = math.sqrt(float(torch.trace(away @ covariance @ away.T)) / 2)
    found = lcs_error(coupled, [(0,), (1,)], sigma, 100_000)
    assert found.absolute == pytest.approx(exact, rel=0.01)
    assert found.eps == pytest.approx(sigma * exact, rel=0.01)
    assert found.relative == pytest.approx(
        exact / math.sqrt(float(torch.linalg.inv(covariance).trace()) / 2), rel=0.01
    )


def test_mode_coupling_hides_at_low_noise_and_washes_out_at_high_noise() -> None:
    cpc = random_cpc(0, separation=4.0)
    errors = [lcs_error(couple_modes(cpc, ALL, 0.3), cpc.blocks(ALL), s).relative for s in (0.05, 1.5, 20.0)]
    assert errors[0] < 0.02 * errors[1]
    assert errors[2] < 0.1 * errors[1]


def test_composed_scores_are_exact_for_cpc_and_wrong_for_coupled_modes() -> None:
    cpc = random_cpc(0)
    singles = [cpc.joint([j]) for j in ALL]
    composed, joint = composed_score(cpc.joint([]), singles), cpc.joint(ALL)
    for sigma in LEVELS:
        x = joint.draw(20, sigma, 0)
        score = joint.score(x, sigma)
        assert (composed(x, sigma) - score).abs().max() / score.abs().max() < 1e-10
    coupled = couple_modes(cpc, ALL, 0.9)
    truth, other = coupled.draw(1200, 0.0, 1), coupled.draw(1200, 0.0, 2)
    floor = energy_distance(other, truth)
    own = energy_distance(flow_samples(coupled.score, 11, 1200, 3), truth)
    built = energy_distance(flow_samples(composed, 11, 1200, 3), truth)
    assert abs(floor) < 0.01
    assert own < 0.01 < built


def test_the_flow_of_a_gaussian_ends_with_its_spread() -> None:
    x = flow_samples(gaussian(0.0, 4.0).score, 1, 4000, 0, noise_levels(50.0, 0.02, 60))
    assert float(x.std()) == pytest.approx(2.0, rel=0.05)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Mixture(torch.ones(2), torch.zeros(2, 1), torch.ones(2, 1, 1)), "add up to 1"),
        (lambda: Mixture(torch.ones(1), torch.zeros(1, 2), torch.ones(1, 1, 1)), "covariances"),
        (lambda: product([((0,), gaussian(0, 1)), ((0,), gaussian(0, 1))]), "once each"),
        (lambda: Cpc(gaussian(0, 1), ((0,), (0,)), (gaussian(0, 1),) * 2), "disjoint"),
        (lambda: Cpc(gaussian(0, 1), ((0,),), ()), "1 regions but 0"),
        (lambda: couple_modes(random_cpc(0), ALL, 1.0), r"in \[0, 1\)"),
        (lambda: noise_levels(1.0, 2.0), "noise levels"),
        (lambda: energy_distance(torch.zeros(1, 2), torch.zeros(3, 2)), "two points"),
    ],
)
def test_bad_input_is_one_clear_line(make, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()
