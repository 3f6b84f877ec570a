"""The networks, plain `nn.Module`s with one contract: see `Denoiser`."""

from __future__ import annotations

from typing import Any

import torch

from conceptlab.denoisers.base import ConvPlus, Denoiser, Embedding, NormGELU, load_weights
from conceptlab.denoisers.batch_norm import STATISTICS, BatchNorm
from conceptlab.denoisers.cells import Cells
from conceptlab.denoisers.contract import check_parts
from conceptlab.denoisers.dropout import KeyedDropout, dropout_keys, set_dropout_key
from conceptlab.denoisers.film import Film
from conceptlab.denoisers.grid_unet import GridUNet
from conceptlab.denoisers.okawa2023 import Okawa2023
from conceptlab.denoisers.park2024 import Park2024
from conceptlab.registry import Registry, choose

__all__ = [
    "STATISTICS",
    "BatchNorm",
    "Cells",
    "ConvPlus",
    "Denoiser",
    "Embedding",
    "Film",
    "GridUNet",
    "KeyedDropout",
    "NormGELU",
    "Okawa2023",
    "Park2024",
    "build",
    "dropout_keys",
    "is_plugged_in",
    "load_weights",
    "names",
    "register",
    "set_dropout_key",
]

_DENOISERS: Registry[Denoiser] = Registry("denoiser", Denoiser)
register = _DENOISERS.register
names = _DENOISERS.names
is_plugged_in = _DENOISERS.is_plugged_in

register("cells")(Cells)
register("film")(Film)
register("grid_unet")(GridUNet)
register("okawa2023")(Okawa2023)
register("park2024")(Park2024)


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
    check_parts(denoiser, name)
    if embedding == "frozen":
        denoiser.freeze_embedding()
    return denoiser
