"""The kernel against the plain path."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from conceptlab.denoisers import KeyedDropout, NormGELU
from conceptlab.kernels import groupnorm
from conceptlab.training.layers import StackedGroupNorm, StackedNormGELU
from tests.kernels.agreement import DEVICE, DTYPE, INTERPRETED, assert_agree, exactly, on_kernels

SHAPES = [(3, 2, 16, 8, 8, 8), (2, 3, 24, 4, 3, 5), (4, 8, 64, 8, 32, 32), (2, 4, 256, 8, 8, 8)]
ON_KERNELS = SHAPES[:2] if INTERPRETED else SHAPES


def one_by_one(x: Tensor, weight: Tensor, bias: Tensor, groups: int) -> Tensor:
    own = zip(x.chunk(len(weight)), weight, bias)
    return torch.cat([F.group_norm(part, groups, w, b) for part, w, b in own])


def batch(
    members: int, images: int, channels: int, height: int, width: int, device: str = "cpu"
) -> list[Tensor]:
    generator = torch.Generator().manual_seed(0)
    shapes = ((members * images, channels, height, width), (members, channels), (members, channels))
    # A mean far from zero, so that a careless variance would show.
    return [(torch.randn(shape, generator=generator) + 3).to(device) for shape in shapes]


@pytest.mark.parametrize("shape", SHAPES)
def test_the_plain_path_is_one_norm_after_another(shape):
    members, images, channels, groups, height, width = shape
    x, weight, bias = batch(members, images, channels, height, width)
    layer = StackedGroupNorm(nn.GroupNorm(groups, channels))
    found = torch.func.functional_call(layer, {"weight": weight, "bias": bias}, (x,))
    torch.testing.assert_close(found, one_by_one(x, weight, bias, groups), rtol=1e-4, atol=1e-4)


@pytest.fixture
def dropout() -> groupnorm.Dropout:
    keys = torch.randint(
        -(2**31), 2**31 - 1, (4, 2), dtype=torch.int32, generator=torch.Generator().manual_seed(1)
    )
    return groupnorm.Dropout(keys, KeyedDropout(0.3, 0).dropped)


def shifted_gelu(
    x: Tensor, weight: Tensor, bias: Tensor, shift: Tensor, groups: int, dropout: groupnorm.Dropout
) -> Tensor:
    y = F.gelu(one_by_one(x + shift[:, :, None, None], weight, bias, groups))
    keys = dropout.keys[: len(weight)]
    return KeyedDropout(0.3, 0).masked(y.unflatten(0, (len(weight), -1)), keys).flatten(0, 1)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_plain_path_shifts_before_and_drops_after(shape, dropout):
    members, images, channels, groups, height, width = shape
    x, weight, bias = batch(members, images, channels, height, width)
    shift = torch.randn(x.shape[:2])
    layer = StackedNormGELU(NormGELU(channels, groups, KeyedDropout(0.3, 0))).train()
    state = {"weight": weight, "bias": bias, "dropout.key": dropout.keys[:members]}
    found = torch.func.functional_call(layer, state, (x, shift))
    expected = shifted_gelu(x, weight, bias, shift, groups, dropout)
    assert (found == 0).float().mean().item() == pytest.approx(0.3, abs=0.05)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


@on_kernels
@pytest.mark.parametrize("shape", ON_KERNELS)
def test_the_kernel_agrees_with_the_plain_path(shape):
    members, images, channels, groups, height, width = shape
    inputs = batch(members, images, channels, height, width, device=DEVICE)
    inputs = [part.to(DTYPE).requires_grad_() for part in inputs]
    assert groupnorm.available(inputs[0], groups) is not INTERPRETED
    exact = exactly(inputs)
    x, weight, bias = inputs
    found, expected = groupnorm.apply(x, weight, bias, groups, 1e-5), one_by_one(*exact, groups)
    assert_agree(found, expected, inputs, exact)


@on_kernels
@pytest.mark.parametrize("shape", ON_KERNELS)
def test_the_kernel_agrees_with_shift_gelu_and_dropout(shape, dropout):
    members, images, channels, groups, height, width = shape
    inputs = batch(members, images, channels, height, width, device=DEVICE)
    inputs = [part.to(DTYPE) for part in (*inputs, torch.randn(inputs[0].shape[:2], device=DEVICE))]
    inputs = [part.requires_grad_() for part in inputs]
    exact = exactly(inputs)
    own = groupnorm.Dropout(dropout.keys[:members].to(DEVICE), dropout.dropped)
    x, weight, bias, shift = inputs
    found = groupnorm.apply(x, weight, bias, groups, 1e-5, shift, True, own)
    expected = shifted_gelu(*exact, groups, own)
    assert_agree(found, expected, inputs, exact)
