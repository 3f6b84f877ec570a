"""What a network from elsewhere must do to be a member of a cohort: no look at its layers tells, so it is tried out.

A member is its parameters. What else a network holds is neither its own in a cohort nor in a checkpoint, and must
therefore be the same for every seed and stay as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.func import functional_call

from conceptlab import random
from conceptlab.denoisers import Denoiser, load_weights
from conceptlab.errors import InputError, first_line
from conceptlab.training.stacked import CohortDenoiser
from conceptlab.training.weights import Layout

# Rounding may make so much of the largest number that a network puts out.
ROUNDING = 1e-3

Batch = tuple[Tensor, Tensor, Tensor]


def check_own(make: Callable[[int], Denoiser], name: str, conditions: Tensor) -> None:
    """Refuse a network that cannot be a member. `make` builds it from a seed; `conditions` (2, …) are two of those that
    it will see."""
    first, again, other = make(0), make(0), make(1)
    if not _have_one_beginning(first, again):
        raise InputError(
            f"denoiser '{name}' begins with other weights each time it is built, though its seed is the same; draw "
            "them from torch's generator"
        )
    noise = random.normal(random.key(0, "images to try"), (2, *first.image_shape))
    batch = noise, torch.tensor([0.25, 0.75]), conditions
    for network in (first, other):
        _fill(network)
    with torch.no_grad():
        _check_memory(first.train(), name, batch)
        _check_inputs(first.eval(), name, batch)
        alone = [_one_by_one(network.eval(), batch) for network in (first, other)]
        if not _is_close(first(*_copied(batch)), alone[0]):
            raise InputError(
                f"denoiser '{name}' makes of an image what the others in its batch decide, and these may be another "
                "member's; let it treat images one by one, e.g. without means over the batch"
            )
        load_weights(again.eval(), dict(other.named_parameters()))
        if not _is_close(_one_by_one(again, batch), alone[1]):
            raise InputError(
                f"denoiser '{name}' holds random numbers that are no parameters, such as a buffer of them, which "
                "members share; make them nn.Parameter(…, requires_grad=False), or the same for every seed"
            )
        if not _is_close(_together([first, other], name, batch), torch.stack(alone)):
            raise InputError(
                f"denoiser '{name}' computes something else as a member of a cohort than by itself; use a layer's "
                "weights by calling that layer, and real weights"
            )
    _check_gradient(first, name, batch)


def _have_one_beginning(one: Denoiser, other: Denoiser) -> bool:
    weights = zip(one.parameters(), other.parameters(), strict=True)
    return all(torch.allclose(a, b, rtol=0, atol=0, equal_nan=True) for a, b in weights)


def _fill(network: Denoiser) -> None:
    """Weights that are zero at first would hide what lies before them."""
    with torch.no_grad():
        for number, (name, parameter) in enumerate(network.named_parameters()):
            if not parameter.any():
                inputs = parameter[0].numel() if parameter.ndim > 1 else 4
                drawn = random.normal(random.key(number, name), parameter.shape)
                parameter.copy_(drawn / math.sqrt(inputs))


def _check_memory(network: Denoiser, name: str, batch: Batch) -> None:
    before = {buffer: held.clone() for buffer, held in network.named_buffers()}
    network(*_copied(batch))
    for buffer, held in network.named_buffers():
        if not torch.allclose(held, before[buffer], rtol=0, atol=0, equal_nan=True):
            raise InputError(
                f"denoiser '{name}' changes its buffer '{buffer}' while it trains, which no checkpoint keeps; let it "
                "compute what it needs anew, e.g. InstanceNorm2d without track_running_stats, weight_norm instead of "
                "spectral_norm"
            )


def _check_inputs(network: Denoiser, name: str, batch: Batch) -> None:
    """Every step of a sampler reads the image and the embedding that the one before it was given."""
    x, time, condition = _copied(batch)
    embedding = network.embed(condition)
    given = {"image": x, "time": time, **embedding}
    before = {what: tensor._version for what, tensor in given.items()}
    network.denoise(x, time, embedding)
    for what, tensor in given.items():
        if tensor._version != before[what]:
            kind = "embedding " if what in embedding else ""
            raise InputError(
                f"denoiser '{name}' changes the {kind}'{what}' that denoise is given, and a sampler gives it again; "
                "compute without changing it in place, e.g. a = a + b instead of a += b"
            )


def _one_by_one(network: Denoiser, batch: Batch) -> Tensor:
    return torch.cat([network(*(part[i : i + 1].clone() for part in batch)) for i in range(len(batch[0]))])


def _together(members: list[Denoiser], name: str, batch: Batch) -> Tensor:
    """What members give for one batch, as a cohort computes it: (E, B, …)."""
    layout = Layout.of(members[0])
    weights = torch.stack([layout.row(dict(member.named_parameters())) for member in members])
    given = tuple(part.expand(len(members), *part.shape).clone() for part in batch)
    try:
        return functional_call(CohortDenoiser(members[0]).eval(), layout.views(weights), given)
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"denoiser '{name}' fails as a member of a cohort ({type(error).__name__}: {first_line(error)}); use a "
            "layer's weights by calling that layer, and real weights"
        ) from error


def _check_gradient(network: Denoiser, name: str, batch: Batch) -> None:
    """Training differentiates what a cohort computes, with weights that it hands in for that one call."""
    layout = Layout.of(network)
    weights = layout.views(layout.row(dict(network.named_parameters()))[None])
    trained = [
        weights[n].requires_grad_() for n, is_trained in zip(layout.names, layout.trained) if is_trained
    ]
    given = tuple(part[None] for part in _copied(batch))
    output = functional_call(CohortDenoiser(network).eval(), weights, given)
    if not output.requires_grad:
        raise InputError(
            f"denoiser '{name}' has no weight with a gradient, so nothing can be trained; compute without detach and "
            "no_grad, and leave requires_grad of some parameters as it is"
        )
    try:
        torch.autograd.grad(output.sum(), trained, allow_unused=True)
    except Exception as error:
        raise InputError(
            f"denoiser '{name}' fails when a cohort takes its gradient ({type(error).__name__}: {first_line(error)}); "
            "compute all of it in one pass, without torch.utils.checkpoint"
        ) from error


def _copied(batch: Batch) -> Batch:
    x, time, condition = batch
    return x.clone(), time.clone(), condition.clone()


def _is_close(found: Tensor, expected: Tensor) -> bool:
    allowed = ROUNDING * (1e-3 + expected.abs().nan_to_num().max().item())
    return torch.allclose(found, expected, rtol=0, atol=allowed, equal_nan=True)
