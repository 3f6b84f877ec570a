"""What a recipe will cost, before anything is trained."""

from __future__ import annotations

import json
from functools import lru_cache

import torch
from torch.utils.flop_counter import FlopCounterMode

from conceptlab.denoisers import build as build_denoiser
from conceptlab.recipe import Recipe
from conceptlab.worlds import World
from conceptlab.worlds import build as build_world

# Rates that were reached with convolutional networks like ours, in FLOP/s: one CPU thread; one H200 with a cohort.
# They give an idea of the time, not a promise; progress shows the real rate.
RATE = {"cpu": 40e9, "cuda": 100e12, "mps": 1e12}


def model_flops(recipe: Recipe) -> int:
    """FLOPs to evaluate the network once on one image."""
    world = _world(json.dumps(dict(recipe.world), sort_keys=True))
    part = json.dumps(dict(recipe.denoiser), sort_keys=True)
    return _network_flops(world.image_shape, world.condition_shape, part)


def training_flops(recipe: Recipe) -> int:
    """Forward and backward (three times the forward) over all steps."""
    return 3 * model_flops(recipe) * recipe.batch * recipe.steps


def evaluation_flops(recipe: Recipe) -> int:
    """Drawing for the ordinary prompt of every class at every evaluation; other prompts come on top."""
    settings = recipe.evaluation
    classes = len(_world(json.dumps(dict(recipe.world), sort_keys=True)).space)
    images = classes * settings.images * len(recipe.evaluation_steps()) * (2 if settings.ema else 1)
    return model_flops(recipe) * images * settings.sampler_steps


@lru_cache(maxsize=1024)
def _world(part: str) -> World:
    return build_world(**json.loads(part))


@lru_cache(maxsize=1024)
def _network_flops(image_shape: tuple[int, ...], condition_shape: tuple[int, ...], part: str) -> int:
    """Sweeps differ in data far more often than in the network: it is counted once."""
    with torch.device("meta"):
        denoiser = build_denoiser(
            image_shape=image_shape, condition_shape=condition_shape, seed=0, **json.loads(part)
        ).eval()
        image, condition = torch.empty(1, *image_shape), torch.empty(1, *condition_shape)
        with FlopCounterMode(display=False) as counter, torch.no_grad():
            denoiser(image, torch.empty(1), condition)
    return counter.get_total_flops()
