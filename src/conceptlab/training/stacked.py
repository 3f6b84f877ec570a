"""Many models in one forward pass, from a plain `nn.Module`.

The images of E members are laid end to end in one batch (member 0's first). Whatever treats images one by one
(activations, attention, pooling, concatenation) then needs no change; only layers with weights must know which image
belongs to whom. `stack` replaces these by layers of the same names whose parameters have a leading member axis, so
that a cohort's weight matrix fits them as it is. One model is a cohort of one.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

from conceptlab.denoisers import BatchNorm, Denoiser, Embedding
from conceptlab.errors import InputError
from conceptlab.training.accelerate import compiled
from conceptlab.training.layers import STACKED, joined

LOG = logging.getLogger(__name__)


class CohortDenoiser(nn.Module):
    """A denoiser of cohort tensors: x (E, B, C, H, W), time (E, B), condition (E, B, …).

    Call it through `functional_call` with parameters (E, *shape).
    """

    def __init__(self, denoiser: Denoiser) -> None:
        super().__init__()
        self.image_shape = denoiser.image_shape
        # Not a submodule by this name: parameters keep the names they have in the plain network.
        self._network = [stack(denoiser)]
        _share(self, self._network[0])
        self._fast: Callable[..., Tensor] | None = None

    def train(self, mode: bool = True) -> CohortDenoiser:
        self._network[0].train(mode)  # its layers are this one's, but not what it is told itself
        return super().train(mode)

    def accelerate(self, device: torch.device) -> None:
        """Compile `denoise` for drawing on a GPU; training compiles its whole loss instead."""
        if device.type == "cuda":
            self._fast = compiled(self._denoise_with, device)

    def forward(self, x: Tensor, time: Tensor, condition: Tensor) -> Tensor:
        y = self._network[0](_laid_end_to_end(x), time.flatten(), condition.flatten(0, 1))
        return y.unflatten(0, x.shape[:2])

    def denoise(self, x: Tensor, time: Tensor, embedding: Embedding) -> Tensor:
        """The second half alone, from embeddings (E, B, …) that may have been edited or come from elsewhere."""
        if self._fast is not None:
            return self._fast(dict(self.named_parameters()), x, time, embedding)
        return self._denoise(x, time, embedding)

    def _denoise_with(self, state: dict[str, Tensor], *inputs: Any) -> Tensor:
        return functional_call(_Denoise(self), {f"cohort.{name}": p for name, p in state.items()}, inputs)

    def _denoise(self, x: Tensor, time: Tensor, embedding: Embedding) -> Tensor:
        given = {name: part.flatten(0, 1) for name, part in embedding.items()}
        y = self._network[0].denoise(_laid_end_to_end(x), time.flatten(), given)
        return y.unflatten(0, x.shape[:2])


class _Denoise(nn.Module):
    """`denoise` as a module of its own, so that a compiled function can take its weights as inputs."""

    def __init__(self, cohort: CohortDenoiser) -> None:
        super().__init__()
        self.cohort = cohort

    def forward(self, x: Tensor, time: Tensor, embedding: Embedding) -> Tensor:
        return self.cohort._denoise(x, time, embedding)


def _laid_end_to_end(x: Tensor) -> Tensor:
    # Channels last is what fast convolutions want, on a CPU and on a GPU (measured: 1.35 times on a CPU).
    return x.flatten(0, 1).contiguous(memory_format=torch.channels_last)


def stack(denoiser: Denoiser) -> Denoiser | OneByOne:
    """The network over one batch of all members' images."""
    _refuse_shared_weights(denoiser)
    stranger = _unknown_layer(denoiser)
    if stranger is not None:
        if any(isinstance(layer, BatchNorm) for layer in denoiser.modules()):
            raise InputError(f"layer {stranger} cannot be stacked, which a network with BatchNorm needs")
        LOG.warning("members run one after another: layer %s has weights that cannot be stacked", stranger)
        return OneByOne(denoiser)
    network = copy.deepcopy(denoiser)
    _replace(network)
    return network


def _unknown_layer(module: nn.Module) -> str | None:
    for name, layer in module.named_modules():
        own = list(layer.parameters(recurse=False))
        if own and (type(layer) not in STACKED or not STACKED[type(layer)].fits(layer) or _has_hooks(layer)):
            return f"'{name}' ({type(layer).__name__})" if name else f"{type(layer).__name__} itself"
    return None


def _has_hooks(layer: nn.Module) -> bool:
    """What a hook does to a layer, such as `nn.utils.weight_norm`, would be lost with the layer."""
    return bool(layer._forward_hooks or layer._forward_pre_hooks)


def _refuse_shared_weights(module: nn.Module) -> None:
    owners: dict[Tensor, str] = {}
    for name, layer in module.named_modules():  # a layer with two names comes once, and is no trouble
        for parameter in layer.parameters(recurse=False):
            if parameter in owners:
                raise InputError(
                    f"layers '{owners[parameter]}' and '{name}' share a weight, which members that train together "
                    "cannot; use one layer in both places"
                )
            owners[parameter] = name


def _replace(module: nn.Module, made: dict[nn.Module, nn.Module] | None = None) -> nn.Module:
    """Layers that are used under several names stay one."""
    made = {} if made is None else made
    for name, child in module._modules.items():
        if child is not None:
            if child not in made:
                kind = STACKED.get(type(child))
                made[child] = kind(child) if kind and kind.fits(child) else joined(_replace(child, made))
            module._modules[name] = made[child]
    return module


def _share(outer: nn.Module, inner: nn.Module) -> None:
    """Let a module hold what another holds under the same names: what `functional_call` or `to` changes in one is
    changed in the other."""
    outer._parameters, outer._buffers = inner._parameters, inner._buffers
    for name, child in inner.named_children():
        outer.add_module(name, child)


class OneByOne(nn.Module):
    """The plain network for each member in turn: for layers that cannot be stacked."""

    def __init__(self, denoiser: Denoiser) -> None:
        super().__init__()
        # Not submodules by these names: parameters keep the names they have in the plain network.
        self._plain = [denoiser, _SecondHalf(denoiser)]
        _share(self, denoiser)

    def train(self, mode: bool = True) -> OneByOne:
        self._plain[0].train(mode)
        return super().train(mode)

    def forward(self, x: Tensor, time: Tensor, condition: Tensor) -> Tensor:
        return self._in_turn(self._plain[0], "", (x, time, condition))

    def denoise(self, x: Tensor, time: Tensor, embedding: Embedding) -> Tensor:
        return self._in_turn(self._plain[1], "network.", (x, time, *embedding.values()), tuple(embedding))

    def _in_turn(self, module: nn.Module, prefix: str, batch: tuple[Tensor, ...], *names: Any) -> Tensor:
        held = dict(self.named_parameters())
        members = len(next(iter(held.values())))
        if self.training:  # else nothing drops out, and nobody gave the members keys
            held |= {name: buffer for name, buffer in self.named_buffers() if name.endswith(".key")}
        parts = zip(*(part.chunk(members) for part in batch))
        return torch.cat(
            [functional_call(module, _row(held, e, prefix), (*names, *own)) for e, own in enumerate(parts)]
        )


class _SecondHalf(nn.Module):
    """`denoise` as a module's `forward`, which is what `functional_call` calls."""

    def __init__(self, network: Denoiser) -> None:
        super().__init__()
        self.network = network

    def forward(self, names: tuple[str, ...], x: Tensor, time: Tensor, *embedding: Tensor) -> Tensor:
        return self.network.denoise(x, time, dict(zip(names, embedding)))


def _row(stacked: Mapping[str, Tensor], member: int, prefix: str) -> dict[str, Tensor]:
    return {prefix + name: tensor[member] for name, tensor in stacked.items()}
