"""The readouts that are learned: from an image to one logit per value of every variable."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


class LinearReadout(nn.Module):
    """One linear classifier per variable on raw pixels (okawa2023, §3.1), stacked into one matrix.

    It can only judge shape while objects are upright and nearly centred; with free location and angle it stays
    at 74 to 87 %, so it is reported beside a judge, never as one.
    """

    def __init__(self, image_shape: tuple[int, int, int], values: int) -> None:
        super().__init__()
        self.logits = nn.Linear(math.prod(image_shape), values)
        nn.init.zeros_(self.logits.weight)
        nn.init.zeros_(self.logits.bias)

    def forward(self, images: Tensor) -> Tensor:
        return self.logits(images.flatten(1) - 0.5)


class ConvReadout(nn.Module):
    """A small convolutional network, one head per variable on shared features.

    Without normalisation over the batch, so that an image is judged alike in any company.
    """

    def __init__(self, image_shape: tuple[int, int, int], values: int, width: int = 32) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(image_shape[0], width, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(width, 2 * width, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(2 * width, 2 * width, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(4),
        )
        self.hidden = nn.Linear(16 * 2 * width, 128)
        self.logits = nn.Linear(128, values)

    def forward(self, images: Tensor) -> Tensor:
        features = self.features((images - 0.5) * 4.0).flatten(1)
        return self.logits(torch.relu(self.hidden(features)))


READOUTS: dict[str, type[LinearReadout] | type[ConvReadout]] = {"linear": LinearReadout, "cnn": ConvReadout}
