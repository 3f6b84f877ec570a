"""Weight and gradient norms of a network's parts while it trains (park2024 Figs. 10–15)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.utils import get_total_norm

from conceptlab import random
from conceptlab.denoisers import Denoiser
from conceptlab.errors import InputError
from conceptlab.evaluation.measurement import Context, Live, Measurement, Row, register
from conceptlab.recipe import Recipe
from conceptlab.training import CohortDenoiser, Objective
from conceptlab.training.accelerate import captured
from conceptlab.training.data import training_set

_EMBEDDING = "condition_embedding."


@register("norms")
class Norms(Measurement):
    """Norms of weights (`weight_norm`) and of the objective's gradient (`gradient_norm`) over groups of parameters:

    | variable | which weights |
    |---|---|
    | a variable's name | what the first layers of the condition MLPs multiply that variable's entries with |
    | `embedding` | all of the condition embedding |
    | `convolutions` | the kernels of all convolutions |

    The gradient is that of the training objective, before clipping and without dropout, on one fixed batch of
    training images, noise and times: what differs between two steps is the network.
    """

    def __init__(self, batch: int = 64) -> None:
        if batch < 1:
            raise InputError(f"measurement 'norms': batch is {batch}; it must be at least 1")
        self.batch = batch
        # By member: rendering a batch anew would cost more than the norms.
        self._batches: dict[str, tuple[Tensor, ...]] = {}
        # By network, which all members of a cohort take turns in, and what its condition tells.
        self._norms: dict[tuple[Denoiser, str], Callable[..., Tensor]] = {}

    def own_passes(self, context: Context) -> int:
        recipe = context.recipe
        # Forward and, twice as long, back to the weights: as in training.
        each = 3 * fixed_size(recipe, self.batch)
        return each * len(recipe.evaluation_steps()) * len(recipe.evaluation.weights)

    def rows(self, live: Live) -> Iterable[Row]:
        recipe, parts = live.context.recipe, groups(live)
        if recipe.hash not in self._batches:
            device = next(live.denoiser.parameters()).device
            self._batches[recipe.hash] = tuple(part.to(device) for part in fixed_batch(recipe, self.batch))
        batch, key = self._batches[recipe.hash], (live.denoiser, str(live.context.world.condition_parts))
        if key not in self._norms:
            self._norms[key] = captured(norms(live, parts), batch[0].device)
        found = self._norms[key](*batch).tolist()  # one question to the device for all of them
        for name, (of_weights, of_gradient) in zip(parts, found):
            yield Row("", name, "weight_norm", of_weights)
            yield Row("", name, "gradient_norm", of_gradient)


Cut = Callable[[Tensor], Tensor]


def groups(live: Live) -> dict[str, dict[str, Cut]]:
    """Group → parameter names, each with the part of it that belongs to the group."""
    found: dict[str, dict[str, Cut]] = {}
    size = math.prod(live.denoiser.condition_shape)
    modules = dict(live.denoiser.named_modules())
    first = [n for n, m in modules.items() if isinstance(m, nn.Linear) and m.in_features == size]
    entering = [f"{name}.weight" for name in first if name.startswith(_EMBEDDING)]
    for variable, part in live.context.world.condition_parts.items():
        found[variable] = dict.fromkeys(entering, _columns(part))
    every = [name for name, _ in live.denoiser.named_parameters() if name.startswith(_EMBEDDING)]
    found["embedding"] = dict.fromkeys(every, _whole)
    convolutions = [n for n, m in modules.items() if isinstance(m, nn.Conv2d | nn.ConvTranspose2d)]
    found["convolutions"] = dict.fromkeys([f"{name}.weight" for name in convolutions], _whole)
    return {name: parts for name, parts in found.items() if parts}


def _columns(part: slice) -> Cut:
    return lambda weight: weight[:, part]


def _whole(weight: Tensor) -> Tensor:
    return weight


def norms(live: Live, parts: Mapping[str, Mapping[str, Cut]]) -> Callable[..., Tensor]:
    """The norms of a network's weights and of its gradient on a batch, (groups, 2).

    A function of the batch that reads the weights where they lie, whichever member of the cohort they are of: on a GPU
    it is recorded once. Stacking the network copies it, which takes longer than a gradient."""
    stacked = CohortDenoiser(live.denoiser)

    def measured(*batch: Tensor) -> Tensor:
        weights, gradients = dict(live.denoiser.named_parameters()), gradient(live, batch, stacked)
        found = [_norm(tensors, part) for part in parts.values() for tensors in (weights, gradients)]
        return torch.stack(found).unflatten(0, (-1, 2))

    return measured


def _norm(tensors: Mapping[str, Tensor], parts: Mapping[str, Cut]) -> Tensor:
    return get_total_norm([cut(tensors[name].detach()) for name, cut in parts.items()])


def fixed_batch(recipe: Recipe, size: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Images, conditions, noise and uniforms, each with a leading axis of one member; the first training images of
    every class."""
    samples = training_set(replace(recipe, train=_first_of_each(recipe, size), shares={}))
    key = random.key(recipe.seed, "norms")
    noise = random.normal(random.fold(key, 0), samples.images.shape)
    uniforms = random.uniform(random.fold(key, 1), (len(samples),))
    return samples.images[None], samples.conditions[None], noise[None], uniforms[None]


def fixed_size(recipe: Recipe, size: int) -> int:
    """How many images a `fixed_batch` has: classes may not divide it, or have fewer."""
    return sum(_first_of_each(recipe, size).values())


def _first_of_each(recipe: Recipe, size: int) -> dict[str, int]:
    each = -(-size // len(recipe.train))
    return {code: min(each, count) for code, count in recipe.train.items()}


def gradient(live: Live, batch: tuple[Tensor, ...], stacked: CohortDenoiser) -> dict[str, Tensor]:
    """The gradient of the member's objective for its denoiser's parameters, by name; `stacked` is its network as a
    cohort's, whatever weights it holds."""
    held = {f"denoiser.{n}": p.detach()[None] for n, p in live.denoiser.named_parameters()}
    held |= {f"process.{n}": p.detach()[None, None] for n, p in live.process.named_parameters()}
    objective = Objective(stacked, live.process, live.context.recipe).eval()
    with torch.enable_grad():
        leaves = {name: value.requires_grad_() for name, value in held.items()}
        loss = functional_call(objective, leaves, batch).sum()
        found = torch.autograd.grad(loss, list(leaves.values()), allow_unused=True)
    return {
        name.removeprefix("denoiser."): torch.zeros_like(leaves[name][0]) if part is None else part[0]
        for name, part in zip(leaves, found)
        if name.startswith("denoiser.")
    }
