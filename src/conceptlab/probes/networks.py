"""The readouts that are learned: from an image to one logit per value of every variable."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


class LinearReadout(nn.Module):
    """One linear classifier per variable on raw pixels (okawa2023, §3.1), stacked into one matrix.

    It can only judge shape while objects are upright and nearly centred; told to separate circles from triangles
    that turn and move it can stay below 80 %, so it is reported beside a judge, never as one.
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

    Batch statistics serve training only: in use every image is judged alike in any company. They, and weights
    that keep the scale of their input, are what makes 300 steps enough where shapes turn and move: without
    either such a network read 55 to 80 % of turned shapes by then.
    """

    def __init__(self, image_shape: tuple[int, int, int], values: int, width: int = 24) -> None:
        super().__init__()
        self.features = nn.Sequential(
            *_block(image_shape[0], width, kernel=4, stride=2),
            *_block(width, 2 * width, kernel=3, stride=1),
            *_block(2 * width, 2 * width, kernel=3, stride=2),
            nn.AdaptiveAvgPool2d(4),
            nn.Flatten(),
        )
        self.hidden = _scaled(nn.Linear(16 * 2 * width, 128))
        self.logits = nn.Linear(128, values)

    def forward(self, images: Tensor) -> Tensor:
        centred = ((images - 0.5) * 4.0).contiguous(memory_format=torch.channels_last)
        return self.logits(torch.relu(self.hidden(self.features(centred))))


def _block(inputs: int, outputs: int, kernel: int, stride: int) -> tuple[nn.Module, ...]:
    convolution = _scaled(nn.Conv2d(inputs, outputs, kernel, stride, padding=1))
    return convolution, nn.BatchNorm2d(outputs), nn.ReLU()


def _scaled(layer: nn.Linear | nn.Conv2d) -> nn.Module:
    nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer


READOUTS: dict[str, type[LinearReadout] | type[ConvReadout]] = {"linear": LinearReadout, "cnn": ConvReadout}
