"""What makes a step fast on a GPU: compilation, and the whole step as one CUDA graph.

Neither changes what a step computes. On a CPU both are left out: compiling takes longer than a small study.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor

F = TypeVar("F", bound=Callable[..., Any])

WARM_UP = 3


def compiled(function: F, device: torch.device) -> F:
    """The function compiled for a GPU; as it is on anything else."""
    return torch.compile(function, dynamic=False) if device.type == "cuda" else function  # pyright: ignore


class Captured:
    """A step without inputs, recorded once and then replayed by the GPU without the host.

    Recording needs a few real steps first (compilation, memory); `tensors` are what these would change, and are put
    back afterwards.
    """

    def __init__(self, step: Callable[[], None], tensors: Callable[[], list[Tensor]]) -> None:
        self.step, self.tensors = step, tensors
        self.graph: torch.cuda.CUDAGraph | None = None

    def __call__(self) -> None:
        if self.graph is None:
            self.graph = self._record()
        self.graph.replay()

    def _record(self) -> torch.cuda.CUDAGraph:
        saved = [tensor.clone() for tensor in self.tensors()]
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(WARM_UP):
                self.step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.step()
        for tensor, value in zip(self.tensors(), saved):
            tensor.copy_(value)
        return graph
