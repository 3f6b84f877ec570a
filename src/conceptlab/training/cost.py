"""What a recipe will cost to train, before anything is trained. What it costs to measure: `evaluation.cost`."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from conceptlab.denoisers import Denoiser
from conceptlab.denoisers import build as build_denoiser
from conceptlab.recipe import Recipe
from conceptlab.worlds import LabelledWorld, World
from conceptlab.worlds import build as build_world

# Rates that were reached with convolutional networks like ours, in FLOP/s: one CPU thread; one H200 with a cohort.
# They give an idea of the time, not a promise; progress shows the real rate.
RATE = {"cpu": 40e9, "cuda": 200e12, "mps": 1e12}

# Bytes a process takes before it trains anything: Python, torch and, on a GPU, its context and libraries.
_OVERHEAD = {"cpu": 400 * 2**20, "cuda": 800 * 2**20, "mps": 800 * 2**20}


def model_flops(recipe: Recipe) -> int:
    """FLOPs to evaluate the network once on one image."""
    world = world_of(recipe)
    part = json.dumps(dict(recipe.denoiser), sort_keys=True)
    return _network_flops(world.image_shape, world.condition_shape, part)


def training_flops(recipe: Recipe) -> int:
    """Forward and backward (three times the forward) over all steps."""
    return 3 * model_flops(recipe) * recipe.batch * recipe.steps


def member_bytes(recipe: Recipe) -> int:
    """Memory that one more member of a cohort takes on a GPU; measured, both papers' networks took 70 to 90 % of it.

    For each parameter the weights, two moments, the gradient and a copy in the network's precision, perhaps a moving
    average; what the layers give, kept for the way back, and as much again for gradients; and the data.
    """
    world = world_of(recipe)
    part = json.dumps(dict(recipe.denoiser), sort_keys=True)
    parameters, outputs = _network_size(world.image_shape, world.condition_shape, part)
    width = 2 if recipe.precision == "bfloat16" else 4
    each = 16 + width + (4 if recipe.ema else 0)
    depth = 1 if isinstance(world, LabelledWorld) else 4
    images = sum(recipe.train.values()) * math.prod(world.image_shape) * depth
    return parameters * each + 2 * outputs * recipe.batch * width + images


def training_memory(recipes: Sequence[Recipe], device: str) -> int:
    """About how many bytes a cohort takes on a kind of device, the process itself included."""
    return _OVERHEAD[device] + sum(map(member_bytes, recipes))


def world_of(recipe: Recipe) -> World:
    """The world of a recipe, built once for all recipes that share it."""
    return _world(json.dumps(dict(recipe.world), sort_keys=True))


@lru_cache(maxsize=1024)
def _world(part: str) -> World:
    return build_world(**json.loads(part))


@lru_cache(maxsize=1024)
def _network_flops(image_shape: tuple[int, ...], condition_shape: tuple[int, ...], part: str) -> int:
    """Sweeps differ in data far more often than in the network: it is counted once."""
    with FlopCounterMode(display=False) as counter:
        _on_paper(image_shape, condition_shape, part, lambda outputs: None)
    return counter.get_total_flops()


@lru_cache(maxsize=1024)
def _network_size(
    image_shape: tuple[int, ...], condition_shape: tuple[int, ...], part: str
) -> tuple[int, int]:
    """Parameters, and numbers that the layers give for one image."""
    sizes: list[int] = []
    denoiser = _on_paper(image_shape, condition_shape, part, lambda output: sizes.append(output.numel()))
    return sum(parameter.numel() for parameter in denoiser.parameters()), sum(sizes)


def _on_paper(
    image_shape: tuple[int, ...], condition_shape: tuple[int, ...], part: str, see: Callable[[Tensor], None]
) -> Denoiser:
    """Run a network on one image without memory or arithmetic, showing what each layer gives."""

    def hook(_layer: Any, _inputs: Any, output: Tensor) -> None:
        see(output)

    with torch.device("meta"), torch.no_grad():
        denoiser = build_denoiser(
            image_shape=image_shape, condition_shape=condition_shape, seed=0, **json.loads(part)
        ).eval()
        for layer in denoiser.modules():
            if not list(layer.children()):
                layer.register_forward_hook(hook)
        image, condition = torch.empty(1, *image_shape), torch.empty(1, *condition_shape)
        denoiser(image, torch.empty(1), condition)
    return denoiser
