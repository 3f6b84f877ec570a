"""The networks, plain `nn.Module`s with one contract: see `Denoiser`."""

from __future__ import annotations

from typing import Any

import torch

from conceptlab.denoisers.base import Denoiser, Embedding
from conceptlab.denoisers.dropout import KeyedDropout, dropout_key_names, set_dropout_key
from conceptlab.denoisers.film import Film
from conceptlab.registry import Registry, choose

__all__ = [
    "Denoiser",
    "Embedding",
    "Film",
    "KeyedDropout",
    "build",
    "dropout_key_names",
    "names",
    "register",
    "set_dropout_key",
]

_DENOISERS: Registry[Denoiser] = Registry("denoiser")
register = _DENOISERS.register
names = _DENOISERS.names

register("film")(Film)


def build(
    name: str,
    image_shape: tuple[int, ...],
    condition_shape: tuple[int, ...],
    *,
    seed: int,
    embedding: str = "trained",
    **settings: Any,
) -> Denoiser:
    """A denoiser by name with initial weights that depend on the seed alone; torch's own generator is left
    as it was. `embedding="frozen"` keeps the condition embedding at its initial weights."""
    choose("embedding", embedding, ("trained", "frozen"))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        denoiser = _DENOISERS.make(name, tuple(image_shape), tuple(condition_shape), **settings)
    if embedding == "frozen":
        denoiser.freeze_embedding()
    return denoiser
