"""Dropout whose mask is a function of a key, so that a member of a cohort drops what it drops alone.

Torch's dropout draws from a global generator: stacked models would share it, and a resumed run would go on
from another state. Here the mask follows from (key, layer number, element index) alone.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from conceptlab import random
from conceptlab.errors import InputError

# A random word of 32 bits decides one element.
_WORDS = 1 << 32
_HALF = -(1 << 31)


class KeyedDropout(nn.Module):
    """Sets a share `rate` of the elements to zero and scales the rest up to keep the mean.

    `set_dropout_key` gives it the key of a step. It is the identity in `eval` mode and while the key is zero (unset).
    Cohorts use `masked` with keys of all members, into which the layer's number is folded already.
    """

    key: Tensor

    def __init__(self, rate: float, layer: int) -> None:
        super().__init__()
        if not 0 <= rate < 1:
            raise InputError(f"dropout is {rate}; it must be at least 0 and below 1")
        self.dropped = round(rate * _WORDS)
        self.layer = layer
        self.register_buffer("key", torch.zeros(2, dtype=torch.int32), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.dropped == 0:
            return x
        dropped = self.masked(x[None], random.fold(self.key, self.layer)[None])[0]
        return torch.where((self.key == 0).all(), x, dropped)

    def masked(self, x: Tensor, keys: Tensor) -> Tensor:
        """Members' activations (E, B, …) with some elements dropped, by the members' keys for this layer (E, 2)."""
        # Elements are counted with the channels fastest, as they lie in memory: no index arithmetic on a GPU.
        shape = x.shape[1:]
        in_memory = shape if len(shape) < 3 else (shape[0], *shape[2:], shape[1])
        index = torch.arange(x[0].numel(), dtype=torch.int32, device=x.device).view(in_memory)
        index = index if len(shape) < 3 else index.movedim(-1, 1)
        own = keys.view(-1, 2, *(1 for _ in x.shape[1:]))
        # Signed words: the smallest of them stand for the smallest of the unsigned after half a turn.
        kept = _word(index, own[:, 0], own[:, 1]) + _HALF >= self.dropped + _HALF
        scale = _WORDS / (_WORDS - self.dropped)
        # A product, with the activations first: the result then lies in memory as they do. A choice by the mask would
        # take the mask's order, and every convolution after it would have to turn its input.
        return x * (kept * scale).to(x.dtype)


def dropout_keys(model: nn.Module) -> dict[str, int]:
    """The key buffers of a model by name, with the layer's number that is folded into the key of a step."""
    layers = ((name, module) for name, module in model.named_modules() if isinstance(module, KeyedDropout))
    return {f"{name}.key": module.layer for name, module in layers}


def set_dropout_key(model: nn.Module, key: Tensor) -> None:
    """Give every dropout layer of a model the key of the coming step."""
    for module in model.modules():
        if isinstance(module, KeyedDropout):
            module.key = key.to(module.key.device)


def _word(index: Tensor, add: Tensor, flip: Tensor) -> Tensor:
    """A random word for each index: two products with large odd numbers, with the upper half folded onto the lower
    between them (the core of the "lowbias32" hash).

    A full cipher for each of the many million elements of a step would cost more than the network; masks need
    no more than this, and look only at the upper bits. Element by element, so that it fuses into the layer around it
    whatever the memory format.
    """
    word = (index + add) * 0x7FEB352D
    return (word ^ ((word >> 16) & 0xFFFF) ^ flip) * -2073254261  # 0x846CA68B
