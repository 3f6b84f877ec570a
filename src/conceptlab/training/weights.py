"""The weights of a cohort as one matrix: a row for each member, a column for each parameter.

Clipping, the optimiser, the moving average and checkpoints are then a few operations on whole matrices, whatever
the network looks like, and a member's row is all there is to know about it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from conceptlab.errors import InputError

# Parameters begin at multiples of this many columns: matrix units want aligned operands, in any precision.
ALIGNMENT = 64


@dataclass(frozen=True)
class Layout:
    """Where each parameter of a module lies in a row.

    The kernels of convolutions lie as (taps, inputs, outputs), the order in which they are multiplied; `views` shows
    them in the order torch knows. Columns between parameters are zero and stay zero.
    """

    names: tuple[str, ...]
    shapes: tuple[torch.Size, ...]
    offsets: tuple[int, ...]
    trained: tuple[bool, ...]
    size: int

    @classmethod
    def of(cls, module: nn.Module) -> Layout:
        named = list(module.named_parameters())
        offsets, size = [], 0
        for _, parameter in named:
            offsets.append(size)
            size += -(-parameter.numel() // ALIGNMENT) * ALIGNMENT
        return cls(
            tuple(name for name, _ in named),
            tuple(parameter.shape for _, parameter in named),
            tuple(offsets),
            tuple(parameter.requires_grad for _, parameter in named),
            size,
        )

    def row(self, parameters: Mapping[str, Tensor]) -> Tensor:
        """Named parameters of one model as a row."""
        return self.gather(
            {name: tensor.detach() for name, tensor in parameters.items()}, torch.empty(self.size)
        )

    def kept_row(self, checkpoint: Mapping[str, Tensor]) -> Tensor:
        """The raw weights of a checkpoint as a row; one of another network is refused."""
        for name, shape in zip(self.names, self.shapes):
            held = checkpoint.get(f"raw.{name}")
            if held is None or held.shape != shape:
                raise InputError(
                    f"cannot start from that checkpoint: it has no '{name}' of shape {tuple(shape)}"
                )
        return self.row({name: checkpoint[f"raw.{name}"].float() for name in self.names})

    def views(self, matrix: Tensor) -> dict[str, Tensor]:
        """A row (P,) or matrix (E, P) as named parameters (*shape) or (E, *shape); they share its memory."""
        found = {}
        for name, shape, offset in zip(self.names, self.shapes, self.offsets):
            part = matrix[..., offset : offset + math.prod(shape)]
            stored = part.view([*matrix.shape[:-1], *(shape[i] for i in _stored(shape))])
            found[name] = _permuted(stored, _shown(shape))
        return found

    def gather(self, parts: Mapping[str, Tensor], like: Tensor) -> Tensor:
        """Named tensors, such as gradients, as a row or matrix; what is not named is zero.

        It has the precision of the parts, where they have one in common.
        """
        leading, reached = like.shape[:-1], 0
        pieces: list[Tensor] = []
        for name, shape, offset in zip(self.names, self.shapes, self.offsets):
            if name in parts:
                part = _permuted(parts[name], _stored(shape)).reshape(*leading, -1)
                pieces += [part.new_zeros(*leading, offset - reached), part]
                reached = offset + math.prod(shape)
        last = pieces[-1] if pieces else like
        pieces.append(last.new_zeros(*leading, self.size - reached))
        # Pieces of one precision are joined before they are converted: two operations instead of one for each piece.
        runs = [
            torch.cat(list(run), dim=-1) for _, run in itertools.groupby(pieces, lambda piece: piece.dtype)
        ]
        return runs[0] if len(runs) == 1 else torch.cat([run.to(like.dtype) for run in runs], dim=-1)

    def mask(self) -> Tensor:
        """1 where a column is trained, 0 where it is frozen or belongs to no parameter (which stays zero anyway)."""
        trained = zip(self.names, self.shapes, self.trained)
        return self.row({name: torch.ones(shape) for name, shape, is_trained in trained if is_trained})

    def tie(self, module: nn.Module, row: Tensor) -> None:
        """Make a module's parameters views of a row: what changes the row changes the module."""
        views = self.views(row)
        for name, parameter in module.named_parameters():
            parameter.data = views[name]


def _stored(shape: torch.Size) -> tuple[int, ...]:
    """The order in which a parameter's axes lie in memory."""
    return (2, 3, 1, 0) if len(shape) == 4 else tuple(range(len(shape)))


def _shown(shape: torch.Size) -> tuple[int, ...]:
    """The way back from `_stored`."""
    return (3, 2, 0, 1) if len(shape) == 4 else tuple(range(len(shape)))


def _permuted(tensor: Tensor, order: tuple[int, ...]) -> Tensor:
    """Permute the last axes, leaving a member axis before them alone."""
    leading = tensor.ndim - len(order)
    return tensor.permute([*range(leading), *(leading + i for i in order)])
