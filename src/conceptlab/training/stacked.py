"""Many models in one forward pass, from a plain `nn.Module`.

The images of E members are laid end to end in one batch (member 0's first). Whatever treats images one by one
(activations, attention, pooling, concatenation) then needs no change; only layers with weights must know which image
belongs to whom. `stack` replaces these by layers of the same names whose parameters have a leading member axis, so
that a cohort's weight matrix fits them as it is. One model is a cohort of one.

Convolutions become products of large matrices where they can: that is where the time goes.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call

from conceptlab.denoisers import Denoiser, Embedding, KeyedDropout, NormGELU
from conceptlab.kernels import conv3x3, groupnorm
from conceptlab.training.accelerate import compiled

LOG = logging.getLogger(__name__)


class CohortDenoiser(nn.Module):
    """A denoiser of cohort tensors: x (E, B, C, H, W), time (E, B), condition (E, B, …).

    Call it through `functional_call` with parameters (E, *shape).
    """

    def __init__(self, denoiser: Denoiser) -> None:
        super().__init__()
        self.image_shape = denoiser.image_shape
        # Not a submodule by this name: parameters keep the names they have in the plain network.
        self._network = [stack(denoiser)]
        for name, child in self._network[0].named_children():
            self.add_module(name, child)
        self._fast: Callable[..., Tensor] | None = None

    def accelerate(self, device: torch.device) -> None:
        """Compile `denoise` for drawing on a GPU; training compiles its whole loss instead."""
        if device.type == "cuda":
            self._fast = compiled(self._denoise_with, device)

    def forward(self, x: Tensor, time: Tensor, condition: Tensor) -> Tensor:
        y = self._network[0](_laid_end_to_end(x), time.flatten(), condition.flatten(0, 1))
        return y.unflatten(0, x.shape[:2])

    def denoise(self, x: Tensor, time: Tensor, embedding: Embedding) -> Tensor:
        """The second half alone, from embeddings (E, B, …) that may have been edited or come from elsewhere."""
        if self._fast is not None:
            return self._fast(dict(self.named_parameters()), x, time, embedding)
        return self._denoise(x, time, embedding)

    def _denoise_with(self, state: dict[str, Tensor], *inputs: Any) -> Tensor:
        return functional_call(_Denoise(self), {f"cohort.{name}": p for name, p in state.items()}, inputs)

    def _denoise(self, x: Tensor, time: Tensor, embedding: Embedding) -> Tensor:
        given = {name: part.flatten(0, 1) for name, part in embedding.items()}
        y = self._network[0].denoise(_laid_end_to_end(x), time.flatten(), given)
        return y.unflatten(0, x.shape[:2])


class _Denoise(nn.Module):
    """`denoise` as a module of its own, so that a compiled function can take its weights as inputs."""

    def __init__(self, cohort: CohortDenoiser) -> None:
        super().__init__()
        self.cohort = cohort

    def forward(self, x: Tensor, time: Tensor, embedding: Embedding) -> Tensor:
        return self.cohort._denoise(x, time, embedding)


def _laid_end_to_end(x: Tensor) -> Tensor:
    # Channels last is what fast convolutions want, on a CPU and on a GPU (measured: 1.35 times on a CPU).
    return x.flatten(0, 1).contiguous(memory_format=torch.channels_last)


def stack(denoiser: Denoiser) -> Denoiser | OneByOne:
    """The network over one batch of all members' images."""
    stranger = _unknown_layer(denoiser)
    if stranger is not None:
        LOG.warning("members run one after another: layer %s has weights that cannot be stacked", stranger)
        return OneByOne(denoiser)
    network = copy.deepcopy(denoiser)
    _replace(network)
    return network


def _unknown_layer(module: nn.Module) -> str | None:
    for name, layer in module.named_modules():
        own = list(layer.parameters(recurse=False))
        if own and (type(layer) not in _STACKED or not _STACKED[type(layer)].fits(layer)):
            return f"'{name}' ({type(layer).__name__})"
    return None


def _replace(module: nn.Module) -> nn.Module:
    for name, child in module.named_children():
        kind = _STACKED.get(type(child))
        setattr(module, name, kind(child) if kind else _replace(child))
    return module


class OneByOne(nn.Module):
    """The plain network for each member in turn: for layers that cannot be stacked."""

    def __init__(self, denoiser: Denoiser) -> None:
        super().__init__()
        # Registered under the names of the plain network's own children, so that parameters keep their names.
        self._plain = [denoiser, _SecondHalf(denoiser)]
        for name, child in denoiser.named_children():
            self.add_module(name, child)
        for name, parameter in denoiser.named_parameters(recurse=False):
            self.register_parameter(name, parameter)

    def forward(self, x: Tensor, time: Tensor, condition: Tensor) -> Tensor:
        return self._in_turn(self._plain[0], "", (x, time, condition))

    def denoise(self, x: Tensor, time: Tensor, embedding: Embedding) -> Tensor:
        return self._in_turn(self._plain[1], "network.", (x, time, *embedding.values()), tuple(embedding))

    def _in_turn(self, module: nn.Module, prefix: str, batch: tuple[Tensor, ...], *names: Any) -> Tensor:
        held = dict(self.named_parameters())
        members = len(next(iter(held.values())))
        held |= {name: buffer for name, buffer in self.named_buffers() if name.endswith(".key")}
        parts = zip(*(part.chunk(members) for part in batch))
        return torch.cat(
            [functional_call(module, _row(held, e, prefix), (*names, *own)) for e, own in enumerate(parts)]
        )


class _SecondHalf(nn.Module):
    """`denoise` as a module's `forward`, which is what `functional_call` calls."""

    def __init__(self, network: Denoiser) -> None:
        super().__init__()
        self.network = network

    def forward(self, names: tuple[str, ...], x: Tensor, time: Tensor, *embedding: Tensor) -> Tensor:
        return self.network.denoise(x, time, dict(zip(names, embedding)))


def _row(stacked: Mapping[str, Tensor], member: int, prefix: str) -> dict[str, Tensor]:
    return {prefix + name: tensor[member] for name, tensor in stacked.items()}


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


class StackedConv2d(_Layer):
    def __init__(self, plain: nn.Conv2d) -> None:
        super().__init__(plain)
        self.kernel, self.stride, self.padding = plain.kernel_size, plain.stride, plain.padding

    @staticmethod
    def fits(plain: nn.Conv2d) -> bool:
        return plain.groups == 1 and set(plain.dilation) == {1} and not isinstance(plain.padding, str)

    def forward(self, x: Tensor) -> Tensor:
        members, outputs = self.weight.shape[:2]
        x = x.to(self.weight.dtype)
        if members == 1:
            bias = None if self.bias is None else self.bias[0]
            return F.conv2d(x, self.weight[0], bias, self.stride, self.padding)
        if self.kernel == self.stride and self.padding == (0, 0):
            return self._patches(x)
        if (
            self.kernel == (3, 3)
            and self.stride == (1, 1)
            and self.padding == (1, 1)
            and conv3x3.available(x)
        ):
            return conv3x3.apply(x, self.weight, self.bias)
        # The channels of all members side by side, one group of channels for each.
        side_by_side = self.members(x).transpose(0, 1).flatten(1, 2)
        bias = None if self.bias is None else self.bias.flatten()
        y = F.conv2d(side_by_side, self.weight.flatten(0, 1), bias, self.stride, self.padding, groups=members)
        return y.unflatten(1, (members, outputs)).transpose(0, 1).flatten(0, 1)

    def _patches(self, x: Tensor) -> Tensor:
        """A kernel as large as its stride cuts the image into patches and multiplies each by a matrix."""
        k, l = self.kernel
        patches = x.unflatten(2, (-1, k)).unflatten(4, (-1, l)).permute(0, 2, 4, 1, 3, 5)
        batch, height, width = patches.shape[:3]
        rows = patches.reshape(self.weight.shape[0], -1, self.weight[0, 0].numel())
        y = _product(rows, self.weight.flatten(2).mT, self.bias)
        return y.view(batch, height, width, -1).permute(0, 3, 1, 2)


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
        y = torch.bmm(rows, matrices).view(batch, height, width, k, l, -1)
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

    def forward(self, x: Tensor) -> Tensor:
        now = self.now()
        return x if now is None else self.masked(x.unflatten(0, (len(now.keys), -1)), now.keys).flatten(0, 1)

    def now(self) -> groupnorm.Dropout | None:
        """What is dropped at this moment; None in `eval` mode."""
        active = self.training and self.dropped > 0
        return groupnorm.Dropout(self.key, self.dropped) if active else None


_STACKED: dict[type, Any] = {
    nn.Linear: StackedLinear,
    nn.GroupNorm: StackedGroupNorm,
    NormGELU: StackedNormGELU,
    nn.Conv2d: StackedConv2d,
    nn.ConvTranspose2d: StackedConvTranspose2d,
    KeyedDropout: StackedDropout,
}


def _product(rows: Tensor, matrices: Tensor, bias: Tensor | None) -> Tensor:
    """(E, R, I) × (E, I, O) + (E, O)."""
    return torch.bmm(rows, matrices) if bias is None else torch.baddbmm(bias[:, None], rows, matrices)
