"""What the loss is taken of: pixels, times and conditions as the network sees them."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from conceptlab.diffusion import Continuous
from conceptlab.recipe import Recipe
from conceptlab.training import Cohort, Objective, to_image, to_model
from tests.training.test_cohort import recipe


def test_pixels_go_into_the_network_and_come_back():
    levels = torch.tensor([0, 51, 255], dtype=torch.uint8)
    shares = torch.tensor([0.0, 0.2, 1.0])
    for kind, seen in (("unit", shares), ("symmetric", shares * 2 - 1)):
        torch.testing.assert_close(to_model(levels, kind), seen)
        torch.testing.assert_close(to_model(shares, kind), seen)
        torch.testing.assert_close(to_image(to_model(shares, kind), kind), shares)
        assert to_image(torch.tensor([-9.0, 9.0]), kind).tolist() == [0.0, 1.0], (
            "nothing is brighter than white"
        )


def test_a_learned_schedule_shows_the_network_its_time_by_the_noise_level():
    process, seen = Continuous(-5.0, 10.0, learned=True), []
    with torch.no_grad():
        process.start -= 3

    class Spy(nn.Module):
        def forward(self, x: Tensor, time: Tensor, condition: Tensor) -> Tensor:
            seen.append(time.detach())
            return torch.zeros_like(x)

    made = Recipe(train={"0": 1}, times="uniform", prediction="eps")
    objective = Objective(Spy(), process, made)  # pyright: ignore[reportArgumentType]
    uniforms = torch.tensor([[0.2, 0.6]])
    objective(torch.rand(1, 2, 3, 4, 4), torch.zeros(1, 2, 1), torch.randn(1, 2, 3, 4, 4), uniforms)
    torch.testing.assert_close(seen[0], uniforms - 3 / 15)


def test_each_member_is_told_its_own_loss_since_the_last_time():
    recipes = [recipe(seed=s, train=train) for s, train in ((0, {"000": 20}), (1, {"111": 20}))]
    cohort, alone = Cohort(recipes), [Cohort([one]) for one in recipes]
    for _ in range(2):
        for each in (cohort, *alone):
            each.advance(3)
        told = cohort.take_losses()
        assert told == pytest.approx([solo.take_losses()[0] for solo in alone], rel=1e-4)
        assert told[0] != pytest.approx(told[1], rel=1e-2)


def test_conditions_are_dropped_whole_as_often_as_asked():
    made = recipe(condition_dropout=0.3, batch=64)
    dropping, telling = Cohort([made]), Cohort([recipe(batch=64)])
    shares = []
    for step in range(20):
        for cohort in (dropping, telling):
            cohort.step.fill_(step)
        conditions, told = dropping._draw_batch()[2], telling._draw_batch()[2]
        silent = (conditions == 0).all(-1)
        assert torch.equal(conditions[~silent], told[~silent]), "the others are as they were"
        assert not (told == 0).all(-1).any()
        shares.append(silent.float().mean().item())
    assert sum(shares) / len(shares) == pytest.approx(0.3, abs=0.05)
