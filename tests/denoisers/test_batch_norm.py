"""Normalisation by batches: torch's own while training, settled statistics to draw with."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn

from conceptlab.denoisers import BatchNorm
from conceptlab.errors import InputError
from conceptlab.recipe import Optimiser
from conceptlab.training import Cohort, CohortDenoiser
from conceptlab.training.cohort import SETTLING
from tests.tiny import distance, tiny_recipe

OKAWA = {"name": "okawa2023", "features": 16}
LAYER = "denoiser.enter.first.1"


def recipes():
    optimiser = Optimiser(learning_rate=1e-4)
    return [tiny_recipe(denoiser=OKAWA, optimiser=optimiser, seed=seed) for seed in (0, 1)]


def test_while_training_it_is_torchs_batch_norm():
    ours, theirs = BatchNorm(6), nn.BatchNorm2d(6)
    x = 3 + 2 * torch.randn(5, 6, 4, 7, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(ours(x), theirs(x))


def test_to_draw_with_it_uses_its_own_statistics():
    ours, theirs = BatchNorm(3), nn.BatchNorm2d(3)
    for name, held in (("mean", theirs.running_mean), ("variance", theirs.running_var)):
        assert held is not None
        held.copy_(torch.tensor([0.5, 2.0, 1.5]))
        getattr(ours, name).data.copy_(held)
    x = torch.randn(4, 3, 2, 2, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(ours.eval()(x), theirs.eval()(x))


def test_settled_statistics_are_those_of_the_batches_that_come_next():
    cohort = Cohort(recipes())
    cohort.advance(3)
    step, weights = int(cohort.step), cohort.weights.clone()
    cohort.settle()
    assert int(cohort.step) == step
    changed = {n for n, v in cohort.layout.views(cohort.weights).items()
               if not torch.equal(v, cohort.layout.views(weights)[n])}  # fmt: skip
    assert changed == {n for n in cohort.layout.names if n.endswith((".mean", ".variance"))}
    # By hand for the first layer, whose input is the noisy image: a convolution of all batches' images at once.
    entered = []
    hook = cohort.objective.get_submodule(LAYER).register_forward_pre_hook(
        lambda module, inputs: entered.append(inputs[0].detach())
    )
    for offset in range(SETTLING):
        cohort.step.fill_(step + offset)
        keys, *batch = cohort._draw()
        cohort._member_losses(cohort._state(cohort.weights), keys, *batch)
    hook.remove()
    images = torch.stack([x.unflatten(0, (2, -1)) for x in entered])  # (batches, E, B, C, H, W)
    variance, mean = torch.var_mean(images, (0, 2, 4, 5), correction=0)
    views = cohort.layout.views(cohort.weights)
    torch.testing.assert_close(views[f"{LAYER}.mean"], mean, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(views[f"{LAYER}.variance"], variance, rtol=1e-4, atol=1e-5)


def test_the_moving_average_has_statistics_that_belong_to_it():
    """Averages of statistics would be those of no network: they are set for the averaged weights, as for the raw."""
    cohort = Cohort([replace(made, ema=0.9) for made in recipes()])
    cohort.advance(3)
    assert cohort.ema is not None
    averaged = Cohort(recipes())
    averaged.weights.copy_(cohort.ema)
    averaged.step.copy_(cohort.step)
    averaged.settle()
    cohort.settle()
    torch.testing.assert_close(cohort.ema, averaged.weights)


def test_statistics_do_not_touch_training_and_have_no_gradient():
    settled, plain = Cohort(recipes()), Cohort(recipes())
    for _ in range(3):
        settled.advance(2)
        settled.settle()
        plain.advance(2)
    apart = settled.layout.mask().bool()
    assert torch.equal(settled.weights[:, apart], plain.weights[:, apart])
    assert not apart.all(), "statistics are not trained"


def test_members_have_their_own_statistics_and_plain_networks_use_them():
    cohort = Cohort(recipes())
    cohort.advance(5)
    cohort.settle()
    alone = Cohort(recipes()[1:])
    alone.advance(5)
    alone.settle()
    assert distance(cohort.weights[1], alone.weights[0]) <= 1e-4
    denoiser, _ = cohort.member(1)
    x, time = torch.rand(4, 3, 8, 8), torch.linspace(0.1, 0.9, 4)
    condition = torch.rand(4, *denoiser.condition_shape)
    together = CohortDenoiser(denoiser).eval()
    state = {name: p[None] for name, p in denoiser.named_parameters()}
    found = torch.func.functional_call(together, state, (x[None], time[None], condition[None]))
    torch.testing.assert_close(found[0], denoiser(x, time, condition), rtol=1e-4, atol=1e-5)


def test_a_network_that_cannot_be_stacked_must_not_have_it():
    class Odd(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.image_shape = (3, 8, 8)
            self.norm, self.odd = BatchNorm(4), nn.Conv2d(4, 4, 3, dilation=2)

    with pytest.raises(InputError, match=r"'odd'.*BatchNorm"):
        CohortDenoiser(Odd())  # type: ignore[arg-type]
