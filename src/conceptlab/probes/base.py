"""A probe reads concepts back from images."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import torch
from torch import Tensor

from conceptlab.concepts import ConceptSpace
from conceptlab.errors import InputError

_CHUNK = 1024


class Probe(ABC):
    """Judges images one by one; what it says of an image does not depend on the others."""

    kind: str
    space: ConceptSpace
    image_shape: tuple[int, int, int]
    device = torch.device("cpu")
    """Where it reads."""

    def to(self, device: torch.device) -> Self:
        """The same probe, reading on another device: beside the models whose many images it judges."""
        self.device = device
        return self

    @property
    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """What it takes to make this probe again, apart from learned weights; JSON-able."""

    @abstractmethod
    def read(self, images: Tensor) -> dict[str, Tensor]:
        """Probabilities (n, values) by variable, of images in [0, 1]; on any device."""

    def probabilities(self, images: Tensor) -> dict[str, Tensor]:
        """Probabilities (n, values) by variable, float32 on the CPU, of any images.

        Generated pixels may leave [0, 1] and are clipped, as they would be to be seen. In an image with a pixel that
        is not a number nothing is read: it cannot be seen.
        """
        if images.ndim != 4 or tuple(images.shape[1:]) != self.image_shape:
            raise InputError(f"the probe reads images of {self.image_shape}; given {tuple(images.shape)}")
        # In full precision on any device: what an image shows must not depend on where it is read.
        with torch.no_grad(), torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
            # Splitting nothing gives one empty chunk, so that no images give empty tables of the right width.
            chunks = [self._seen(chunk) for chunk in images.detach().split(_CHUNK)]
        return {name: torch.cat([chunk[name] for chunk in chunks]).cpu() for name in self.space.names}

    def _seen(self, images: Tensor) -> dict[str, Tensor]:
        given = images.to(self.device, torch.float32)
        broken = given.isnan().flatten(1).any(1)[:, None]
        tables = self.read(given.nan_to_num(nan=0.5, posinf=1.0, neginf=0.0).clamp(0, 1))
        found = [tables[name] for name in self.space.names]
        return {name: t.masked_fill(broken.to(t.device), 0.0) for name, t in zip(self.space.names, found)}

    def predict(self, images: Tensor) -> Tensor:
        """The most probable value of every variable: labels (n, variables), int64."""
        return labels_of(self.probabilities(images))


def labels_of(probabilities: dict[str, Tensor]) -> Tensor:
    """Probabilities by variable to labels (n, variables); -1, which no class has, where nothing is read."""
    tables = probabilities.values()
    return torch.stack([torch.where(t.amax(1) > 0, t.argmax(1), -1) for t in tables], dim=1)
