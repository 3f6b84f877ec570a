"""What makes a step fast on a GPU: compilation, and the whole step as one CUDA graph.

Neither changes what a step computes. On a CPU both are left out: compiling takes longer than a small study.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten, tree_unflatten

F = TypeVar("F", bound=Callable[..., Any])

WARM_UP = 3


def compiled(function: F, device: torch.device) -> F:
    """The function compiled for a GPU; as it is on anything else."""
    return torch.compile(function, dynamic=False) if device.type == "cuda" else function  # pyright: ignore


def safe_attention(device: torch.device) -> None:
    """Have torch leave out cuDNN's attention, for this process: its gradients are known to be NaN where scores are low.

    It reckons with keys beyond the last, which fill a block of 128, as with scores of 0, infinitely more than -89 to
    single precision (pytorch/pytorch#196678). It fits what was seen on an H200 with 64 positions (8×8) in bfloat16:
    healthy members ended one after another, each with a gradient that was NaN before the attention and only there.
    Torch's own flash attention takes over.
    """
    if device.type == "cuda":
        torch.backends.cuda.enable_cudnn_sdp(False)


class CapturedStep:
    """A step without inputs, recorded once and then replayed by the GPU without the host.

    Recording needs a few real steps first (compilation, memory); `tensors` are what these would change, and are put
    back afterwards.
    """

    def __init__(self, step: Callable[[], None], tensors: Callable[[], list[Tensor]]) -> None:
        self.step, self.tensors = step, tensors
        self.graph: torch.cuda.CUDAGraph | None = None

    def __call__(self) -> None:
        if self.graph is None:
            saved = [tensor.clone() for tensor in self.tensors()]
            self.graph, _ = record(self.step, WARM_UP)
            for tensor, value in zip(self.tensors(), saved):
                tensor.copy_(value)
        self.graph.replay()


class CapturedCall:
    """A function of tensors without side effects, recorded for the shapes it is called with."""

    def __init__(self, function: Callable[..., Tensor]) -> None:
        self.function = function
        self.recorded: dict[Any, tuple[torch.cuda.CUDAGraph, list[Tensor], Tensor]] = {}

    def __call__(self, *inputs: Any) -> Tensor:
        flat, form = tree_flatten(inputs)
        key = (str(form), *((tuple(t.shape), t.dtype) for t in flat))
        if key not in self.recorded:
            held = [tensor.clone() for tensor in flat]
            graph, output = record(lambda: self.function(*tree_unflatten(held, form)), 1)
            self.recorded[key] = graph, held, output
        graph, held, output = self.recorded[key]
        for place, tensor in zip(held, flat):
            place.copy_(tensor)
        graph.replay()
        return output.clone()


def captured(function: Callable[..., Tensor], device: torch.device) -> Callable[..., Tensor]:
    """The function as a `CapturedCall` on a GPU; as it is on anything else."""
    return CapturedCall(function) if device.type == "cuda" else function


def record(function: Callable[[], Any], warm_up: int) -> tuple[torch.cuda.CUDAGraph, Any]:
    """A graph of what a function launches, after calling it a few times for compilation and memory."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(warm_up):
            function()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        output = function()
    return graph, output
