"""Dropout whose mask is a function of a key, so that a member of a cohort drops what it drops alone.

Torch's dropout draws from a global generator: stacked models would share it, and a resumed run would go on
from another state. Here the mask follows from (key, layer number, element index) alone.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from conceptlab import random
from conceptlab.errors import InputError

# 24 random bits decide one element: a rate of .1 is met to within 1e-7.
_LEVELS = 1 << 24


class KeyedDropout(nn.Module):
    """Sets a share `rate` of the elements to zero and scales the rest up to keep the mean.

    The training step sets the buffer `key` at every step, by `set_dropout_key` or by `functional_call` with
    the names from `dropout_key_names`. It is the identity in `eval` mode and while the key is zero (unset).
    """

    key: Tensor

    def __init__(self, rate: float, layer: int) -> None:
        super().__init__()
        if not 0 <= rate < 1:
            raise InputError(f"dropout is {rate}; it must be at least 0 and below 1")
        self.dropped_levels = round(rate * _LEVELS)
        self.layer = layer
        self.register_buffer("key", torch.zeros(2, dtype=torch.int32), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.dropped_levels == 0:
            return x
        return self.masked(x[None], self.key[None])[0]

    def masked(self, x: Tensor, keys: Tensor) -> Tensor:
        """Members' activations (E, B, …) with some elements dropped, by members' keys (E, 2)."""
        index = torch.arange(x[0].numel(), dtype=torch.int32, device=x.device).view(x.shape[1:])
        own = random.fold(keys, self.layer).view(-1, 2, *(1 for _ in x.shape[1:]))
        kept = (_mix(_mix(index + own[:, 0]) ^ own[:, 1]) & (_LEVELS - 1)) >= self.dropped_levels
        is_unset = (keys == 0).all(-1).view(-1, *(1 for _ in x.shape[1:]))
        scale = _LEVELS / (_LEVELS - self.dropped_levels)
        return torch.where(is_unset, x, torch.where(kept, x * scale, 0.0))


def dropout_key_names(model: nn.Module) -> list[str]:
    """The buffers to swap in `functional_call`: all take the same key, each layer folds in its number."""
    return [f"{name}.key" for name, module in model.named_modules() if isinstance(module, KeyedDropout)]


def set_dropout_key(model: nn.Module, key: Tensor) -> None:
    """Give every dropout layer of a model the key of the coming step."""
    for module in model.modules():
        if isinstance(module, KeyedDropout):
            module.key = key.to(module.key.device)


def _mix(word: Tensor) -> Tensor:
    """A bijection of 32-bit words in which every input bit moves every output bit (the "lowbias32" finaliser).

    A full cipher for each of the many million elements of a step would cost more than the network; masks need
    no more than this. Element by element, so that it fuses into the layer around it whatever the memory format.
    """
    word = (word ^ ((word >> 16) & 0xFFFF)) * 0x7FEB352D
    word = (word ^ ((word >> 15) & 0x1FFFF)) * -2073254261  # 0x846CA68B
    return word ^ ((word >> 16) & 0xFFFF)
