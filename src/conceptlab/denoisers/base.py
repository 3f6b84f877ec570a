"""What every denoiser is: a network of a noisy image, a time and a condition, in two halves.

All that depends on the condition alone lives in the submodule `condition_embedding`; so it can be frozen,
read out, edited between the halves, or patched from another checkpoint by the name prefix
"condition_embedding.".

Denoisers run stacked (images of many models end to end: `training.stacked`), compiled, in bfloat16 and inside CUDA
graphs. They therefore use no branch on data, no generator with a state, and no statistics but those of `BatchNorm`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from conceptlab.denoisers.dropout import KeyedDropout
from conceptlab.errors import InputError

Embedding = dict[str, Tensor]
Layer = TypeVar("Layer", bound=nn.Module)


class Denoiser(nn.Module):
    """Base class. A subclass builds `condition_embedding` (condition → named embeddings) and `denoise`."""

    condition_embedding: nn.Module

    def __init__(self, image_shape: tuple[int, ...], condition_shape: tuple[int, ...]) -> None:
        super().__init__()
        self.image_shape = tuple(image_shape)
        self.condition_shape = tuple(condition_shape)

    def embed(self, condition: Tensor) -> Embedding:
        """Condition (B, *condition_shape) → named embeddings, each (B, features)."""
        return self.condition_embedding(condition)

    def denoise(self, x: Tensor, time: Tensor, embedding: Embedding) -> Tensor:
        """Noisy images (B, C, H, W), times (B,) in [0, 1] and embeddings → what the network predicts."""
        raise NotImplementedError

    def forward(self, x: Tensor, time: Tensor, condition: Tensor) -> Tensor:
        return self.denoise(x, time, self.embed(condition))

    def freeze_embedding(self) -> None:
        """Keep the condition embedding as it is: its parameters get no gradient."""
        self.condition_embedding.requires_grad_(False)


def load_weights(module: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Give a module all its parameters. A checkpoint holds each of them once and no buffers, which never change."""
    try:
        found = module.load_state_dict(weights, strict=False)
    except RuntimeError as error:  # several lines, one for each shape that differs
        raise _misfit(str(error).strip().splitlines()[-1].strip()) from error
    missing = [name for name, _ in module.named_parameters() if name in found.missing_keys]
    if missing or found.unexpected_keys:
        lost = f"it has no '{missing[0]}'" if missing else f"'{found.unexpected_keys[0]}' has no place"
        raise _misfit(lost)


def _misfit(reason: str) -> InputError:
    return InputError(f"a checkpoint does not fit its network ({reason}); was the network's code changed?")


class SharedEmbedding(nn.Module):
    """One embedding of the whole condition, used by every block under the name "shared"."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, condition: Tensor) -> Embedding:
        return {"shared": self.network(condition.flatten(1))}


class TimeFeatures(nn.Module):
    """Sines and cosines of the time at geometrically spaced frequencies (Vaswani et al. 2017, §3.5).

    Time in [0, 1] is first scaled to 0…1000, the range for which these frequencies were chosen.
    """

    frequencies: Tensor

    def __init__(self, features: int) -> None:
        super().__init__()
        half = features // 2
        exponents = torch.arange(half, dtype=torch.float32) / half
        frequencies = 1000.0 * torch.exp(-math.log(10_000.0) * exponents)
        self.register_buffer("frequencies", frequencies, persistent=False)

    def forward(self, time: Tensor) -> Tensor:
        angles = time[:, None] * self.frequencies
        return torch.cat((angles.sin(), angles.cos()), dim=-1)


class SelfAttention(nn.Module):
    """Multi-head attention of every position to every other, added to its input."""

    def __init__(self, channels: int, heads: int, groups: int = 8) -> None:
        super().__init__()
        self.heads = heads
        self.norm = group_norm(channels, groups)
        self.query_key_value = nn.Conv2d(channels, 3 * channels, 1)
        self.out = nn.Conv2d(channels, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        batch, channels, height, width = x.shape
        heads = self.query_key_value(self.norm(x)).reshape(batch, 3, self.heads, -1, height * width)
        query, key, value = heads.transpose(-1, -2).unbind(1)
        mixed = F.scaled_dot_product_attention(query, key, value)
        return x + self.out(mixed.transpose(-1, -2).reshape(batch, channels, height, width))


class NormGELU(nn.GroupNorm):
    """Group norm and GELU as one layer, which a cohort on a GPU runs as one kernel with what stands around them.

    A shift (B, channels), where one is given, is added to the images first; dropout, where there is one, comes last.
    """

    def __init__(self, channels: int, groups: int = 8, dropout: KeyedDropout | None = None) -> None:
        _check_groups(channels, groups)
        super().__init__(groups, channels)
        self.dropout = dropout or nn.Identity()

    def forward(self, input: Tensor, shift: Tensor | None = None) -> Tensor:
        moved = input if shift is None else input + shift[:, :, None, None]
        return self.dropout(F.gelu(super().forward(moved)))


class ConvPlus(nn.Conv2d):
    """A convolution that is added to other images, as a residual block ends: a cohort on a GPU does both at once."""

    def forward(self, input: Tensor, plus: Tensor) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        return plus + super().forward(input)


def group_norm(channels: int, groups: int = 8) -> nn.GroupNorm:
    _check_groups(channels, groups)
    return nn.GroupNorm(groups, channels)


def _check_groups(channels: int, groups: int) -> None:
    # A group of one channel would remove every constant added to it, and with it time and condition.
    if channels % groups or channels < 2 * groups:
        raise InputError(
            f"{channels} channels do not make {groups} groups of two or more; "
            f"use a multiple of {groups} from {2 * groups} up"
        )


def zero_initialised(layer: Layer) -> Layer:
    """The layer with weights and bias zero, so that what it ends contributes nothing at first."""
    for parameter in layer.parameters():
        nn.init.zeros_(parameter)
    return layer


def check_image_shape(image_shape: tuple[int, ...], multiple: int, name: str) -> tuple[int, int, int]:
    """(channels, height, width), with both sides a multiple of the network's total down-sampling."""
    if len(image_shape) != 3 or image_shape[1] % multiple or image_shape[2] % multiple:
        fitting = max(multiple, min(image_shape[-2:]) // multiple * multiple)
        raise InputError(
            f"denoiser '{name}' got images of shape {tuple(image_shape)}; it needs (channels, height, width) with both "
            f"sides divisible by {multiple}: give another resolution, e.g. {fitting}"
        )
    channels, height, width = image_shape
    return channels, height, width
