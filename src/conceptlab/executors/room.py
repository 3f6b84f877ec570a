"""What training a model takes of this machine's memory at the very least, compared with what there is.

Only what is certain is counted, so that nothing is refused that could work. Found out before anything is trained: the
system would end a process that takes too much without a word.
"""

from __future__ import annotations

import math
import os
import resource
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import torch

from conceptlab.errors import InputError, is_out_of_memory
from conceptlab.evaluation import first_images
from conceptlab.recipe import Recipe
from conceptlab.training.cost import network_of, world_of
from conceptlab.worlds import RenderedWorld

# Bytes of a recipe among many that differ in their seed alone, measured.
RECIPE_BYTES = 2000

_MEMINFO = Path("/proc/meminfo")
_CONTAINER = Path("/sys/fs/cgroup/memory.max")


class Need(NamedTuple):
    """Bytes that something takes, and the settings on which they depend."""

    bytes: int
    what: str
    settings: str


def free_bytes() -> float:
    """The memory that a process here can still get: what is free on the machine, within its limits."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    limits = [limit] if limit != resource.RLIM_INFINITY else []
    if _CONTAINER.exists() and (text := _CONTAINER.read_text().strip()).isdecimal():
        limits.append(int(text))
    return float(min([_unused(), *limits]))


def _unused() -> int:
    if not _MEMINFO.exists():
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    lines = (line.split() for line in _MEMINFO.read_text().splitlines())
    return sum(int(words[1]) * 1024 for words in lines if words[0] in ("MemAvailable:", "SwapFree:"))


def check_room(recipes: Iterable[Recipe], device: torch.device) -> None:
    """Refuse a model that cannot be trained on this machine, with the setting to lower."""
    free = free_bytes()
    for recipe in {recipe.seedless: recipe for recipe in recipes}.values():
        # Images first: to try a network on one that is too large takes as much.
        needs = _images(recipe, device)
        _refuse_more(needs, free)
        if device.type == "cpu":
            _refuse_more([*needs, *_network(recipe)], free)


def least_bytes(recipe: Recipe, device: torch.device) -> int:
    """What one model takes at the very least."""
    return sum(need.bytes for need in [*_images(recipe, device), *_network(recipe)])


def check_seeds(count: int, copies: int = 1) -> None:
    """Refuse a number of seeds of which not even the recipes, one or more for each, can be held in so many copies."""
    needed, free = count * copies * RECIPE_BYTES, free_bytes()
    if needed > free:
        raise InputError(
            f"--seeds {count}: the recipes alone need at least {in_gib(needed)} of memory, "
            f"and {in_gib(free)} are free; take fewer"
        )


def check_drawn(images: int, prompts: int, shape: Sequence[int]) -> None:
    """Refuse `--n` images for each prompt of which not even the pixels, in 4 bytes a number, can be held."""
    needed, free = 4 * images * prompts * math.prod(shape), free_bytes()
    if needed > free:
        many = f" for each of {prompts} prompts" if prompts > 1 else ""
        raise InputError(
            f"--n {images}: so many images{many} need at least {in_gib(needed)} of memory, "
            f"and {in_gib(free)} are free; take fewer"
        )


def _refuse_more(needs: list[Need], free: float) -> None:
    needed = sum(need.bytes for need in needs)
    if needed > free:
        most = max(needs)
        raise InputError(
            f"one model needs at least {in_gib(needed)} of memory, {in_gib(most.bytes)} of it for {most.what}, and "
            f"{in_gib(free)} are free; lower {most.settings}"
        )


def _images(recipe: Recipe, device: torch.device) -> list[Need]:
    """Images that are held at once, in 4 bytes a number. Labelled ones stay on disk, and a GPU has its own batch."""
    world, settings = world_of(recipe), recipe.evaluation
    each = 4 * math.prod(world.image_shape)
    count = sum(recipe.train.values()) if isinstance(world, RenderedWorld) else 0
    asked = {"evaluation.images": settings.images, "evaluation.final_images": settings.final_images or 0}
    if settings.final_images and len(recipe.evaluation_steps()) == 1:  # the only evaluation is the last
        del asked["evaluation.images"]
    name = max(asked, key=lambda name: asked[name])
    drawn = first_images(recipe, asked[name])
    size = " or world.resolution" if "resolution" in recipe.world else ""
    needs = [
        Need(count * each, f"{count} training images", f"train (images of each class){size}"),
        Need(drawn * each, f"the {drawn} images of an evaluation", f"{name}{size}"),
    ]
    if device.type == "cpu":
        needs.append(Need(recipe.batch * each, f"a batch of {recipe.batch} images", f"batch{size}"))
    return needs


def _network(recipe: Recipe) -> list[Need]:
    """Weights, gradient and two moments; and of what the layers give, kept for the way back, half, since some of it may
    be computed in place."""
    try:
        network = network_of(recipe)
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        raise InputError(
            f"the network does not fit into memory for a single image, {in_gib(free_bytes())} are free; "
            "lower the widths of the denoiser or the resolution"
        ) from None
    width = 2 if recipe.precision == "bfloat16" else 4
    kept = network.outputs * recipe.batch * width // 2
    return [
        Need(16 * network.parameters, f"{network.parameters:,} parameters", "the widths of the denoiser"),
        Need(kept, f"what the layers give for a batch of {recipe.batch} images", "batch"),
    ]


def in_gib(count: float) -> str:
    return f"{count / 2**30:,.1f} GiB"
