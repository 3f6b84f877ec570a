"""What a network of one's own must be: checked when it is built, before anything is trained."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd
from torch.nn.parameter import is_lazy

from conceptlab.denoisers.base import Denoiser
from conceptlab.denoisers.dropout import KeyedDropout
from conceptlab.errors import InputError

_KEYED = "use conceptlab.denoisers.KeyedDropout(rate, number), with a number of its own for each"


def check_parts(denoiser: Denoiser, name: str) -> None:
    """A network from elsewhere may leave out a half, which else shows deep inside training, or hold what no member
    can."""
    # No abstract class: its other metaclass would be one more thing for compilers of modules to know.
    if type(denoiser).denoise is Denoiser.denoise:
        raise InputError(f"denoiser '{name}' lacks denoise; define it in its class")
    if not isinstance(getattr(denoiser, "condition_embedding", None), nn.Module):
        raise InputError(
            f"denoiser '{name}' has no condition_embedding; its __init__ must make the nn.Module that embeds conditions"
        )
    _check_numbers(denoiser, name)
    for path, layer in denoiser.named_modules():
        if fault := _size(layer) or _statistics(layer) or _chance(layer):
            raise InputError(f"denoiser '{name}' has torch's {type(layer).__name__} ('{path}'), {fault}")


def _check_numbers(denoiser: Denoiser, name: str) -> None:
    """Layers of one number would drop the same elements: a copied line is enough."""
    numbers: dict[int, str] = {}
    for path, layer in denoiser.named_modules():
        if isinstance(layer, KeyedDropout):
            other = numbers.setdefault(layer.layer, path)
            if other != path:
                raise InputError(
                    f"denoiser '{name}': KeyedDropout '{other}' and '{path}' have the number {layer.layer}, and would "
                    "drop the same elements; give each its own"
                )


def _size(layer: nn.Module) -> str:
    if any(is_lazy(parameter) for parameter in layer.parameters(recurse=False)):
        return "whose weights are not drawn before it sees an image, by no seed; use the layer that is told its size"
    return ""


def _statistics(layer: nn.Module) -> str:
    # A checkpoint holds parameters alone: the network that is read back would not be the one that was measured.
    if isinstance(layer, _BatchNorm):
        remedy = "use conceptlab.denoisers.BatchNorm(channels), or torch's GroupNorm"
        return f"whose statistics no checkpoint keeps; {remedy}"
    return ""


def _chance(layer: nn.Module) -> str:
    """Layers that draw from torch's generator, which members of a cohort share and no checkpoint keeps: a member would
    not be its solo run, nor a resumed run the one that was interrupted. Those that leave nothing to chance may stay."""
    remedy = ""
    if isinstance(layer, _DropoutNd) and layer.p > 0:
        remedy = _KEYED
    elif isinstance(layer, nn.MultiheadAttention | nn.RNNBase) and layer.dropout > 0:
        remedy = f"make it with dropout=0; beside it, {_KEYED}"
    elif isinstance(layer, nn.RReLU) and layer.lower < layer.upper:
        remedy = "use torch's LeakyReLU"
    elif isinstance(layer, nn.FractionalMaxPool2d | nn.FractionalMaxPool3d):
        remedy = "use torch's MaxPool2d or AdaptiveMaxPool2d"
    return remedy and f"which draws random numbers that no seed repeats; {remedy}"


def check_chance(denoiser: Denoiser, name: str) -> None:
    """The same for what a network from elsewhere calls as a function, such as `F.dropout`, which no look at its layers
    finds: two images are denoised, and torch's generator must be where it was."""
    images, conditions = (
        torch.zeros(2, *shape) for shape in (denoiser.image_shape, denoiser.condition_shape)
    )
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        before = torch.get_rng_state()
        denoiser.train()(images, torch.zeros(2), conditions)
        if not torch.equal(before, torch.get_rng_state()):
            raise InputError(
                f"denoiser '{name}' draws random numbers that no seed repeats while it computes, e.g. by F.dropout; "
                f"instead of that {_KEYED}"
            )
