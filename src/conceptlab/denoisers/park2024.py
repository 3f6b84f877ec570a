"""The U-Net of park2024 (Park et al., "Emergence of hidden capabilities", NeurIPS 2024).

Residual blocks at each resolution, attention at the lowest, condition and time added between the two
convolutions of every block; the network's output is its input plus what it computed. Two variants:

- public code (the defaults): channels 64, 128, 256, and a separate condition MLP for every block;
- workshop paper: `channels=(32, 64, 128, 256)`, `condition_mlp="shared"`: one MLP with 64 hidden units, whose
  output every block projects to its own width.
"""

from __future__ import annotations

import itertools
import math

import torch
from torch import Tensor, nn

from conceptlab.denoisers.base import (
    ConvPlus,
    Denoiser,
    Embedding,
    NormGELU,
    SelfAttention,
    SharedEmbedding,
    TimeFeatures,
    check_image_shape,
    zero_initialised,
)
from conceptlab.denoisers.dropout import KeyedDropout
from conceptlab.errors import InputError
from conceptlab.registry import choose

_TIME_FEATURES = 64
_TIME_UNITS = 256
_SHARED_UNITS = 64


class Park2024(Denoiser):
    """10.6 M parameters with the defaults at 3×32×32 and a condition of size 4; the public code counts 10.9 M
    because it also builds two convolutions that it never uses.

    With `condition_mlp="per_block"` embeddings are named after the blocks ("down0_0", …, "middle_0", …,
    "up0_1"); with "shared" there is one, named "shared".
    """

    def __init__(
        self,
        image_shape: tuple[int, ...],
        condition_shape: tuple[int, ...],
        channels: tuple[int, ...] = (64, 128, 256),
        blocks_per_level: int = 2,
        condition_mlp: str = "per_block",
        attention: bool = True,
        dropout: float = 0.1,
    ) -> None:
        super().__init__(image_shape, condition_shape)
        if not channels or blocks_per_level < 1:
            raise InputError(
                "denoiser 'park2024' needs at least one level of channels and one block per level"
            )
        colours, _, _ = check_image_shape(image_shape, 2 ** (len(channels) - 1), "park2024")
        choose("condition_mlp", condition_mlp, ("per_block", "shared"))
        self.shared = condition_mlp == "shared"
        self.levels, self.blocks_per_level = len(channels), blocks_per_level
        plan = _plan(tuple(channels), blocks_per_level)
        size = math.prod(condition_shape)
        self.condition_embedding = (
            SharedEmbedding(_mlp(size, _SHARED_UNITS, _SHARED_UNITS))
            if self.shared
            else BlockEmbeddings(size, plan)
        )
        self.time_embedding = nn.Sequential(
            TimeFeatures(_TIME_FEATURES), _mlp(_TIME_FEATURES, _TIME_UNITS, _TIME_UNITS)
        )
        layers = itertools.count()
        self.blocks = nn.ModuleDict(
            {
                name: ResidualBlock(
                    inputs,
                    outputs,
                    _SHARED_UNITS if self.shared else None,
                    KeyedDropout(dropout, next(layers)),
                )
                for name, (inputs, outputs) in plan.items()
            }
        )
        self.enter = nn.Conv2d(colours, channels[0], 3, padding=1)
        self.downs = nn.ModuleList(nn.Conv2d(c, c, 2, stride=2) for c in channels[:-1])
        self.attention = SelfAttention(channels[-1], heads=4) if attention else nn.Identity()
        self.ups = nn.ModuleList(
            nn.ConvTranspose2d(high, low, 2, stride=2) for low, high in itertools.pairwise(channels)
        )
        self.norm = NormGELU(channels[0])
        self.leave = zero_initialised(nn.Conv2d(channels[0], colours, 3, padding=1))

    def denoise(self, x: Tensor, time: Tensor, embedding: Embedding) -> Tensor:
        when = self.time_embedding(time)

        def run(name: str, hidden: Tensor) -> Tensor:
            return self.blocks[name](hidden, when, embedding["shared" if self.shared else name])

        hidden = self.enter(x)
        skips = []
        for level in range(self.levels):
            for block in range(self.blocks_per_level):
                hidden = run(f"down{level}_{block}", hidden)
            if level < self.levels - 1:
                skips.append(hidden)
                hidden = self.downs[level](hidden)
        hidden = run("middle_1", self.attention(run("middle_0", hidden)))
        for level in reversed(range(self.levels)):
            if level < self.levels - 1:
                hidden = torch.cat((self.ups[level](hidden), skips[level]), dim=1)
            for block in range(self.blocks_per_level):
                hidden = run(f"up{level}_{block}", hidden)
        return x + self.leave(self.norm(hidden))


class BlockEmbeddings(nn.Module):
    """One condition MLP for every block, as wide as the block."""

    def __init__(self, size: int, plan: dict[str, tuple[int, int]]) -> None:
        super().__init__()
        self.blocks = nn.ModuleDict(
            {name: _mlp(size, outputs, outputs) for name, (_, outputs) in plan.items()}
        )

    def forward(self, condition: Tensor) -> Embedding:
        flat = condition.flatten(1)
        return {name: network(flat) for name, network in self.blocks.items()}


class ResidualBlock(nn.Module):
    """GroupNorm, GELU, convolution; plus time and condition; GroupNorm, GELU, dropout, convolution (zero at
    first); plus the input."""

    def __init__(self, inputs: int, outputs: int, shared_units: int | None, dropout: KeyedDropout) -> None:
        super().__init__()
        self.norm1 = NormGELU(inputs)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.time = _mlp(_TIME_UNITS, outputs, outputs)
        self.condition = nn.Identity() if shared_units is None else nn.Linear(shared_units, outputs)
        self.norm2 = NormGELU(outputs, dropout=dropout)
        self.conv2 = zero_initialised(ConvPlus(outputs, outputs, 3, padding=1))
        self.skip = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x: Tensor, time: Tensor, condition: Tensor) -> Tensor:
        hidden = self.conv1(self.norm1(x))
        hidden = self.norm2(hidden, self.time(time) + self.condition(condition))
        return self.conv2(hidden, plus=self.skip(x))


def _plan(channels: tuple[int, ...], blocks: int) -> dict[str, tuple[int, int]]:
    """Name → (input channels, output channels) of every residual block, in the order they run."""
    plan: dict[str, tuple[int, int]] = {}
    before = channels[0]
    for level, width in enumerate(channels):
        for block in range(blocks):
            plan[f"down{level}_{block}"] = (before if block == 0 else width, width)
        before = width
    plan["middle_0"] = plan["middle_1"] = (channels[-1], channels[-1])
    for level in reversed(range(len(channels))):
        width = channels[level]
        # Above the lowest level the upsampled features and the skip connection, of one width, come together.
        joined = width if level == len(channels) - 1 else 2 * width
        for block in range(blocks):
            plan[f"up{level}_{block}"] = (joined if block == 0 else width, width)
    return plan


def _mlp(inputs: int, hidden: int, outputs: int) -> nn.Module:
    return nn.Sequential(nn.Linear(inputs, hidden), nn.GELU(), nn.Linear(hidden, outputs), nn.GELU())
