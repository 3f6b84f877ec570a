"""Probes learned from real images of all classes, never from generated ones."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from conceptlab import random
from conceptlab.concepts import ConceptSpace
from conceptlab.errors import InputError
from conceptlab.probes.base import Probe
from conceptlab.probes.geometry import contrast
from conceptlab.probes.networks import READOUTS
from conceptlab.worlds import Samples


@dataclass(frozen=True)
class Fitting:
    """How a learned probe is trained. With four variables at 28×28 the judge needs 600 steps to pass 99 %."""

    steps: int = 300
    batch: int = 64
    learning_rate: float = 3e-3
    # Half ranges of what is done to training images, so that generated ones, slightly off, are still judged.
    noise: float = 0.06
    brightness: float = 0.08
    # An image that nowhere differs from its border by this much shows nothing, and nothing is read in it.
    blank: float = 0.0

    def __post_init__(self) -> None:
        for name, least in (("steps", 0), ("batch", 1), ("blank", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not value >= least:
                raise InputError(
                    f"setting '{name}' of the probe is {value!r}; it must be a number from {least} up"
                )


class LearnedProbe(Probe):
    """A network with one head per variable, or one linear map."""

    def __init__(
        self, kind: str, space: ConceptSpace, image_shape: tuple[int, int, int], fitting: Fitting, seed: int
    ) -> None:
        self.kind, self.space, self.image_shape = kind, space, image_shape
        self.fitting, self.seed = fitting, seed
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.network = self._build()
        self.network.eval().requires_grad_(False)

    def to(self, device: torch.device) -> Self:
        self.network.to(device)
        return super().to(device)

    def _build(self) -> nn.Module:
        return READOUTS[self.kind](self.image_shape, sum(self.space.sizes))

    @property
    def settings(self) -> dict[str, Any]:
        variables = [[variable.name, list(variable.values)] for variable in self.space.concepts]
        return {
            "kind": self.kind,
            "variables": variables,
            "image_shape": list(self.image_shape),
            "fitting": dataclasses.asdict(self.fitting),
            "seed": self.seed,
        }

    def read(self, images: Tensor) -> dict[str, Tensor]:
        tables = self.network(images).split(self.space.sizes, dim=1)
        found = {name: table.softmax(1) for name, table in zip(self.space.names, tables)}
        if self.fitting.blank == 0:
            return found
        shown = (contrast(images) >= self.fitting.blank)[:, None]
        return {name: table * shown for name, table in found.items()}

    def fit(self, samples: Samples) -> None:
        """Adam with cosine decay; every draw is keyed by (seed, step), so the same call gives the same probe."""
        settings = self.fitting
        images, targets = samples.images.to(self.device), self._targets(samples).to(self.device)
        self.network.train().requires_grad_(True)
        optimiser = torch.optim.Adam(self.network.parameters(), lr=settings.learning_rate)
        for step in range(settings.steps):
            rate = 0.5 * settings.learning_rate * (1 + math.cos(math.pi * step / settings.steps))
            for group in optimiser.param_groups:
                group["lr"] = rate
            rows = random.integers(self._key("rows", step), (settings.batch,), len(samples))
            logits = self.network(self._disturb(images[rows], step))
            loss = self._loss(logits, targets[rows])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        self.network.eval().requires_grad_(False)

    def _targets(self, samples: Samples) -> Tensor:
        """What the network learns to tell, a row for each image."""
        return samples.labels

    def _loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        losses = [
            functional.cross_entropy(table, labels[:, place])
            for place, table in enumerate(logits.split(self.space.sizes, dim=1))
        ]
        return torch.stack(losses).sum()

    def _disturb(self, images: Tensor, step: int) -> Tensor:
        """Pixel noise of a random strength, contrast and brightness: little enough to keep every concept."""
        n = len(images)
        strength, contrast, shift = random.uniform(self._key("strengths", step), (3, n, 1, 1, 1))
        noise = random.normal(self._key("noise", step), images.shape)
        changed = (images - 0.5) * (1 + self.fitting.brightness * (2 * contrast - 1)) + 0.5
        changed = changed + self.fitting.brightness * (shift - 0.5)
        return (changed + self.fitting.noise * strength * noise).clamp(0, 1)

    def _key(self, purpose: str, step: int) -> Tensor:
        return random.fold(random.key(self.seed, f"probes/{purpose}").to(self.device), step)
