"""Dropout whose mask is a function of a key, so that a member of a cohort drops what it drops alone.

Torch's dropout draws from a global generator: stacked models would share it, and a resumed run would go on
from another state. Here the mask follows from (key, layer number, element index) alone.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from conceptlab import random
from conceptlab.errors import InputError

# 16 random bits decide one element: half the work of a full word, and a rate of .1 is met to within 1e-5.
_LEVELS = 1 << 16


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
        kept = _levels(self.key, x.numel(), self.layer).reshape(x.shape) >= self.dropped_levels
        is_unset = (self.key == 0).all()
        scale = _LEVELS / (_LEVELS - self.dropped_levels)
        return torch.where(is_unset, x, torch.where(kept, x * scale, 0.0))


def dropout_key_names(model: nn.Module) -> list[str]:
    """The buffers to swap in `functional_call`: all take the same key, each layer draws from a stream of its own."""
    return [f"{name}.key" for name, module in model.named_modules() if isinstance(module, KeyedDropout)]


def set_dropout_key(model: nn.Module, key: Tensor) -> None:
    """Give every dropout layer of a model the key of the coming step."""
    for module in model.modules():
        if isinstance(module, KeyedDropout):
            module.key = key.to(module.key.device)


def _levels(key: Tensor, n: int, layer: int) -> Tensor:
    """`n` numbers from 0 to 65535, two from each random word."""
    words = random.bits(key, (n + 1) // 2, stream=layer)
    return torch.stack((words & 0xFFFF, (words >> 16) & 0xFFFF), dim=-1).flatten(-2)[..., :n]
