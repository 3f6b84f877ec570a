"""The quickstart network: a small U-Net whose blocks are scaled and shifted by time and condition (FiLM).

Perez et al., "FiLM: visual reasoning with a general conditioning layer" (AAAI 2018). It works on 2×2 pixel
blocks, so a step on 16×16 images costs milliseconds on one CPU thread. The defaults (no normalisation, linear
embedding) are those with which all combinations emerge reliably; they are choices with consequences:

- With `embedding_kind="linear"` condition, embedding, scale and shift are linear in the condition, so the
  effects of two concepts on a block's modulation add up. Some compositionality is thereby built in.
- With `norm="group"` the amplitude of a feature map no longer carries information through the network.
- With `attention` every place of the coarse features sees every other.

Towards the output, features and input are scaled by gains that depend on the time alone. At low noise a
v-prediction is the small difference between image and noisy image, enlarged many times; without the gains the
network spends most of its training on making that number.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from conceptlab.denoisers.base import (
    Denoiser,
    Embedding,
    SelfAttention,
    SharedEmbedding,
    TimeFeatures,
    check_image_shape,
    group_norm,
    zero_initialised,
)
from conceptlab.errors import InputError
from conceptlab.registry import choose

_EMBEDDING_FEATURES = 64
_TIME_FEATURES = 32


class Film(Denoiser):
    """Two resolutions (half and quarter), one block, three blocks, one block; output starts at zero."""

    def __init__(
        self,
        image_shape: tuple[int, ...],
        condition_shape: tuple[int, ...],
        channels: tuple[int, int] = (32, 64),
        embedding_kind: str = "linear",
        norm: str = "none",
        attention: bool = False,
    ) -> None:
        super().__init__(image_shape, condition_shape)
        colours, _, _ = check_image_shape(image_shape, 4, "film")
        choose("embedding_kind", embedding_kind, ("linear", "mlp"))
        choose("norm", norm, ("none", "group"))
        if len(channels) != 2 or min(channels) < 1:
            raise InputError(f"denoiser 'film': channels={list(channels)} must be two numbers of 1 or more")
        fine, coarse = channels
        features = _EMBEDDING_FEATURES
        self.condition_embedding = SharedEmbedding(
            _embedding_network(math.prod(condition_shape), features, embedding_kind)
        )
        self.time_embedding = nn.Sequential(
            TimeFeatures(_TIME_FEATURES),
            nn.Linear(_TIME_FEATURES, features),
            nn.SiLU(),
            nn.Linear(features, features),
        )
        self.enter = nn.Conv2d(4 * colours, fine, 3, padding=1)
        self.down_block = FilmBlock(fine, fine, features, norm)
        self.down = nn.Conv2d(fine, coarse, 3, stride=2, padding=1)
        self.middle = nn.ModuleList(FilmBlock(coarse, coarse, features, norm) for _ in range(3))
        self.up = nn.Conv2d(coarse, fine, 3, padding=1)
        self.up_block = FilmBlock(2 * fine, fine, features, norm)
        self.leave = zero_initialised(nn.Conv2d(fine, 4 * colours, 3, padding=1))
        self.feature_gain = zero_initialised(nn.Linear(features, fine))
        self.input_gain = zero_initialised(nn.Linear(features, 4 * colours))
        # Drawn last, and at first no more than its input: with or without it training starts from the same network.
        self.attention = SelfAttention(coarse, heads=4) if attention else nn.Identity()
        if isinstance(self.attention, SelfAttention):
            zero_initialised(self.attention.out)

    def denoise(self, x: Tensor, time: Tensor, embedding: Embedding) -> Tensor:
        when = self.time_embedding(time)
        modulation = when + embedding["shared"]
        pixels = F.pixel_unshuffle(x, 2)
        fine = self.down_block(self.enter(pixels), modulation)
        coarse = self.attention(self.down(fine))
        for block in self.middle:
            coarse = block(coarse, modulation)
        up = F.interpolate(self.up(coarse), scale_factor=2.0, mode="nearest")
        out = self.up_block(torch.cat((up, fine), dim=1), modulation)
        out = self.leave(out * self.feature_gain(when).exp()[:, :, None, None])
        return F.pixel_shuffle(out + self.input_gain(when)[:, :, None, None] * pixels, 2)


class FilmBlock(nn.Module):
    """Residual: SiLU, convolution, scale and shift, SiLU, convolution (zero at first)."""

    def __init__(self, inputs: int, outputs: int, features: int, norm: str) -> None:
        super().__init__()
        self.norm1 = group_norm(inputs) if norm == "group" else nn.Identity()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.modulate = nn.Linear(features, 2 * outputs)
        self.norm2 = group_norm(outputs) if norm == "group" else nn.Identity()
        self.conv2 = zero_initialised(nn.Conv2d(outputs, outputs, 3, padding=1))
        self.skip = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x: Tensor, modulation: Tensor) -> Tensor:
        scale, shift = self.modulate(modulation)[:, :, None, None].chunk(2, dim=1)
        hidden = self.norm2(self.conv1(F.silu(self.norm1(x))))
        hidden = hidden * (1 + scale) + shift
        return self.skip(x) + self.conv2(F.silu(hidden))


def _embedding_network(inputs: int, features: int, kind: str) -> nn.Module:
    if kind == "linear":
        return nn.Linear(inputs, features)
    return nn.Sequential(nn.Linear(inputs, features), nn.SiLU(), nn.Linear(features, features))
