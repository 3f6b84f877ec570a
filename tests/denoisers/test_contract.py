"""What every denoiser promises, for every variant."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap

from conceptlab import random
from conceptlab.denoisers import (
    _DENOISERS,
    STATISTICS,
    Denoiser,
    KeyedDropout,
    build,
    dropout_keys,
    register,
    set_dropout_key,
)
from conceptlab.denoisers.contract import check_chance
from conceptlab.errors import InputError

from .conftest import CONDITION, IMAGE, inputs, perturbed, small


@pytest.mark.parametrize("image", [(3, 16, 16), (4, 8, 16), (1, 16, 8)])
def test_output_has_the_shape_of_the_image(settings, image):
    x, time, condition = inputs(batch=2, image=image)
    assert small(settings, image=image)(x, time, condition).shape == x.shape


def test_condition_and_time_matter(settings):
    denoiser = perturbed(small(settings)).eval()
    x, time, condition = inputs()
    out = denoiser(x, time, condition)
    assert not torch.allclose(out, denoiser(x, time, condition + 1), rtol=1e-3)
    assert not torch.allclose(out, denoiser(x, time.flip(0), condition), rtol=1e-3)


def test_images_of_a_batch_do_not_see_each_other(settings):
    denoiser = perturbed(small(settings)).eval().double()
    x, time, condition = (value.double() for value in inputs())
    alone = torch.cat([denoiser(x[i : i + 1], time[i : i + 1], condition[i : i + 1]) for i in range(len(x))])
    torch.testing.assert_close(denoiser(x, time, condition), alone, rtol=1e-9, atol=1e-9)


def test_forward_is_embed_then_denoise(settings):
    denoiser = perturbed(small(settings)).eval()
    x, time, condition = inputs()
    embedding = denoiser.embed(condition)
    assert embedding
    assert all(value.shape[0] == len(x) and value.ndim == 2 for value in embedding.values())
    assert torch.equal(denoiser.denoise(x, time, embedding), denoiser(x, time, condition))
    edited = {name: 2 * value for name, value in embedding.items()}
    assert not torch.allclose(denoiser.denoise(x, time, edited), denoiser(x, time, condition), rtol=1e-3)


def test_the_condition_acts_only_through_the_embedding_module(settings):
    """Patching `condition_embedding.` from another model carries that model's embedding over, and no more."""
    one, other = perturbed(small(settings, seed=0)).eval(), perturbed(small(settings, seed=1), seed=5).eval()
    x, time, condition = inputs()
    expected = one.denoise(x, time, other.embed(condition))
    patch = {k: v for k, v in other.state_dict().items() if k.startswith("condition_embedding.")}
    assert patch
    one.load_state_dict({**one.state_dict(), **patch})
    assert torch.equal(one(x, time, condition), expected)


def is_statistic(name: str) -> bool:
    return name.rpartition(".")[2] in STATISTICS


def test_frozen_embedding_gets_no_gradient_and_everything_else_does(settings):
    denoiser = perturbed(small(settings, embedding="frozen"))
    denoiser(*inputs()).square().sum().backward()
    for name, parameter in denoiser.named_parameters():
        untrained = name.startswith("condition_embedding.") or is_statistic(name)
        assert (parameter.grad is None) == untrained, name


def test_every_parameter_is_used(settings):
    denoiser = perturbed(small(settings)).double()
    denoiser(*(value.double() for value in inputs())).square().mean().backward()
    gradients = {name: p.grad for name, p in denoiser.named_parameters() if not is_statistic(name)}
    largest = max(gradient.abs().max() for gradient in gradients.values())
    for name, gradient in gradients.items():
        # Far above rounding: a bias that a normalisation removes again would show here.
        assert gradient.abs().max() > 1e-8 * largest, name


def test_same_seed_same_weights_and_torchs_generator_is_untouched(settings):
    torch.manual_seed(3)
    before = torch.get_rng_state()
    first, again, other = small(settings), small(settings), small(settings, seed=1)
    assert torch.equal(before, torch.get_rng_state())
    states = first.state_dict(), again.state_dict(), other.state_dict()
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])
    assert not all(torch.equal(states[0][name], states[2][name]) for name in states[0])


def test_stacked_models_equal_each_model_alone(settings):
    """The cohort's way of running: vmap over stacked weights, gradients and dropout masks included."""
    members = [perturbed(small(settings, seed=seed), seed=seed).double() for seed in range(3)]
    keys = torch.stack([random.key(seed, "dropout") for seed in range(3)])
    skeleton = copy.deepcopy(members[0])
    weights, buffers = stack_module_state(members)  # pyright: ignore[reportArgumentType]
    for name in dropout_keys(skeleton):
        buffers[name] = keys
    x, time, condition = (value.double() for value in inputs())

    def loss(weights, buffers):
        out = functional_call(skeleton, {**weights, **buffers}, (x, time, condition))
        return out.square().mean()

    stacked = vmap(torch.func.grad_and_value(loss))(weights, buffers)
    for index, member in enumerate(members):
        set_dropout_key(member, keys[index])
        value = member(x, time, condition).square().mean()
        value.backward()
        torch.testing.assert_close(stacked[1][index], value, rtol=1e-9, atol=0)
        for name, parameter in member.named_parameters():
            if is_statistic(name):
                continue
            tolerance = 1e-9 * parameter.grad.abs().max().item() + 1e-12
            torch.testing.assert_close(stacked[0][name][index], parameter.grad, rtol=0, atol=tolerance)


def test_runs_in_bfloat16(settings):
    denoiser = perturbed(small(settings)).eval()
    exact = denoiser(*inputs())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        rough = denoiser(*inputs())
    assert (rough.float() - exact).square().mean() < 0.05**2 * exact.square().mean()


def test_unknown_name_setting_and_choice_are_input_errors():
    with pytest.raises(InputError, match="did you mean 'film'"):
        build("flim", IMAGE, CONDITION, seed=0)
    with pytest.raises(InputError, match="did you mean 'channels'"):
        build("film", IMAGE, CONDITION, seed=0, chanels=(8, 8))
    with pytest.raises(InputError, match="known: none, group"):
        build("film", IMAGE, CONDITION, seed=0, norm="batch")
    with pytest.raises(InputError, match="did you mean 'frozen'"):
        build("film", IMAGE, CONDITION, seed=0, embedding="froze")
    with pytest.raises(InputError, match="multiple of 8"):
        build("film", IMAGE, CONDITION, seed=0, norm="group", channels=(8, 16))
    with pytest.raises(InputError, match="divisible by 4"):
        build("film", (3, 18, 16), CONDITION, seed=0)


def test_a_plug_in_is_built_by_its_name():
    @register("plug-in-of-this-test")
    class Plain(Denoiser):
        def __init__(self, image_shape, condition_shape, gain: float = 1.0) -> None:
            super().__init__(image_shape, condition_shape)
            self.condition_embedding = torch.nn.Identity()
            self.gain = gain

        def denoise(self, x, time, embedding):
            return self.gain * x

    assert build("plug-in-of-this-test", IMAGE, CONDITION, seed=0, gain=2.0).gain == 2.0
    with pytest.raises(InputError, match="already a denoiser"):
        register("plug-in-of-this-test")(Denoiser)


def test_a_plug_in_that_breaks_the_contract_is_told_how(monkeypatch):
    class NoHalves(Denoiser):
        pass

    class NoEmbedding(Denoiser):
        def denoise(self, x, time, embedding):
            return x

    class NoArguments(NoEmbedding):
        def __init__(self, features: int = 8) -> None:
            super().__init__(IMAGE, CONDITION)

    class NoDenoiser(torch.nn.Module):
        def __init__(self, image_shape, condition_shape) -> None:
            super().__init__()

    class Statistics(NoEmbedding):
        def __init__(self, image_shape, condition_shape) -> None:
            super().__init__(image_shape, condition_shape)
            self.condition_embedding = torch.nn.Identity()
            self.norms = torch.nn.Sequential(torch.nn.BatchNorm2d(3))

    class Lazy(NoEmbedding):
        def __init__(self, image_shape, condition_shape) -> None:
            super().__init__(image_shape, condition_shape)
            self.condition_embedding = torch.nn.LazyLinear(4)

    for maker, message in (
        (NoHalves, "lacks denoise"),
        (NoEmbedding, "has no condition_embedding"),
        (NoArguments, "is given 2 arguments before its settings and takes 1"),
        (Statistics, r"has torch's BatchNorm2d \('norms.0'\), whose statistics no checkpoint keeps; use"),
        (
            Lazy,
            r"has torch's LazyLinear \('condition_embedding'\), whose weights are not drawn before .*; use the",
        ),
        (NoDenoiser, "is a NoDenoiser; derive it from conceptlab.denoisers.Denoiser"),
    ):
        monkeypatch.setitem(_DENOISERS._makers, "broken", maker)
        with pytest.raises(InputError, match=f"denoiser 'broken' {message}"):
            build("broken", IMAGE, CONDITION, seed=0)


def with_layer(make: Callable[[], nn.Module]) -> type[Denoiser]:
    class Holding(Denoiser):
        def __init__(self, image_shape, condition_shape) -> None:
            super().__init__(image_shape, condition_shape)
            self.condition_embedding = nn.Sequential(nn.Identity(), make())

        def denoise(self, x, time, embedding):
            return x

    return Holding


KEYED = r"use conceptlab\.denoisers\.KeyedDropout\(rate, number\)"


@pytest.mark.parametrize(
    ("make", "named", "remedy"),
    [
        (lambda: nn.Dropout(0.1), "Dropout", KEYED),
        (lambda: nn.Dropout1d(0.1), "Dropout1d", KEYED),
        (lambda: nn.Dropout2d(0.1), "Dropout2d", KEYED),
        (lambda: nn.Dropout3d(0.1), "Dropout3d", KEYED),
        (lambda: nn.AlphaDropout(0.1), "AlphaDropout", KEYED),
        (lambda: nn.FeatureAlphaDropout(0.1), "FeatureAlphaDropout", KEYED),
        (lambda: nn.RReLU(), "RReLU", "use torch's LeakyReLU"),
        (
            lambda: nn.MultiheadAttention(8, 2, dropout=0.1),
            "MultiheadAttention",
            "make it with dropout=0; beside",
        ),
        (lambda: nn.GRU(4, 4, num_layers=2, dropout=0.1), "GRU", "make it with dropout=0; beside"),
        (lambda: nn.FractionalMaxPool2d(2, output_ratio=0.5), "FractionalMaxPool2d", "use torch's MaxPool2d"),
    ],
)
def test_layers_that_draw_from_torchs_generator_are_refused(monkeypatch, make, named, remedy):
    monkeypatch.setitem(_DENOISERS._makers, "broken", with_layer(make))
    message = rf"denoiser 'broken' has torch's {named} \('condition_embedding\.1'\), which draws random numbers .*; "
    with pytest.raises(InputError, match=f"^{message}{remedy}"):
        build("broken", IMAGE, CONDITION, seed=0)


def test_layers_that_would_drop_the_same_elements_are_told(monkeypatch):
    twice = with_layer(lambda: nn.Sequential(KeyedDropout(0.1, 3), KeyedDropout(0.2, 3)))
    monkeypatch.setitem(_DENOISERS._makers, "broken", twice)
    told = (
        r"^denoiser 'broken': KeyedDropout 'condition_embedding\.1\.0' and '.*\.1\.1' have the number 3, and"
    )
    with pytest.raises(InputError, match=told):
        build("broken", IMAGE, CONDITION, seed=0)


class Computing(Denoiser):
    """Does to an image what a test wants, after dropout by a key."""

    def __init__(self, does: Callable[[Tensor, bool], Tensor]) -> None:
        super().__init__(IMAGE, CONDITION)
        self.condition_embedding, self.drop, self.does = nn.Identity(), KeyedDropout(0.5, 0), does

    def denoise(self, x, time, embedding):
        return self.does(self.drop(x), self.training)


@pytest.mark.parametrize(
    "does", [lambda x, on: F.dropout(x, training=on), lambda x, _: x + torch.rand_like(x)]
)
def test_what_a_network_draws_while_it_computes_is_refused(does):
    told = (
        r"^denoiser 'mine' draws random numbers .* e\.g\. by F\.dropout; instead of that use .*KeyedDropout"
    )
    with pytest.raises(InputError, match=told):
        check_chance(Computing(does), "mine")


def test_a_network_that_draws_nothing_is_let_through_and_nothing_is_drawn_for_it():
    before = torch.get_rng_state()
    check_chance(Computing(lambda x, _: 2 * x), "mine")
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.Dropout(0.0),
        lambda: nn.RReLU(0.2, 0.2),
        lambda: nn.MultiheadAttention(8, 2),
        lambda: nn.GRU(4, 4),
        lambda: KeyedDropout(0.1, 0),
    ],
)
def test_layers_that_draw_nothing_or_by_a_key_may_stay(monkeypatch, make):
    monkeypatch.setitem(_DENOISERS._makers, "fine", with_layer(make))
    build("fine", IMAGE, CONDITION, seed=0)
