"""What a network costs, counted against torch's own counter."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from conceptlab.denoisers import _DENOISERS, Denoiser, build, register
from conceptlab.errors import InputError
from conceptlab.training.cost import member_bytes, model_flops, network_of, world_of
from tests.tiny import tiny_recipe


@pytest.mark.parametrize(
    "part",
    [
        {"name": "film"},
        {"name": "okawa2023", "features": 16, "condition_groups": [2, 3, 1], "attention": True},
    ],
)
def test_arithmetic_is_what_torch_counts(part):
    recipe = tiny_recipe(denoiser=part)
    world = world_of(recipe)
    denoiser = build(image_shape=world.image_shape, condition_shape=world.condition_shape, seed=0, **part)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        denoiser.eval()(torch.zeros(1, *world.image_shape), torch.zeros(1), torch.zeros(1, 6))
    assert model_flops(recipe) == counter.get_total_flops() > 0


class Weighted(nn.Module):
    """An embedding without layers: it is one itself, and gives more than a tensor."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(inputs, 3))

    def forward(self, condition: Tensor) -> dict[str, Tensor]:
        return {"shared": condition @ self.weight}


class Plain(Denoiser):
    def __init__(
        self, image_shape: tuple[int, ...], condition_shape: tuple[int, ...], channels: int = 3
    ) -> None:
        super().__init__(image_shape, condition_shape)
        self.condition_embedding = Weighted(condition_shape[0])
        self.leave = nn.Conv2d(3, channels, 1)

    def denoise(self, x: Tensor, time: Tensor, embedding: dict[str, Tensor]) -> Tensor:
        return self.leave(x + embedding["shared"][:, :, None, None])


@pytest.fixture
def plain():
    register("plain")(Plain)
    yield
    _DENOISERS._makers.pop("plain")


def test_layers_may_give_several_tensors(plain):
    recipe = tiny_recipe(denoiser={"name": "plain"})
    images = math.prod(world_of(recipe).image_shape)
    assert network_of(recipe).outputs == 3 + images


def test_a_network_that_gives_another_shape_is_refused(plain):
    """The loss would compare its one channel with each of the three."""
    with pytest.raises(InputError, match=r"denoiser 'plain' gives \(1, .* for an image of \(3, "):
        model_flops(tiny_recipe(denoiser={"name": "plain", "channels": 1}))


def test_a_network_that_returns_nothing_is_refused(plain, monkeypatch):
    monkeypatch.setattr(Plain, "denoise", lambda self, x, time, embedding: None)
    with pytest.raises(
        InputError, match=r"denoiser 'plain' gives NoneType for an image .*; let denoise return"
    ):
        model_flops(tiny_recipe(denoiser={"name": "plain", "channels": 4}))


def test_a_network_that_gives_complex_numbers_is_refused(plain, monkeypatch):
    """The loss would be that of their real parts."""
    monkeypatch.setattr(Plain, "denoise", lambda self, x, time, embedding: torch.fft.fft2(x))
    with pytest.raises(InputError, match=r"denoiser 'plain' gives numbers of torch.complex64"):
        model_flops(tiny_recipe(denoiser={"name": "plain", "channels": 5}))


def test_an_embedding_without_names_is_refused(plain, monkeypatch):
    """Interventions edit embeddings by their names; one tensor would only fail at the first evaluation."""
    monkeypatch.setattr(Plain, "embed", lambda self, condition: condition.flatten(1))
    with pytest.raises(InputError, match="denoiser 'plain': condition_embedding must give named tensors"):
        model_flops(tiny_recipe(denoiser={"name": "plain", "channels": 2}))


def test_a_plan_leaves_threads_and_random_numbers_as_they_were():
    before = torch.get_num_threads(), torch.random.get_rng_state()
    member_bytes(tiny_recipe(denoiser={"name": "film", "channels": [16, 24]}))
    assert torch.get_num_threads() == before[0]
    assert torch.equal(torch.random.get_rng_state(), before[1])
