"""The networks, plain `nn.Module`s with one contract: see `Denoiser`."""

from __future__ import annotations

from typing import Any

import torch

from conceptlab.denoisers.base import Denoiser, Embedding, NormGELU, load_weights
from conceptlab.denoisers.batch_norm import STATISTICS, BatchNorm
from conceptlab.denoisers.cells import Cells
from conceptlab.denoisers.dropout import KeyedDropout, dropout_keys, set_dropout_key
from conceptlab.denoisers.film import Film
from conceptlab.denoisers.grid_unet import GridUNet
from conceptlab.denoisers.okawa2023 import Okawa2023
from conceptlab.denoisers.park2024 import Park2024
from conceptlab.errors import InputError
from conceptlab.registry import Registry, choose

__all__ = [
    "STATISTICS",
    "BatchNorm",
    "Cells",
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
    "load_weights",
    "names",
    "register",
    "set_dropout_key",
]

_DENOISERS: Registry[Denoiser] = Registry("denoiser")
register = _DENOISERS.register
names = _DENOISERS.names

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
    _check_parts(denoiser, name)
    if embedding == "frozen":
        denoiser.freeze_embedding()
    return denoiser


def _check_parts(denoiser: object, name: str) -> None:
    """A network from elsewhere may be none of ours, leave out a half, which else shows deep inside training, or hold
    what no member can."""
    if not isinstance(denoiser, Denoiser):
        raise InputError(
            f"denoiser '{name}' is a {type(denoiser).__name__}; derive it from conceptlab.denoisers.Denoiser"
        )
    # No abstract class: its other metaclass would be one more thing for compilers of modules to know.
    if type(denoiser).denoise is Denoiser.denoise:
        raise InputError(f"denoiser '{name}' lacks denoise; define it in its class")
    if not isinstance(getattr(denoiser, "condition_embedding", None), torch.nn.Module):
        raise InputError(
            f"denoiser '{name}' has no condition_embedding; its __init__ must make the nn.Module that embeds conditions"
        )
    for path, layer in denoiser.named_modules():
        # A checkpoint holds parameters alone: the network that is read back would not be the one that was measured.
        if isinstance(layer, torch.nn.modules.batchnorm._BatchNorm):
            raise InputError(
                f"denoiser '{name}' has torch's {type(layer).__name__} ('{path}'), whose statistics no checkpoint "
                "keeps; use conceptlab.denoisers.BatchNorm(channels), or torch's GroupNorm"
            )
