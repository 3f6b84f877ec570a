"""The U-Net of okawa2023 (Okawa et al., "Compositional abilities emerge multiplicatively", NeurIPS 2023).

Two resolutions down to a single vector and back up, with skip connections; condition and time enter on the way
up. The paper's text and its public code differ, and both are here by switches:

- public code (the defaults): the condition's embedding multiplies the features and the time's is added; no
  attention; each group of the condition (shape, colour, size) has an MLP of its own and the results are summed;
- paper: `condition_entry="concatenate"`, `attention=True`.

As in the public code, convolutions are normalised over the batch. With `norm="group"`, where every image is normalised
by itself, a network forgets how bright its images are: grounds are drawn in any tint.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from conceptlab.denoisers.base import (
    Denoiser,
    Embedding,
    NormGELU,
    SelfAttention,
    check_image_shape,
    group_norm,
)
from conceptlab.denoisers.batch_norm import BatchNorm
from conceptlab.errors import InputError
from conceptlab.registry import choose


class Okawa2023(Denoiser):
    """`features` 128 has about 6.8 M parameters at 28×28, 256 about 27 M.

    `condition_groups` are the sizes of the consecutive parts of the condition vector, for example (2, 3, 1) for
    a shape one-hot, RGB and a size; left out, the condition is one group. Embeddings are named "up1" and "up2"
    by the place where they enter.
    """

    def __init__(
        self,
        image_shape: tuple[int, ...],
        condition_shape: tuple[int, ...],
        features: int = 128,
        condition_entry: str = "multiply",
        attention: bool = False,
        condition_groups: tuple[int, ...] | None = None,
        norm: str = "batch",
    ) -> None:
        super().__init__(image_shape, condition_shape)
        choose("norm", norm, ("batch", "group"))
        colours, height, width = check_image_shape(image_shape, 4, "okawa2023")
        self.condition_entry = choose("condition_entry", condition_entry, ("multiply", "concatenate"))
        n = features
        smallest = (height // 4, width // 4)
        groups = (math.prod(condition_shape),) if condition_groups is None else tuple(condition_groups)
        self.condition_embedding = GroupedEmbedding(
            math.prod(condition_shape), groups, {"up1": 2 * n, "up2": n}
        )
        self.time_embedding = nn.ModuleDict({"up1": _mlp(1, 2 * n), "up2": _mlp(1, n)})
        self.enter = ResidualConvolutions(colours, n, norm)
        self.down1 = nn.Sequential(_convolution(n, n, norm), _convolution(n, n, norm), nn.MaxPool2d(2))
        self.down2 = nn.Sequential(
            _convolution(n, 2 * n, norm), _convolution(2 * n, 2 * n, norm), nn.MaxPool2d(2)
        )
        self.attention = SelfAttention(2 * n, heads=4) if attention else nn.Identity()
        self.unpool = nn.Sequential(
            nn.ConvTranspose2d(2 * n, 2 * n, smallest, smallest), group_norm(2 * n), nn.ReLU()
        )
        extra = 1 if condition_entry == "concatenate" else 0
        self.up1 = _up((4 + 2 * extra) * n, n, norm)
        self.up2 = _up((2 + extra) * n, n, norm)
        self.leave = nn.Sequential(
            nn.Conv2d(2 * n, n, 3, padding=1), group_norm(n), nn.ReLU(), nn.Conv2d(n, colours, 3, padding=1)
        )

    def denoise(self, x: Tensor, time: Tensor, embedding: Embedding) -> Tensor:
        entered = self.enter(x)
        down1 = self.down1(entered)
        down2 = self.attention(self.down2(down1))
        vector = F.gelu(down2.mean((2, 3), keepdim=True))
        up = self.unpool(vector)
        up = self.up1(self._join("up1", up, down2, time, embedding))
        up = self.up2(self._join("up2", up, down1, time, embedding))
        return self.leave(torch.cat((up, entered), dim=1))

    def _join(self, place: str, up: Tensor, skip: Tensor, time: Tensor, embedding: Embedding) -> Tensor:
        """The features of one up step: condition and time put in, the skip connection beside them."""
        condition = embedding[place][:, :, None, None]
        when = self.time_embedding[place](time[:, None])[:, :, None, None]
        if self.condition_entry == "multiply":
            return torch.cat((condition * up + when, skip), dim=1)
        return torch.cat((up + when, condition.expand(-1, -1, *up.shape[2:]), skip), dim=1)


class GroupedEmbedding(nn.Module):
    """An MLP for each group of the condition and each place where it enters, summed over the groups."""

    def __init__(self, size: int, groups: tuple[int, ...], places: dict[str, int]) -> None:
        super().__init__()
        if sum(groups) != size or min(groups) < 1:
            raise InputError(
                f"condition_groups {list(groups)} must be positive and add up to the condition's size {size}"
            )
        self.groups = groups
        self.places = nn.ModuleDict(
            {
                place: nn.ModuleList(_mlp(group, outputs) for group in groups)
                for place, outputs in places.items()
            }
        )

    def forward(self, condition: Tensor) -> Embedding:
        parts = condition.flatten(1).split(self.groups, dim=1)
        return {place: self._sum(place, parts) for place in self.places}

    def _sum(self, place: str, parts: tuple[Tensor, ...]) -> Tensor:
        networks = self.places[place]
        assert isinstance(networks, nn.ModuleList)
        return torch.stack([network(part) for network, part in zip(networks, parts)]).sum(0)


class ResidualConvolutions(nn.Module):
    """Two convolutions; the first one's output is added to the second's, and the sum scaled to keep its
    variance."""

    def __init__(self, inputs: int, outputs: int, norm: str) -> None:
        super().__init__()
        self.first = _convolution(inputs, outputs, norm)
        self.second = _convolution(outputs, outputs, norm)

    def forward(self, x: Tensor) -> Tensor:
        first = self.first(x)
        return (first + self.second(first)) / math.sqrt(2)


def _convolution(inputs: int, outputs: int, norm: str) -> nn.Module:
    if norm == "group":
        return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), NormGELU(outputs))
    # A bias would be taken away again by the norm, and Adam would make a random walk of its rounding errors.
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), BatchNorm(outputs, gelu=True))


def _up(inputs: int, outputs: int, norm: str) -> nn.Module:
    return nn.Sequential(
        nn.ConvTranspose2d(inputs, outputs, 2, 2), *(_convolution(outputs, outputs, norm) for _ in range(4))
    )


def _mlp(inputs: int, outputs: int) -> nn.Module:
    return nn.Sequential(nn.Linear(inputs, outputs), nn.GELU(), nn.Linear(outputs, outputs))
