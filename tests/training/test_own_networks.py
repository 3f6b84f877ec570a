"""Networks as people write them: a member computes with all its network has, and does as the plain network does."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from conceptlab.denoisers import Denoiser, KeyedDropout, register
from conceptlab.denoisers.base import SharedEmbedding
from conceptlab.evaluation import Prompt, generate
from conceptlab.recipe import Evaluation, Recipe
from conceptlab.training import Cohort
from tests.tiny import WORLD, distance


class Own(Denoiser):
    """It drops out, and has a layer that it makes no use of; `middle` is what makes it special."""

    def __init__(self, image_shape: tuple[int, ...], condition_shape: tuple[int, ...]) -> None:
        super().__init__(image_shape, condition_shape)
        self.condition_embedding = SharedEmbedding(nn.Linear(condition_shape[0], 4))
        self.unused = nn.Linear(3, 3)
        self.enter, self.drop = nn.Conv2d(3, 4, 3, padding=1), KeyedDropout(0.3, 0)
        self.leave = nn.Conv2d(4, 3, 1)

    def middle(self, x: Tensor) -> Tensor:
        return x

    def denoise(self, x: Tensor, time: Tensor, embedding: dict[str, Tensor]) -> Tensor:
        shift = (embedding["shared"] * time[:, None])[:, :, None, None]
        return self.leave(self.drop(self.middle(self.enter(x) + shift)))


@register("test: stacked")
class Stacked(Own):
    """All its layers can be stacked. It does something else while it trains, as it tells by itself."""

    def middle(self, x: Tensor) -> Tensor:
        return torch.relu(x) if self.training else torch.relu(2 * x)


@register("test: in turn")
class InTurn(Stacked):
    """It has a weight of its own, and its members run one after another."""

    def __init__(self, image_shape: tuple[int, ...], condition_shape: tuple[int, ...]) -> None:
        super().__init__(image_shape, condition_shape)
        self.scale = nn.Parameter(torch.ones(4, 1, 1))

    def middle(self, x: Tensor) -> Tensor:
        return super().middle(self.scale * x)


@register("test: hooked")
class Hooked(Own):
    """A hook works on what a layer gives, as older ways to normalise weights do on what it has."""

    def __init__(self, image_shape: tuple[int, ...], condition_shape: tuple[int, ...]) -> None:
        super().__init__(image_shape, condition_shape)
        self.enter.register_forward_hook(_tripled)


def _tripled(layer: nn.Module, given: object, output: Tensor) -> Tensor:
    return 3 * output


OWN = ("test: stacked", "test: in turn", "test: hooked")


def recipe(name: str, seed: int = 0) -> Recipe:
    return Recipe(
        world=WORLD,
        train={"000": 20, "100": 20},
        denoiser={"name": name},
        batch=4,
        evaluation=Evaluation(sampler_steps=2),
        seed=seed,
    )


@pytest.mark.parametrize("name", OWN)
def test_three_members_train_and_draw_as_each_does_alone(name):
    recipes = [recipe(name, seed) for seed in range(3)]
    prompt = Prompt("any", torch.ones(6), 2, stream="any")
    together = Cohort(recipes)
    together.advance(10)
    drawn = generate(together, "raw", [[prompt]] * 3)
    for index, one in enumerate(recipes):
        alone = Cohort([one])
        alone.advance(10)
        assert distance(together.weights[index], alone.weights[0]) <= 1e-4
        torch.testing.assert_close(drawn[index], generate(alone, "raw", [[prompt]])[0], rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", OWN)
def test_a_cohort_computes_what_the_plain_network_does(name):
    """The plain one is what is read back from a checkpoint."""

    class Called(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.denoiser = cohort.denoiser

        def forward(self, *inputs: Tensor) -> Tensor:
            return self.denoiser(*inputs)

    cohort = Cohort([recipe(name)])
    cohort.advance(2)
    inputs = torch.randn(1, 2, 3, 8, 8), torch.rand(1, 2), torch.randn(1, 2, 6)
    plain = cohort.member(0)[0]
    with torch.no_grad():
        found, expected = cohort.each("raw", Called(), *inputs), plain(*(part[0] for part in inputs))
    torch.testing.assert_close(found[0], expected, rtol=1e-4, atol=1e-5)


def test_what_a_network_makes_no_use_of_stays_as_it_was():
    cohort = Cohort([recipe("test: stacked", seed) for seed in range(2)])
    before = cohort.weights.clone()
    cohort.advance(3)
    old, new = cohort.layout.views(before), cohort.layout.views(cohort.weights)
    assert torch.equal(old["denoiser.unused.weight"], new["denoiser.unused.weight"])
    assert not torch.equal(old["denoiser.leave.weight"], new["denoiser.leave.weight"])
