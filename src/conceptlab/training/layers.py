"""Layers of many models at once: as torch's own, but their parameters have a leading member axis.

A batch (E·B, …) holds the images of all members end to end. Convolutions become products of large matrices where they
can: that is where the time goes.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from conceptlab.denoisers import BatchNorm, ConvPlus, KeyedDropout, NormGELU
from conceptlab.denoisers.batch_norm import line, moments, normalised
from conceptlab.kernels import batchnorm, conv3x3, groupnorm


class _Layer(nn.Module):
    """A layer with a leading member axis on its parameters, set by `functional_call`."""

    weight: Tensor
    bias: Tensor | None

    def __init__(self, plain: Any) -> None:
        super().__init__()
        self.weight, self.bias = plain.weight, plain.bias

    @staticmethod
    def fits(plain: Any) -> bool:
        """Can this layer be stacked?"""
        return True

    def members(self, x: Tensor) -> Tensor:
        """A batch (E·B, …) as (E, B, …)."""
        return x.unflatten(0, (self.weight.shape[0], -1))


class StackedLinear(_Layer):
    def forward(self, x: Tensor) -> Tensor:
        rows = self.members(x.to(self.weight.dtype)).flatten(1, -2)
        return _product(rows, self.weight.mT, self.bias).reshape(*x.shape[:-1], -1)


class StackedGroupNorm(_Layer):
    def __init__(self, plain: nn.GroupNorm) -> None:
        super().__init__(plain)
        self.groups, self.eps = plain.num_groups, plain.eps

    @staticmethod
    def fits(plain: nn.GroupNorm) -> bool:
        return plain.affine

    def forward(self, x: Tensor) -> Tensor:
        assert self.bias is not None
        if groupnorm.available(x, self.groups):
            return groupnorm.apply(x, self.weight, self.bias, self.groups, self.eps)
        shape = (self.weight.shape[0], 1, -1, 1, 1)
        y = self.members(F.group_norm(x, self.groups, eps=self.eps))
        return (y * self.weight.view(shape) + self.bias.view(shape)).flatten(0, 1)


class StackedNormGELU(StackedGroupNorm):
    def __init__(self, plain: NormGELU) -> None:
        super().__init__(plain)
        self.dropout = StackedDropout(plain.dropout) if isinstance(plain.dropout, KeyedDropout) else None

    def forward(self, x: Tensor, shift: Tensor | None = None) -> Tensor:
        assert self.bias is not None
        if groupnorm.available(x, self.groups):
            dropout = self.dropout.now() if self.dropout else None
            return groupnorm.apply(x, self.weight, self.bias, self.groups, self.eps, shift, True, dropout)
        if shift is not None:
            x = x + shift[:, :, None, None]
        y = F.gelu(super().forward(x))
        return self.dropout(y) if self.dropout else y


class StackedBatchNorm(_Layer):
    """Each member by the statistics of its own batch. What batches had is kept in `seen` where that is a list."""

    mean: Tensor
    variance: Tensor

    def __init__(self, plain: BatchNorm) -> None:
        super().__init__(plain)
        self.mean, self.variance = plain.mean, plain.variance
        self.eps, self.gelu = plain.eps, plain.gelu
        self.seen: list[Tensor] | None = None

    def forward(self, x: Tensor, sums: Tensor | None = None) -> Tensor:
        """`sums` (2, E, C) of each member's values and squares, where they are known (see `batchnorm.apply`)."""
        assert self.bias is not None
        if self.training and batchnorm.available(x):
            y, *found = batchnorm.apply(x, self.weight, self.bias, self.eps, self.gelu, sums)
        else:
            images = self.members(x)
            found = moments(images, (1, 3, 4)) if self.training else (self.mean, self.variance)
            mean, variance, weight, bias = (part[:, None] for part in (*found, self.weight, self.bias))
            y = normalised(images, mean, variance, weight, bias, self.eps).flatten(0, 1)
            y = F.gelu(y) if self.gelu else y
        if self.training and self.seen is not None:
            self.seen.append(torch.stack(tuple(found)))
        return y

    def line(self) -> tuple[Tensor, Tensor]:
        """The factor and the level (E, C) by which values are normalised outside training."""
        assert self.bias is not None
        return line(self.mean, self.variance, self.weight, self.bias, self.eps)


class StackedConv2d(_Layer):
    def __init__(self, plain: nn.Conv2d) -> None:
        super().__init__(plain)
        self.kernel, self.stride, self.padding = plain.kernel_size, plain.stride, plain.padding

    @staticmethod
    def fits(plain: nn.Conv2d) -> bool:
        simple = plain.groups == 1 and set(plain.dilation) == {1} and plain.padding_mode == "zeros"
        return simple and not isinstance(plain.padding, str)

    def forward(self, x: Tensor) -> Tensor:
        members, outputs = self.weight.shape[:2]
        x = x.to(self.weight.dtype)
        if members == 1:
            # Not an index, whose gradient is a matrix of zeros with one filled row.
            weight, bias = self.weight.squeeze(0), None if self.bias is None else self.bias.squeeze(0)
            if x.is_contiguous(memory_format=torch.channels_last):
                # A CPU would otherwise turn the kernel twice, on the way forth and on the way back.
                weight = weight.contiguous(memory_format=torch.channels_last)
            return F.conv2d(x, weight, bias, self.stride, self.padding)
        if self.kernel == self.stride and self.padding == (0, 0):
            return self._patches(x)
        if self.has_kernel(x):
            return conv3x3.apply(x, self.weight, self.bias)
        # The channels of all members side by side, one group of channels for each.
        side_by_side = self.members(x).transpose(0, 1).flatten(1, 2)
        bias = None if self.bias is None else self.bias.flatten()
        y = F.conv2d(side_by_side, self.weight.flatten(0, 1), bias, self.stride, self.padding, groups=members)
        return y.unflatten(1, (members, outputs)).transpose(0, 1).flatten(0, 1)

    def has_kernel(self, x: Tensor) -> bool:
        """Is there a special kernel for this convolution of these images?"""
        usual = self.kernel == (3, 3) and self.stride == (1, 1) and self.padding == (1, 1)
        return usual and len(self.weight) > 1 and conv3x3.available(x)

    def _patches(self, x: Tensor) -> Tensor:
        """A kernel as large as its stride cuts the image into patches and multiplies each by a matrix."""
        k, l = self.kernel
        # Channels fastest, as images and weights lie: patches are then copied in long pieces, and weights not at all.
        patches = x.unflatten(2, (-1, k)).unflatten(4, (-1, l)).permute(0, 2, 4, 3, 5, 1)
        batch, height, width = patches.shape[:3]
        rows = patches.reshape(self.weight.shape[0], -1, self.weight[0, 0].numel())
        y = _product(rows, self.weight.permute(0, 3, 4, 2, 1).flatten(1, 3), self.bias)
        return y.view(batch, height, width, -1).permute(0, 3, 1, 2)


class StackedConvPlus(StackedConv2d):
    def forward(self, x: Tensor, plus: Tensor) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        x = x.to(self.weight.dtype)
        if self.has_kernel(x):
            return conv3x3.apply(x, self.weight, self.bias, plus)
        return plus + super().forward(x)


class StackedConvNorm(nn.Sequential):
    """A convolution without a bias and the batch norm after it, under the names they had. In training the convolution
    sums what the norm wants to know. Afterwards statistics are known beforehand, and the norm is a factor and a level
    of each output, which the convolution sees to by the way."""

    def forward(self, x: Tensor) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        convolution, norm = self
        assert isinstance(convolution, StackedConv2d)
        assert isinstance(norm, StackedBatchNorm)
        x = x.to(convolution.weight.dtype)
        if convolution.has_kernel(x) and self.training:
            return norm(*conv3x3.apply_summed(x, convolution.weight))
        if convolution.has_kernel(x) and not torch.is_grad_enabled():
            return conv3x3.apply_normed(x, convolution.weight, *norm.line(), norm.gelu)
        return norm(convolution(x))


class StackedConvTranspose2d(_Layer):
    """Only kernels as large as their stride: every pixel is multiplied by a matrix and becomes a patch."""

    def __init__(self, plain: nn.ConvTranspose2d) -> None:
        super().__init__(plain)
        self.kernel = plain.kernel_size

    @staticmethod
    def fits(plain: nn.ConvTranspose2d) -> bool:
        simple = set(plain.padding) == set(plain.output_padding) == {0} and plain.groups == 1
        return simple and plain.kernel_size == plain.stride and set(plain.dilation) == {1}

    def forward(self, x: Tensor) -> Tensor:
        (k, l), (batch, channels, height, width) = self.kernel, x.shape
        members = self.weight.shape[0]
        rows = x.to(self.weight.dtype).permute(0, 2, 3, 1).reshape(members, -1, channels)
        # Outputs fastest, as images lie channels last.
        matrices = self.weight.permute(0, 1, 3, 4, 2).flatten(2)
        y = _multiplied(rows, matrices).view(batch, height, width, k, l, -1)
        y = y.permute(0, 1, 3, 2, 4, 5).reshape(batch, height * k, width * l, -1).permute(0, 3, 1, 2)
        return (
            y if self.bias is None else (self.members(y) + self.bias.view(members, 1, -1, 1, 1)).flatten(0, 1)
        )


class StackedDropout(KeyedDropout):
    """A key for each member: (E, 2)."""

    def __init__(self, plain: KeyedDropout) -> None:
        nn.Module.__init__(self)
        self.dropped, self.layer = plain.dropped, plain.layer
        self.register_buffer("key", plain.key, persistent=False)

    @staticmethod
    def fits(plain: KeyedDropout) -> bool:
        return True

    def forward(self, x: Tensor) -> Tensor:
        now = self.now()
        return x if now is None else self.masked(x.unflatten(0, (len(now.keys), -1)), now.keys).flatten(0, 1)

    def now(self) -> groupnorm.Dropout | None:
        """What is dropped at this moment; None in `eval` mode."""
        active = self.training and self.dropped > 0
        return groupnorm.Dropout(self.key, self.dropped) if active else None


STACKED: dict[type, Any] = {
    nn.Linear: StackedLinear,
    nn.GroupNorm: StackedGroupNorm,
    NormGELU: StackedNormGELU,
    BatchNorm: StackedBatchNorm,
    nn.Conv2d: StackedConv2d,
    ConvPlus: StackedConvPlus,
    nn.ConvTranspose2d: StackedConvTranspose2d,
    KeyedDropout: StackedDropout,
}


def joined(module: nn.Module) -> nn.Module:
    """Layers that one kernel can do together, as one, if a module is just these."""
    if type(module) is not nn.Sequential or [type(layer) for layer in module] != [
        StackedConv2d,
        StackedBatchNorm,
    ]:
        return module
    return module if module[0].bias is not None else StackedConvNorm(OrderedDict(module.named_children()))


def _product(rows: Tensor, matrices: Tensor, bias: Tensor | None) -> Tensor:
    """(E, R, I) × (E, I, O) + (E, O)."""
    if bias is None:
        return _multiplied(rows, matrices)
    if rows.is_cuda:
        # `baddbmm` first copies the bias over its whole output; a sum of its own is compiled into what comes next.
        return _multiplied(rows, matrices) + bias[:, None]
    return torch.baddbmm(bias[:, None], rows, matrices)


def _multiplied(rows: Tensor, matrices: Tensor) -> Tensor:
    turned = rows.is_cuda and not matrices.is_contiguous() and matrices.mT[0].is_contiguous()
    return TurnedProduct.apply(rows, matrices) if turned else torch.bmm(rows, matrices)


class TurnedProduct(torch.autograd.Function):
    """`torch.bmm` of (E, R, I) and (E, I, O), whose matrices lie turned, as (O, I): their gradient comes out as they
    lie, ready to be joined with the others. As `bmm` has it, each would be turned by a copy first."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, matrices: Tensor) -> Tensor:
        ctx.save_for_backward(rows, matrices)
        return torch.bmm(rows, matrices)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None]:  # pyright: ignore
        rows, matrices = ctx.saved_tensors
        to_rows = torch.bmm(gradient, matrices.mT) if ctx.needs_input_grad[0] else None
        to_matrices = torch.bmm(gradient.mT, rows).mT if ctx.needs_input_grad[1] else None
        return to_rows, to_matrices
