"""A U-Net that sees the whole image: the baseline of bradley2025.

Convolutions at falling resolutions, group norms over the whole image and global attention: every pixel can depend on
every other and on every condition. The condition grid enters beside the image, as input channels.
"""

from __future__ import annotations

import itertools

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from conceptlab.denoisers.base import (
    ConvPlus,
    Denoiser,
    Embedding,
    NormGELU,
    SelfAttention,
    check_image_shape,
    zero_initialised,
)
from conceptlab.denoisers.grid import GridEmbedding, TimeEmbedding, check_grid
from conceptlab.errors import InputError

_HEADS = 4


class GridUNet(Denoiser):
    """It works on patches of `patch` × `patch` pixels. `attention` lists the sides (in patches) at which every
    position attends to every other: (16, 8) for 64×64 images in patches of 2 and three levels of channels."""

    def __init__(
        self,
        image_shape: tuple[int, ...],
        condition_shape: tuple[int, ...],
        channels: tuple[int, ...] = (64, 128, 256),
        blocks_per_level: int = 2,
        attention: tuple[int, ...] = (16, 8),
        patch: int = 2,
        condition_features: int = 16,
    ) -> None:
        super().__init__(image_shape, condition_shape)
        colours, resolution, self.cells = check_grid(self.image_shape, self.condition_shape, "grid_unet")
        check_image_shape(self.image_shape, patch * 2 ** (len(channels) - 1), "grid_unet")
        self.side, self.patch = resolution // patch, patch
        if self.side % self.cells:
            raise InputError(
                f"denoiser 'grid_unet': {self.side} patches along a side do not divide into {self.cells} cells; "
                "use a smaller patch"
            )
        units = 4 * channels[0]
        inputs = colours * patch**2
        self.condition_embedding = GridEmbedding(self.condition_shape, condition_features)
        self.time_embedding = TimeEmbedding(units)
        self.enter = nn.Conv2d(inputs + condition_features, channels[0], 3, padding=1)
        sides = [self.side // 2**level for level in range(len(channels))]
        before = (channels[0], *channels)
        self.down_blocks = nn.ModuleList(
            _Level(b, c, blocks_per_level, units, side in attention)
            for b, c, side in zip(before, channels, sides)
        )
        self.downs = nn.ModuleList(nn.Conv2d(c, c, 2, stride=2) for c in channels[:-1])
        self.middle = _Level(channels[-1], channels[-1], 1, units, attends=sides[-1] in attention)
        self.ups = nn.ModuleList(
            nn.ConvTranspose2d(high, low, 2, stride=2) for low, high in itertools.pairwise(channels)
        )
        self.up_blocks = nn.ModuleList(
            _Level(2 * c, c, blocks_per_level, units, side in attention) for c, side in zip(channels, sides)
        )
        self.norm = NormGELU(channels[0])
        self.leave = zero_initialised(nn.Conv2d(channels[0], inputs, 3, padding=1))
        self.input_gain = zero_initialised(nn.Linear(units, inputs))

    def denoise(self, x: Tensor, time: Tensor, embedding: Embedding) -> Tensor:
        when = self.time_embedding(time)
        grid = embedding["grid"].unflatten(1, (-1, self.cells, self.cells))
        pixels = F.pixel_unshuffle(x, self.patch)
        told = F.interpolate(grid, scale_factor=float(self.side // self.cells), mode="nearest")
        hidden = self.enter(torch.cat((pixels, told.to(pixels.dtype)), dim=1))
        skips = []
        for level, block in enumerate(self.down_blocks):
            hidden = block(self.downs[level - 1](hidden) if level else hidden, when)
            skips.append(hidden)
        hidden = self.middle(hidden, when)
        for level in reversed(range(len(skips))):
            if level < len(skips) - 1:
                hidden = self.ups[level](hidden)
            hidden = self.up_blocks[level](torch.cat((hidden, skips[level]), dim=1), when)
        out = self.leave(self.norm(hidden))
        return F.pixel_shuffle(out + self.input_gain(when)[:, :, None, None] * pixels, self.patch)


class _Level(nn.Module):
    """The residual blocks of one resolution, and attention after each where there is any."""

    def __init__(self, inputs: int, outputs: int, blocks: int, units: int, attends: bool) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(
            _Block(inputs if i == 0 else outputs, outputs, units) for i in range(blocks)
        )
        self.attentions = nn.ModuleList(
            SelfAttention(outputs, _HEADS) for _ in range(blocks if attends else 0)
        )

    def forward(self, x: Tensor, when: Tensor) -> Tensor:
        for number, block in enumerate(self.blocks):
            x = block(x, when)
            if len(self.attentions):
                x = self.attentions[number](x)
        return x


class _Block(nn.Module):
    """Norm, GELU, convolution; plus time; norm, GELU, convolution (zero at first); plus the input."""

    def __init__(self, inputs: int, outputs: int, units: int) -> None:
        super().__init__()
        self.norm1 = NormGELU(inputs)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.time = nn.Linear(units, outputs)
        self.norm2 = NormGELU(outputs)
        self.conv2 = zero_initialised(ConvPlus(outputs, outputs, 3, padding=1))
        self.skip = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x: Tensor, when: Tensor) -> Tensor:
        hidden = self.conv1(self.norm1(x))
        return self.conv2(self.norm2(hidden, self.time(when)), plus=self.skip(x))
