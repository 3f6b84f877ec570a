"""What a recipe will cost, before anything is trained."""

from __future__ import annotations

from functools import lru_cache

import torch
from torch.utils.flop_counter import FlopCounterMode

from conceptlab.denoisers import build as build_denoiser
from conceptlab.recipe import Recipe
from conceptlab.training.cohort import cohort_key
from conceptlab.worlds import build as build_world

# Rates that were reached with convolutional networks like ours, in FLOP/s: one CPU thread; one H200 with a cohort.
# They give an idea of the time, not a promise; progress shows the real rate.
RATE = {"cpu": 40e9, "cuda": 100e12, "mps": 1e12}


def model_flops(recipe: Recipe) -> int:
    """FLOPs to evaluate the network once on one image."""
    return _flops(cohort_key(recipe), _Held(recipe))


def training_flops(recipe: Recipe) -> int:
    """Forward and backward (three times the forward) over all steps."""
    return 3 * model_flops(recipe) * recipe.batch * recipe.steps


def evaluation_flops(recipe: Recipe) -> int:
    """Drawing for the ordinary prompt of every class at every evaluation."""
    settings = recipe.evaluation
    classes = len(build_world(**recipe.world).space)
    images = classes * settings.images * len(recipe.evaluation_steps()) * (2 if settings.ema else 1)
    return model_flops(recipe) * images * settings.sampler_steps


class _Held:
    """A recipe that does not take part in a cache key."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe

    def __hash__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held)


@lru_cache(maxsize=256)
def _flops(key: str, held: _Held) -> int:
    recipe = held.recipe
    world = build_world(**recipe.world)
    with torch.device("meta"):
        denoiser = build_denoiser(
            image_shape=world.image_shape, condition_shape=world.condition_shape, seed=0, **recipe.denoiser
        ).eval()
        image, condition = torch.empty(1, *world.image_shape), torch.empty(1, *world.condition_shape)
        with FlopCounterMode(display=False) as counter, torch.no_grad():
            denoiser(image, torch.empty(1), condition)
    return counter.get_total_flops()
