"""Networks as people write them: a member computes with all its network has, and does as the plain network does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from conceptlab import random
from conceptlab.denoisers import BatchNorm, Denoiser, KeyedDropout, build, register
from conceptlab.denoisers.base import SharedEmbedding
from conceptlab.errors import InputError
from conceptlab.evaluation import Prompt, generate
from conceptlab.recipe import Evaluation, Recipe
from conceptlab.training import Cohort
from conceptlab.training.own_network import check_own
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


class Tried(Own):
    """A network that makes something more at first, and then does something with an image and the embedding."""

    def __init__(
        self,
        more: Callable[[], nn.Module | Tensor],
        does: Callable[[Tried, Tensor, Tensor], Tensor],
    ) -> None:
        super().__init__((3, 8, 8), (6,))
        made = more()
        if isinstance(made, Tensor):
            self.register_buffer("more", made)
        else:
            self.more = made
        self.does = does
        # As such networks begin; what lies before it must show all the same.
        nn.init.zeros_(self.leave.weight)

    def denoise(self, x: Tensor, time: Tensor, embedding: dict[str, Tensor]) -> Tensor:
        return super().denoise(self.does(self, x, embedding["shared"]), time, embedding)


def tried(
    more: Callable[[], nn.Module | Tensor], does: Callable[[Tried, Tensor, Tensor], Tensor]
) -> Callable[[int], Denoiser]:
    def make(seed: int) -> Denoiser:
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            return Tried(more, does)

    return make


def _nothing() -> Tensor:
    return torch.zeros(3, 1, 1)


def _by_numpy() -> nn.Module:
    layer = nn.Conv2d(3, 3, 1)
    layer.weight.data = torch.from_numpy(np.random.default_rng().normal(size=(3, 3, 1, 1))).float()
    return layer


CONDITIONS = torch.eye(6)[:2]
BROKEN = {
    "begins with other weights each time": (_by_numpy, lambda it, x, e: it.more(x)),
    "holds random numbers that are no parameters": (
        lambda: torch.randn(3, 1, 1),
        lambda it, x, e: torch.sin(x * it.more),
    ),
    "changes its buffer 'more.running_mean' while it trains": (
        lambda: nn.InstanceNorm2d(3, track_running_stats=True),
        lambda it, x, e: it.more(x),
    ),
    "changes its buffer 'more.parametrizations.weight.0._u'": (
        lambda: nn.utils.parametrizations.spectral_norm(nn.Conv2d(3, 3, 3, padding=1)),
        lambda it, x, e: it.more(x),
    ),
    "makes of an image what the others in its batch decide": (
        _nothing,
        lambda it, x, e: x - x.mean((0, 2, 3), keepdim=True),
    ),
    "changes the 'image' that denoise is given": (_nothing, lambda it, x, e: x.mul_(2)),
    "changes the embedding 'shared' that denoise is given": (
        _nothing,
        lambda it, x, e: x + e.mul_(2).sum(),
    ),
    "computes something else as a member of a cohort": (
        lambda: nn.Linear(3, 3),
        lambda it, x, e: x * it.more.weight.norm(),
    ),
    r"fails as a member of a cohort \(RuntimeError: ": (
        lambda: nn.Conv2d(3, 3, 1),
        lambda it, x, e: nn.functional.conv2d(x, it.more.weight),
    ),
    r"fails when a cohort takes its gradient \(RuntimeError: ": (
        lambda: nn.Conv2d(3, 3, 1),
        lambda it, x, e: torch.utils.checkpoint.checkpoint(it.more, x, use_reentrant=False),
    ),
}


@pytest.mark.parametrize("told", BROKEN)
def test_what_cannot_be_a_member_is_refused(told):
    with pytest.raises(InputError, match=f"^denoiser 'mine' {told}") as refusal:
        check_own(tried(*BROKEN[told]), "mine", CONDITIONS)
    assert "\n" not in str(refusal.value)


def test_what_nothing_can_train_is_refused():
    def frozen(seed: int) -> Denoiser:
        return tried(_nothing, lambda it, x, e: x)(seed).requires_grad_(False)

    with pytest.raises(InputError, match=r"^denoiser 'mine' has no weight with a gradient"):
        check_own(frozen, "mine", CONDITIONS)
    check_own(lambda seed: _frozen_but_last(frozen(seed)), "mine", CONDITIONS)


def _frozen_but_last(network: Denoiser) -> Denoiser:
    list(network.parameters())[-1].requires_grad_(True)
    return network


@pytest.mark.parametrize(
    ("more", "does"),
    [
        (_nothing, lambda it, x, e: x),
        (lambda: torch.arange(3.0).view(3, 1, 1), lambda it, x, e: x * it.more),
        (lambda: nn.ParameterList([torch.randn(3, 1, 1)]), lambda it, x, e: torch.sin(x * it.more[0])),
        (lambda: BatchNorm(3), lambda it, x, e: it.more(x)),
        (lambda: nn.InstanceNorm2d(3, affine=True), lambda it, x, e: it.more(x)),
        (lambda: nn.utils.parametrizations.weight_norm(nn.Conv2d(3, 3, 1)), lambda it, x, e: it.more(x)),
        (lambda: nn.ReLU(inplace=True), lambda it, x, e: it.more(x + e.sum(1)[:, None, None, None])),
    ],
)
def test_what_can_be_a_member_is_let_through(more, does):
    before = torch.get_rng_state()
    check_own(tried(more, does), "mine", CONDITIONS)
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize(
    "settings",
    [
        {"name": "film", "channels": [8, 16]},
        {"name": "okawa2023", "features": 16, "attention": True},
        {"name": "park2024", "channels": [16, 32], "dropout": 0.5},
    ],
)
def test_our_own_keep_the_rules(settings):
    def make(seed: int) -> Denoiser:
        return build(image_shape=(3, 8, 8), condition_shape=(6,), seed=seed, **settings)

    check_own(make, settings["name"], random.normal(random.key(0, "conditions"), (2, 6)))
