"""What a recipe will cost to train, before anything is trained. What it costs to measure: `evaluation.cost`."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, wraps
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from conceptlab.denoisers import build as build_denoiser
from conceptlab.diffusion import build as build_process
from conceptlab.errors import InputError
from conceptlab.recipe import Recipe
from conceptlab.training.threads import one_thread
from conceptlab.worlds import LabelledWorld, World
from conceptlab.worlds import build as build_world

Result = TypeVar("Result")

# Rates that were reached with convolutional networks like ours, in FLOP/s: one CPU thread; one H200 with a cohort.
# They give an idea of the time, not a promise; progress shows the real rate.
RATE = {"cpu": 40e9, "cuda": 200e12, "mps": 1e12}

# Bytes a process takes before it trains anything: Python, torch and, on a GPU, its context and libraries.
_OVERHEAD = {"cpu": 400 * 2**20, "cuda": 800 * 2**20, "mps": 800 * 2**20}


def once_for_all_seeds(function: Callable[[Recipe], Result]) -> Callable[[Recipe], Result]:
    """Remember what a function says of a recipe, whose seed must make no difference to it."""
    found: dict[str, Result] = {}

    @wraps(function)
    def remembering(recipe: Recipe) -> Result:
        if recipe.seedless not in found:
            found[recipe.seedless] = function(recipe)
        return found[recipe.seedless]

    return remembering


def model_flops(recipe: Recipe) -> int:
    """FLOPs to evaluate the network once on one image."""
    return network_of(recipe).flops


@once_for_all_seeds
def training_flops(recipe: Recipe) -> int:
    """Forward and backward (three times the forward) over all steps."""
    return 3 * model_flops(recipe) * recipe.batch * recipe.steps


@once_for_all_seeds
def member_bytes(recipe: Recipe) -> int:
    """Memory that one more member of a cohort takes on a GPU; measured, both papers' networks took 70 to 90 % of it.

    For each parameter the weights, two moments, the gradient and a copy in the network's precision, perhaps a moving
    average; what the layers give, kept for the way back, and as much again for gradients; and the data.
    """
    world, network = world_of(recipe), network_of(recipe)
    width = 2 if recipe.precision == "bfloat16" else 4
    each = 16 + width + (4 if recipe.ema else 0)
    depth = 1 if isinstance(world, LabelledWorld) else 4
    images = sum(recipe.train.values()) * math.prod(world.image_shape) * depth
    return network.parameters * each + 2 * network.outputs * recipe.batch * width + images


def training_memory(recipes: Sequence[Recipe], device: str) -> int:
    """About how many bytes a cohort takes on a kind of device, the process itself included."""
    return _OVERHEAD[device] + sum(map(member_bytes, recipes))


def world_of(recipe: Recipe) -> World:
    """The world of a recipe, built once for all recipes that share it."""
    return _world(json.dumps(dict(recipe.world), sort_keys=True))


@lru_cache(maxsize=1024)
def _world(part: str) -> World:
    return build_world(**json.loads(part))


class Network(NamedTuple):
    flops: int  # to evaluate it once on one image
    parameters: int
    outputs: int  # numbers that its layers give for one image
    shapes: tuple[tuple[str, tuple[int, ...]], ...]  # of its parameters, by their names


def network_of(recipe: Recipe) -> Network:
    """How large the network of a recipe is, built once for all recipes that share it."""
    world = world_of(recipe)
    part = json.dumps(dict(recipe.denoiser), sort_keys=True)
    return _measured(world.image_shape, world.condition_shape, part)


@once_for_all_seeds
def check_start(recipe: Recipe) -> None:
    """What a member starts from has all its parameters: found out before that is trained."""
    if recipe.before is None:
        return
    check_start(recipe.before)
    held = dict(_parameters(recipe.before))
    for name, shape in _parameters(recipe):
        if held.get(name) != shape:
            has = f"one of shape {held[name]}" if name in held else "none"
            raise InputError(
                f"start: a member cannot be fine-tuned from another network; its '{name}' has the shape {shape}, and "
                f"what it starts from has {has}; give both the same denoiser, process and world"
            )


def _parameters(recipe: Recipe) -> list[tuple[str, tuple[int, ...]]]:
    """Names and shapes of all that is trained, a learned noise schedule included."""
    process = build_process(**recipe.process).named_parameters()
    return [*network_of(recipe).shapes, *((f"process.{name}", tuple(p.shape)) for name, p in process)]


@lru_cache(maxsize=1024)
def _measured(image_shape: tuple[int, ...], condition_shape: tuple[int, ...], part: str) -> Network:
    """Let a network denoise one image. Sweeps differ in data far more often than in the network: it is done once."""
    outputs: list[int] = []

    def hook(_layer: Any, _inputs: Any, output: Any) -> None:
        outputs.append(_numbers(output))

    with one_thread(), _Undrawn():
        denoiser = build_denoiser(
            image_shape=image_shape, condition_shape=condition_shape, seed=0, **json.loads(part)
        ).eval()
    for layer in denoiser.modules():
        if not list(layer.children()):
            layer.register_forward_hook(hook)
    condition = torch.zeros(1, *condition_shape)
    with torch.no_grad(), one_thread():
        _check_embedding(denoiser.embed(condition), json.loads(part)["name"])
    outputs.clear()
    with torch.no_grad(), one_thread(), _FlopCounter() as counter:
        given = denoiser(torch.zeros(1, *image_shape), torch.zeros(1), condition)
    shape = given.shape if isinstance(given, Tensor) else None
    if shape != (1, *image_shape):  # the loss would spread what is too small over the image
        gives = type(given).__name__ if shape is None else tuple(shape[1:])
        raise InputError(
            f"denoiser '{json.loads(part)['name']}' gives {gives} for an image of {image_shape}; "
            "let denoise return as many channels, rows and columns"
        )
    if not given.is_floating_point():  # of complex numbers the loss would see the real parts alone
        raise InputError(
            f"denoiser '{json.loads(part)['name']}' gives numbers of {given.dtype}; let denoise return real ones, as "
            "its images are"
        )
    shapes = tuple((name, tuple(p.shape)) for name, p in denoiser.named_parameters())
    return Network(counter.flops, sum(math.prod(shape) for _, shape in shapes), sum(outputs), shapes)


def _check_embedding(embedding: object, name: str) -> None:
    """A network from elsewhere may give one tensor, which is no mistake until an evaluation takes it apart by name."""
    named = embedding.values() if isinstance(embedding, Mapping) else ()
    if not named or not all(isinstance(each, Tensor) and len(each) == 1 for each in named):
        raise InputError(
            f"denoiser '{name}': condition_embedding must give named tensors with a row for each image, such as "
            '{"shared": …}; let its forward return a dict of them'
        )


def _numbers(output: Any) -> int:
    """How many numbers a layer gives: one tensor, or several, named (as a condition embedding does) or not."""
    if isinstance(output, Tensor):
        return output.numel()
    several = (
        output.values() if isinstance(output, Mapping) else output if isinstance(output, tuple | list) else ()
    )
    return sum(map(_numbers, several))


class _Undrawn(TorchFunctionMode):
    """Weights are zero: to draw millions of random numbers takes longer than to denoise an image."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func in (nn.init.kaiming_uniform_, nn.init.normal_, nn.init.uniform_):
            return nn.init.zeros_((kwargs or {})["tensor"])
        return func(*args, **(kwargs or {}))


class _FlopCounter(TorchDispatchMode):
    """Counts with torch's own formulas. torch's `FlopCounterMode`, like whatever runs on its device without memory
    ("meta"), loads the whole compiler first, which takes longer than to plan ten thousand members."""

    flops = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        out = func(*args, **(kwargs or {}))
        if formula := flop_registry.get(func.overloadpacket):
            self.flops += formula(*args, **(kwargs or {}), out_val=out)
        return out
