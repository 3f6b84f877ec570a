"""A denoiser whose locality is enforced: each cell is written from the patch around it and the conditions inside.

The image is cut into the cells of its condition grid, and a cell sees the (2·reach + 1)² cells around it, their
conditions and its own position; nothing else exists for it. Rather than cutting out patches, one network runs over
all cells at once: every layer works on single cells but for one gathering of neighbours in each block, and their
distances add up to the reach exactly. Norms are taken over the channels of one cell, since any statistic of the image
would carry everything everywhere.

A reach of `cells` - 1 is the whole image. All reaches have the same number of parameters.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from conceptlab.denoisers.base import Denoiser, Embedding, zero_initialised
from conceptlab.denoisers.grid import GridEmbedding, TimeEmbedding, check_grid
from conceptlab.errors import InputError


class Cells(Denoiser):
    """Conditions (channels, cells, cells); `reach` is k: how many cells away a cell can see."""

    coordinates: Tensor

    def __init__(
        self,
        image_shape: tuple[int, ...],
        condition_shape: tuple[int, ...],
        reach: int = 2,
        width: int = 256,
        blocks: int = 4,
        condition_features: int = 16,
    ) -> None:
        super().__init__(image_shape, condition_shape)
        colours, resolution, self.cells = check_grid(self.image_shape, self.condition_shape, "cells")
        self.cell = resolution // self.cells
        if not 0 <= reach < self.cells:
            raise InputError(
                f"denoiser 'cells': reach is {reach}; it must be from 0 to {self.cells - 1}, which is the whole image"
            )
        self.reach, self.distances = reach, split_reach(reach, blocks)
        pixels, units = colours * self.cell**2, 2 * width
        self.condition_embedding = GridEmbedding(self.condition_shape, condition_features)
        self.time_embedding = TimeEmbedding(units)
        ramp = torch.linspace(-1.0, 1.0, self.cells)
        self.register_buffer(
            "coordinates", torch.stack(torch.meshgrid(ramp, ramp, indexing="ij")), persistent=False
        )
        self.enter = nn.Conv2d(pixels + condition_features + 2, width, 1)
        self.blocks = nn.ModuleList(_Block(width, units, distance) for distance in self.distances)
        self.leave_time = nn.Linear(units, 2 * width)
        self.leave = zero_initialised(nn.Conv2d(width, pixels, 1))
        self.input_gain = zero_initialised(nn.Linear(units, pixels))

    def denoise(self, x: Tensor, time: Tensor, embedding: Embedding) -> Tensor:
        when = self.time_embedding(time)
        pixels = F.pixel_unshuffle(x, self.cell)
        grid = embedding["grid"].unflatten(1, (-1, self.cells, self.cells)).to(pixels.dtype)
        where = self.coordinates.to(pixels.dtype).expand(len(x), -1, -1, -1)
        hidden = self.enter(torch.cat((pixels, grid, where), dim=1))
        for block in self.blocks:
            hidden = block(hidden, when)
        out = self.leave(modulated(hidden, self.leave_time(when)))
        return F.pixel_shuffle(out + self.input_gain(when)[:, :, None, None] * pixels, self.cell)


class _Block(nn.Module):
    """Residual: norm, scaled and shifted by time; neighbours at a distance gathered into a hidden layer; back."""

    def __init__(self, width: int, units: int, distance: int) -> None:
        super().__init__()
        self.distance = distance
        self.time = nn.Linear(units, 2 * width)
        # As many weights whatever the distance: where no neighbours are gathered, the hidden layer is five times as
        # wide. At distance 1 gathering is a convolution; at any other it is written out.
        hidden = 10 * width if distance == 0 else 2 * width
        self.gather = (
            nn.Conv2d(width, hidden, 3, padding=1, bias=False)
            if distance == 1
            else nn.Conv2d(9 * width if distance else width, hidden, 1, bias=False)
        )
        self.back = zero_initialised(nn.Conv2d(hidden, width, 1))

    def forward(self, x: Tensor, when: Tensor) -> Tensor:
        hidden = modulated(x, self.time(when))
        seen = neighbours(hidden, self.distance) if self.distance > 1 else hidden
        return x + self.back(F.silu(self.gather(seen)))


def modulated(x: Tensor, time: Tensor) -> Tensor:
    """Each position's channels at mean 0 and variance 1, then scaled and shifted: (B, C, H, W), (B, 2C)."""
    # In single precision whatever the network's: a variance of bfloat16 has two digits.
    normal = F.layer_norm(x.permute(0, 2, 3, 1).float(), x.shape[1:2]).permute(0, 3, 1, 2)
    scale, shift = time.to(x.dtype)[:, :, None, None].chunk(2, dim=1)
    return normal.to(x.dtype) * (1 + scale) + shift


def neighbours(x: Tensor, distance: int) -> Tensor:
    """The nine positions at 0 and ± `distance` along both axes, side by side as channels; zero beyond the image."""
    height, width = x.shape[2:]
    padded = F.pad(x, (distance,) * 4)
    shifts = (0, distance, 2 * distance)
    return torch.cat([padded[:, :, i : i + height, j : j + width] for i in shifts for j in shifts], dim=1)


def split_reach(reach: int, blocks: int) -> tuple[int, ...]:
    """Distances of the blocks, that sum to the reach and leave no gap.

    None exceeds the sum of those before it by more than one: then any cell within reach is reached by steps towards
    it alone. A detour would do inside the image, but at its edge it would lead out of it.
    """
    distances: list[int] = []
    for left in range(blocks, 0, -1):
        so_far = sum(distances)
        distances.append(min(-(-(reach - so_far) // left), so_far + 1))
    if sum(distances) < reach:
        raise InputError(f"denoiser 'cells': {blocks} blocks cannot reach {reach} cells; use more blocks")
    return tuple(distances)
