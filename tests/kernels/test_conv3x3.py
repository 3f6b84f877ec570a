"""The kernel against the plain path."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from conceptlab.kernels import conv3x3
from conceptlab.training.layers import StackedConv2d
from tests.kernels.agreement import (
    DEVICE,
    DTYPE,
    INTERPRETED,
    TOLERANCE,
    assert_agree,
    assert_near,
    exactly,
    on_kernels,
)

SHAPES = [(3, 2, 16, 32, 8, 8), (2, 3, 3, 16, 4, 12), (2, 2, 64, 3, 8, 8), (2, 1, 72, 144, 5, 7)]

# Widths that are powers of 2 and others, images that do not fill the last box, more channels than a block has.
LARGE = [
    (4, 8, 64, 64, 32, 32), (4, 8, 128, 256, 16, 16), (2, 5, 64, 64, 28, 28), (2, 3, 136, 72, 7, 7),
    (3, 3, 64, 128, 64, 64), (2, 1, 16, 16, 3, 128), (1, 1, 16, 16, 2, 300), (2, 16, 128, 128, 28, 28),
    (2, 33, 256, 256, 14, 14),
]  # fmt: skip
# What an interpreter can do in a second: boxes of several images, cut both ways; more outputs than a block has.
SMALL = [(2, 8, 16, 64, 12, 4), (2, 9, 24, 16, 6, 6), (1, 2, 16, 264, 4, 4), (1, 1, 16, 16, 2, 64)]
ALL = [*SHAPES, *(SMALL if INTERPRETED else LARGE)]


@pytest.fixture(params=[True, False], ids=["boxes", "plain"])
def boxes(request, monkeypatch):
    """With and without a tensor memory accelerator, which an interpreter has wherever boxes could be read."""
    if not request.param or INTERPRETED:
        monkeypatch.setattr(
            conv3x3, "readable", lambda *tensors: request.param and all(map(aligned, tensors))
        )


def aligned(tensor: Tensor) -> bool:
    return all(step == 1 or step * tensor.element_size() % 16 == 0 for step in tensor.stride())


def one_by_one(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return torch.cat(
        [F.conv2d(part, w, b, padding=1) for part, w, b in zip(x.chunk(len(weight)), weight, bias)]
    )


def batch(
    members: int, images: int, channels: int, outputs: int, height: int, width: int, device: str = "cpu"
):
    generator = torch.Generator().manual_seed(0)
    shapes = (
        (members * images, channels, height, width),
        (members, outputs, channels, 3, 3),
        (members, outputs),
    )
    return [torch.randn(shape, generator=generator).to(device) for shape in shapes]


@pytest.mark.parametrize("shape", SHAPES)
def test_the_plain_path_is_one_convolution_after_another(shape):
    x, weight, bias = batch(*shape)
    layer = StackedConv2d(nn.Conv2d(shape[2], shape[3], 3, padding=1))
    found = torch.func.functional_call(layer, {"weight": weight, "bias": bias}, (x,))
    torch.testing.assert_close(found, one_by_one(x, weight, bias), rtol=1e-4, atol=1e-4)


@on_kernels
@pytest.mark.usefixtures("boxes")
@pytest.mark.parametrize("shape", ALL)
def test_the_kernels_agree_with_the_plain_path(shape):
    inputs = [part.to(DTYPE).requires_grad_() for part in batch(*shape, device=DEVICE)]
    assert conv3x3.available(inputs[0]) is not INTERPRETED
    exact = exactly(inputs)
    assert_agree(conv3x3.apply(*inputs), one_by_one(*exact), inputs, exact)


@on_kernels
@pytest.mark.usefixtures("boxes")
@pytest.mark.parametrize("shape", ALL)
def test_other_images_are_added_by_the_way(shape):
    given = batch(*shape, device=DEVICE)
    plus = torch.randn(given[0].shape[0], shape[3], *shape[4:], device=DEVICE)
    inputs = [part.to(DTYPE).requires_grad_() for part in (*given, plus)]
    exact = exactly(inputs)
    assert_agree(conv3x3.apply(*inputs), one_by_one(*exact[:3]) + exact[3], inputs, exact)


@on_kernels
@pytest.mark.usefixtures("boxes")
@pytest.mark.parametrize("gelu", [True, False])
@pytest.mark.parametrize("shape", ALL)
def test_a_norm_by_known_statistics_is_part_of_the_kernel(shape, gelu):
    x, weight, bias = (part.to(DTYPE) for part in batch(*shape, device=DEVICE))
    slope, level = bias.float().exp(), bias.float().flip(1)
    found = conv3x3.apply_normed(x, weight, slope, level, gelu)
    plain = one_by_one(x.double(), weight.double(), torch.zeros_like(bias).double())
    expected = plain.unflatten(0, (len(weight), -1)) * slope[:, None, :, None, None]
    expected = (expected + level[:, None, :, None, None]).flatten(0, 1)
    assert_near(found, F.gelu(expected) if gelu else expected)


@on_kernels
@pytest.mark.usefixtures("boxes")
@pytest.mark.parametrize("shape", ALL)
def test_outputs_are_summed_by_the_way(shape):
    inputs = [part.to(DTYPE).requires_grad_() for part in batch(*shape, device=DEVICE)[:2]]
    exact = exactly(inputs)
    found, sums = conv3x3.apply_summed(*inputs)
    expected = one_by_one(*exact, exact[1].new_zeros(exact[1].shape[:2]))
    own = expected.detach().unflatten(0, (shape[0], -1))
    squares = own.square().sum((1, 3, 4))
    assert_near(sums[1], squares, TOLERANCE / 10)
    # Sums of both signs nearly vanish: they are compared with what they are made of.
    assert ((sums[0].double() - own.sum((1, 3, 4))) / squares.sqrt()).abs().max() < TOLERANCE / 10
    assert not sums.requires_grad
    assert_agree(found, expected, inputs, exact)
