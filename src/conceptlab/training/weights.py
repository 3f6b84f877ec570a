"""The weights of a cohort as one matrix: a row for each member, a column for each parameter.

Clipping, the optimiser, the moving average and checkpoints are then a few operations on whole matrices, whatever
the network looks like, and a member's row is all there is to know about it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Layout:
    """Where each parameter of a module lies in a row."""

    names: tuple[str, ...]
    shapes: tuple[torch.Size, ...]
    offsets: tuple[int, ...]
    trained: tuple[bool, ...]

    @classmethod
    def of(cls, module: nn.Module) -> Layout:
        named = list(module.named_parameters())
        sizes = [parameter.numel() for _, parameter in named]
        return cls(
            tuple(name for name, _ in named),
            tuple(parameter.shape for _, parameter in named),
            tuple(sum(sizes[:i]) for i in range(len(sizes))),
            tuple(parameter.requires_grad for _, parameter in named),
        )

    @property
    def size(self) -> int:
        return self.offsets[-1] + math.prod(self.shapes[-1])

    def row(self, module: nn.Module) -> Tensor:
        """The parameters of a module, one after another."""
        return torch.cat([parameter.detach().flatten() for parameter in module.parameters()])

    def views(self, matrix: Tensor) -> dict[str, Tensor]:
        """A row (P,) or matrix (E, P) as named parameters (*shape) or (E, *shape); they share its memory."""
        found = {}
        for name, shape, offset in zip(self.names, self.shapes, self.offsets):
            part = matrix[..., offset : offset + math.prod(shape)]
            found[name] = part.view((*matrix.shape[:-1], *shape))
        return found

    def gather(self, gradients: dict[str, Tensor], like: Tensor) -> Tensor:
        """Named gradients back into a row or matrix; parameters that are not trained get zeros."""
        leading = like.shape[:-1]
        parts = [
            gradients[name].reshape(*leading, -1)
            if name in gradients
            else like.new_zeros(*leading, math.prod(shape))
            for name, shape in zip(self.names, self.shapes)
        ]
        return torch.cat(parts, dim=-1)

    def mask(self) -> Tensor:
        """1 where a column is trained, 0 where it is frozen."""
        parts = [torch.full((math.prod(shape),), float(t)) for shape, t in zip(self.shapes, self.trained)]
        return torch.cat(parts)

    def tie(self, module: nn.Module, row: Tensor) -> None:
        """Make a module's parameters views of a row: what changes the row changes the module."""
        views = self.views(row)
        for name, parameter in module.named_parameters():
            parameter.data = views[name]
