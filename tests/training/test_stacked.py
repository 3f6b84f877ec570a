"""Stacked networks against the plain ones they are made of."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call

from conceptlab.denoisers import BatchNorm, Denoiser, build, load_weights
from conceptlab.denoisers.base import SharedEmbedding
from conceptlab.errors import InputError
from conceptlab.training import CohortDenoiser
from conceptlab.training.layers import StackedConvNorm, TurnedProduct
from conceptlab.training.stacked import _replace

IMAGE, CONDITION = (3, 8, 8), (6,)
NETWORKS = {
    "film": {"name": "film", "channels": [8, 16]},
    "film, group norm": {"name": "film", "channels": [16, 32], "norm": "group", "embedding_kind": "mlp"},
    "okawa2023": {"name": "okawa2023", "features": 16},
    "okawa2023, the paper's": {
        "name": "okawa2023",
        "features": 16,
        "attention": True,
        "condition_entry": "concatenate",
    },
    "park2024": {"name": "park2024", "channels": [16, 32], "blocks_per_level": 1},
    "park2024, shared": {"name": "park2024", "channels": [16, 32], "condition_mlp": "shared"},
}


class Own(Denoiser):
    """A user's network; `middle` is what makes it special."""

    def __init__(self, padding_mode: str = "zeros") -> None:
        super().__init__(IMAGE, CONDITION)
        self.condition_embedding = SharedEmbedding(nn.Linear(6, 4))
        self.enter = nn.Conv2d(3, 4, 3, padding=1, padding_mode=padding_mode)
        self.leave = nn.Conv2d(4, 3, 1)

    def middle(self, x: Tensor) -> Tensor:
        return x

    def denoise(self, x: Tensor, time: Tensor, embedding: dict[str, Tensor]) -> Tensor:
        shift = (embedding["shared"] * time[:, None])[:, :, None, None]
        return self.leave(self.middle(self.enter(x) + shift))


class Stranger(Own):
    """It has weights in a layer that no stacked one stands for."""

    def __init__(self) -> None:
        super().__init__()
        self.scales = nn.ParameterList([nn.Parameter(torch.randn(4))])

    def middle(self, x: Tensor) -> Tensor:
        return x * self.scales[0][:, None, None]


class OwnWeight(Own):
    """It has a weight of its own, in no layer at all."""

    def __init__(self, *shape: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.randn(shape))

    def middle(self, x: Tensor) -> Tensor:
        return x * self.scale


class PlainNorm(Own):
    """It has a layer that would be stacked had it weights, and numbers that are not trained."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(2, 4, affine=False)
        self.register_buffer("factors", torch.arange(4.0))

    def middle(self, x: Tensor) -> Tensor:
        return self.norm(x) * self.get_buffer("factors")[:, None, None]


class Twice(Own):
    """It uses one layer in two places."""

    def __init__(self) -> None:
        super().__init__()
        self.first = self.second = nn.Conv2d(4, 4, 3, padding=1)

    def middle(self, x: Tensor) -> Tensor:
        return self.second(torch.relu(self.first(x)))


class Tied(Own):
    """Two layers with one weight."""

    def __init__(self) -> None:
        super().__init__()
        self.more = nn.Conv2d(4, 3, 1)
        self.more.weight = self.leave.weight


OWN: dict[str, Callable[[], Denoiser]] = {
    "stranger": Stranger,
    "circular": lambda: Own("circular"),
    "a number": OwnWeight,
    "a weight": lambda: OwnWeight(1, 4, 8, 8),
    "plain norm": PlainNorm,
    "twice": Twice,
}
ONE_BY_ONE = {"stranger", "circular", "a number", "a weight"}


def perturbed(seed: int, name: str) -> Denoiser:
    """A network whose zero-initialised layers are not zero, so that nothing is hidden."""
    torch.manual_seed(seed)
    network = (
        OWN[name]()
        if name in OWN
        else build(image_shape=IMAGE, condition_shape=CONDITION, seed=seed, **NETWORKS[name])
    )
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return network.eval()


@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize("name", [*NETWORKS, *OWN])
def test_each_member_computes_what_it_computes_alone(name, members, caplog):
    plain = [perturbed(seed, name) for seed in range(members)]
    x, time, condition = (
        torch.randn(members, 2, *IMAGE),
        torch.rand(members, 2),
        torch.randn(members, 2, *CONDITION),
    )
    with caplog.at_level(logging.WARNING):
        cohort = CohortDenoiser(plain[0]).eval()
    assert ("one after another" in caplog.text) == (name in ONE_BY_ONE)
    tables = [dict(network.named_parameters()) for network in plain]
    state = {key: torch.stack([table[key].detach() for table in tables]) for key in tables[0]}
    found = functional_call(cohort, state, (x, time, condition))
    for index, network in enumerate(plain):
        expected = network(x[index], time[index], condition[index])
        torch.testing.assert_close(found[index], expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", OWN)
def test_what_a_cohort_keeps_of_a_network_is_all_it_takes_to_have_it_again(name):
    network, other = perturbed(0, name), perturbed(1, name)
    load_weights(other, dict(network.named_parameters()))
    inputs = torch.randn(2, *IMAGE), torch.rand(2), torch.randn(2, *CONDITION)
    torch.testing.assert_close(other(*inputs), network(*inputs))


def test_weights_that_do_not_fit_are_refused_in_one_line():
    network, weights = Own(), dict(OwnWeight(4, 1, 1).named_parameters())
    for held, said in (
        (weights, "'scale' has no place"),
        ({}, "no 'condition_embedding.network.weight'"),
        ({"leave.bias": torch.zeros(7)}, "size mismatch for leave.bias"),
    ):
        with pytest.raises(InputError, match=said) as refusal:
            load_weights(network, held)
        assert "\n" not in str(refusal.value)


def test_layers_that_share_a_weight_are_refused():
    with pytest.raises(InputError, match="layers 'leave' and 'more' share a weight"):
        CohortDenoiser(Tied())


def test_gradients_of_matrices_that_lie_turned_come_out_as_they_lie():
    """A GPU joins gradients to one matrix; what lies in another order would be copied first."""
    draw = torch.Generator().manual_seed(0)
    rows = torch.randn(3, 5, 4, generator=draw, dtype=torch.float64)
    stored = torch.randn(3, 6, 4, generator=draw, dtype=torch.float64)
    to_result = torch.randn(3, 5, 6, generator=draw, dtype=torch.float64)

    def gradients(product):
        given = rows.clone().requires_grad_(), stored.clone().requires_grad_()
        result = product(given[0], given[1].mT)
        return result, *torch.autograd.grad(result, given, to_result)

    for ours, theirs in zip(gradients(TurnedProduct.apply), gradients(torch.bmm)):
        torch.testing.assert_close(ours, theirs)
    assert gradients(TurnedProduct.apply)[2].is_contiguous()
    assert not gradients(torch.bmm)[2].is_contiguous(), "otherwise there is nothing to mend"
    given = rows.clone().requires_grad_()
    (found,) = torch.autograd.grad(TurnedProduct.apply(given, stored.mT), given, to_result)
    torch.testing.assert_close(found, to_result @ stored, msg="of frozen weights none is computed")


def test_a_convolution_and_its_batch_norm_are_one_layer_under_the_names_they_had():
    convolution = nn.Conv2d(3, 4, 3, padding=1, bias=False)
    plain = nn.ModuleDict({"block": nn.Sequential(convolution, BatchNorm(4, gelu=True))})
    names = [name for name, _ in plain.named_parameters()]
    stacked = _replace(plain)
    assert isinstance(stacked.get_submodule("block"), StackedConvNorm)
    assert [name for name, _ in stacked.named_parameters()] == names


@pytest.mark.parametrize("layers", [2, 3])
def test_other_blocks_stay_apart(layers):
    biased = [nn.Conv2d(3, 4, 3, padding=1), BatchNorm(4)]
    longer = [nn.Conv2d(3, 4, 3, padding=1, bias=False), BatchNorm(4), nn.ReLU()]
    stacked = _replace(nn.ModuleDict({"block": nn.Sequential(*(biased if layers == 2 else longer))}))
    assert type(stacked.get_submodule("block")) is nn.Sequential
