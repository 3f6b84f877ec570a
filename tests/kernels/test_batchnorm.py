"""The kernel against the plain path."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from conceptlab.denoisers import BatchNorm
from conceptlab.kernels import batchnorm
from conceptlab.training.layers import StackedBatchNorm
from tests.kernels.agreement import DEVICE, DTYPE, INTERPRETED, assert_agree, assert_near, exactly, on_kernels

SHAPES = [(3, 2, 16, 8, 8), (2, 3, 24, 3, 5), (4, 8, 128, 28, 28), (2, 4, 256, 14, 14)]
ON_KERNELS = SHAPES[:2] if INTERPRETED else SHAPES


def one_by_one(x: Tensor, weight: Tensor, bias: Tensor, gelu: bool) -> Tensor:
    own = zip(x.chunk(len(weight)), weight, bias)
    y = torch.cat([F.batch_norm(part, None, None, w, b, training=True) for part, w, b in own])
    return F.gelu(y) if gelu else y


def batch(members: int, images: int, channels: int, height: int, width: int) -> list[Tensor]:
    generator = torch.Generator().manual_seed(0)
    # A mean far from zero, so that a careless variance would show.
    x = torch.randn((members * images, channels, height, width), generator=generator) + 3
    # Rows that lie apart and not at their beginning, as in a cohort's matrix of weights.
    rows = torch.randn((members, 2 * channels + 4), generator=generator)
    return [x, rows[:, 2 : channels + 2], rows[:, channels + 2 : 2 * channels + 2]]


@pytest.mark.parametrize("gelu", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_plain_path_is_one_norm_after_another(shape, gelu):
    x, weight, bias = batch(*shape)
    layer = StackedBatchNorm(BatchNorm(shape[2], gelu=gelu)).train()
    found = torch.func.functional_call(layer, {"weight": weight, "bias": bias}, (x,))
    torch.testing.assert_close(found, one_by_one(x, weight, bias, gelu), rtol=1e-4, atol=1e-4)


@on_kernels
@pytest.mark.parametrize("gelu", [True, False])
@pytest.mark.parametrize("shape", ON_KERNELS)
def test_the_kernel_agrees_with_the_plain_path(shape, gelu):
    inputs = [part.to(DEVICE, DTYPE).requires_grad_() for part in batch(*shape)]
    assert batchnorm.available(inputs[0]) is not INTERPRETED
    exact = exactly(inputs)
    found, mean, variance = batchnorm.apply(*inputs, 1e-5, gelu)
    assert_agree(found, one_by_one(*exact, gelu), inputs, exact)
    images = exact[0].detach().unflatten(0, (shape[0], -1))
    torch.testing.assert_close(mean.double(), images.mean((1, 3, 4)), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(variance.double(), images.var((1, 3, 4), correction=0), rtol=1e-4, atol=1e-5)


@on_kernels
@pytest.mark.parametrize("gelu", [True, False])
@pytest.mark.parametrize("shape", ON_KERNELS)
def test_the_kernel_takes_sums_that_are_known_and_gradients_that_lie_apart(shape, gelu):
    x, weight, bias = (part.to(DEVICE, DTYPE) for part in batch(*shape))
    x = (x - 3).contiguous(memory_format=torch.channels_last)  # as convolutions without a bias give them
    own = x.float().unflatten(0, (shape[0], -1))
    sums = torch.stack((own.sum((1, 3, 4)), own.square().sum((1, 3, 4))))
    known = [part.clone().requires_grad_() for part in (x, weight, bias)]
    unknown = [part.clone().requires_grad_() for part in (x, weight, bias)]
    y, *statistics = batchnorm.apply(*known, 1e-5, gelu, sums)
    expected, *others = batchnorm.apply(*unknown, 1e-5, gelu)
    joined = torch.randn(x.shape[0], 2 * x.shape[1], *x.shape[2:], device=DEVICE, dtype=x.dtype)
    gradient = joined.contiguous(memory_format=torch.channels_last)[:, : x.shape[1]]
    y.backward(gradient)
    expected.backward(gradient.contiguous(memory_format=torch.channels_last))
    pairs = [(y, expected), *zip(statistics, others), *((a.grad, b.grad) for a, b in zip(known, unknown))]
    for ours, theirs in pairs:
        assert_near(ours, theirs)
