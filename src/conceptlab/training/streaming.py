"""Training images that stay on disk: each step's batch is fetched before the step, the next one's meanwhile.

Which images a step takes is a function of (seed, step) alone, so it can be worked out ahead on the host; the step
itself, recorded as one graph on a GPU, reads the same buffers every time.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor

import torch
from torch import Tensor

from conceptlab import random
from conceptlab.training.data import TrainingData


class StreamedData:
    """Gives a cohort on a device the batches that its `TrainingData`, on the CPU, would."""

    def __init__(self, data: TrainingData, keys: Tensor, size: int, device: torch.device) -> None:
        self.data, self.size, self.device = data, size, device
        self.keys = keys.cpu()
        self.images, self.conditions = (part.to(device) for part in self._fetch(0))
        self._pool = ThreadPoolExecutor(1)
        self._ahead: tuple[int, Future[tuple[Tensor, Tensor]]] | None = None

    def prepare(self, step: int) -> None:
        """Bring the images of a step to the device."""
        if self._ahead is not None and self._ahead[0] == step:
            images, conditions = self._ahead[1].result()
        else:
            images, conditions = self._fetch(step)
        self._ahead = step + 1, self._pool.submit(self._fetch, step + 1)
        self.images.copy_(images, non_blocking=True)
        self.conditions.copy_(conditions, non_blocking=True)

    def batch(self, uniforms: Tensor) -> tuple[Tensor, Tensor]:
        """What `prepare` brought; the numbers are those it used."""
        return self.images, self.conditions

    def _fetch(self, step: int) -> tuple[Tensor, Tensor]:
        images, conditions = self.data.batch(random.uniform(random.fold(self.keys, step), (self.size,)))
        if self.device.type == "cuda":
            # Copies from pinned memory do not wait for the GPU.
            return images.pin_memory(), conditions.pin_memory()
        return images, conditions
