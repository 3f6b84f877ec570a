"""What it will cost to measure a recipe's model: drawing for every prompt of every measurement, at every evaluation."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import cast

import numpy as np
from torch import Tensor

from conceptlab.concepts import Split
from conceptlab.errors import InputError
from conceptlab.evaluation.measurement import Context, Measurement, Prompt, build, once_each
from conceptlab.probes import Probe
from conceptlab.recipe import Recipe
from conceptlab.training.cost import model_flops, once_for_all_seeds, world_of
from conceptlab.worlds import World


@once_for_all_seeds
def evaluation_flops(recipe: Recipe) -> int:
    """FLOPs of all drawings for prompts, and of whatever else measurements say that they let the network see. What they
    compute from weights alone is not counted."""
    settings = recipe.evaluation
    evaluations = len(recipe.evaluation_steps())
    last = settings.final_images or settings.images
    drawn = (evaluations - 1) * drawn_images(recipe, settings.images) + drawn_images(recipe, last)
    passes = settings.sampler_steps * drawn * len(settings.weights) + _own_passes(recipe)
    return model_flops(recipe) * passes


def _own_passes(recipe: Recipe) -> int:
    context = _context(recipe, world_of(recipe))
    return sum(m.own_passes(context) for m in build(recipe.evaluation.measurements))


def drawn_images(recipe: Recipe, images: int) -> int:
    """Images drawn at one evaluation; one that is guided counts twice, as the network does."""
    world = world_of(recipe)
    # What is asked for depends on the classes and the parts of the condition, not on what they look like: a sweep
    # over looks or seeds is counted once.
    parts = [*recipe.evaluation.measurements, recipe.evaluation.probe]
    asked = json.dumps([dict(part) for part in parts], sort_keys=True)
    key = (
        world.space,
        world.condition_shape,
        tuple(recipe.train),
        recipe.condition_dropout > 0,
        recipe.evaluation.shown,
        asked,
        images,
    )
    if key not in _counted:
        _counted[key] = _count(recipe, world, images)
    return _counted[key]


_counted: dict[tuple[object, ...], int] = {}


def _count(recipe: Recipe, world: World, images: int) -> int:
    context = _context(recipe, world)
    measurements, prompts = _first_prompts(context, images)
    return sum(_weight(prompt) for prompt in [*prompts, *_second_round(measurements, context, prompts)])


def first_images(recipe: Recipe, images: int) -> int:
    """Images that are drawn together at one evaluation and held until they are read; what is drawn after a look at them
    is not counted."""
    context = _context(recipe, world_of(recipe))
    return sum(prompt.images for prompt in _first_prompts(context, images)[1])


def _first_prompts(context: Context, images: int) -> tuple[list[Measurement], list[Prompt]]:
    measurements = build(context.recipe.evaluation.measurements)
    for measurement in measurements:
        measurement.check(context)
    asked = [
        _checked(m.outlines(context, images), "prompts", name, context)
        for m, name in _named(measurements, context)
    ]
    return measurements, once_each(prompt for prompts in asked for prompt in prompts)


def _named(measurements: Sequence[Measurement], context: Context) -> Iterable[tuple[Measurement, str]]:
    parts = context.recipe.evaluation.measurements
    return zip(measurements, (part["name"] for part in parts), strict=True)


def _checked(given: object, method: str, name: str, context: Context) -> list[Prompt]:
    """What a method of a measurement asks for; a plug-in may forget to return it, or leave the list around it out."""
    if not isinstance(given, Iterable):
        raise _no_prompts(given, method, name)
    prompts = list(given)
    for prompt in prompts:
        if not isinstance(prompt, Prompt):
            raise _no_prompts(prompt, method, name, "a list with ")
        for field, given in (("name", prompt.name), ("stream", prompt.stream)):
            if not isinstance(given, str):
                raise InputError(f"measurement '{name}': a prompt's {field} is {given!r}; let it be a text")
        if not isinstance(prompt.images, Integral) or prompt.images < 1:
            raise InputError(
                f"measurement '{name}': prompt '{prompt.name}' asks for {prompt.images!r} images; ask for 1 or more"
            )
        shape = tuple(prompt.condition.shape) if isinstance(prompt.condition, Tensor) else None
        if shape != (needed := tuple(context.world.condition_shape)):
            found = f"a condition of shape {shape}" if shape is not None else "no tensor as its condition"
            raise InputError(
                f"measurement '{name}': prompt '{prompt.name}' has {found}; this world's conditions have the shape "
                f"{needed}: begin with context.world.condition"
            )
    return prompts


def _no_prompts(given: object, method: str, name: str, around: str = "") -> InputError:
    what = f"{around}{'None' if given is None else f'a {type(given).__name__}'}"
    return InputError(
        f"measurement '{name}': {method} gives {what}; let it return a list of conceptlab.evaluation.Prompt, an empty "
        "one if there is nothing to draw"
    )


def _context(recipe: Recipe, world: World) -> Context:
    # What is drawn does not depend on who judges it.
    return Context(recipe, world, Split(world.space, recipe.train), cast(Probe, None), None)


def _second_round(
    measurements: Sequence[Measurement], context: Context, prompts: Sequence[Prompt]
) -> list[Prompt]:
    """What is drawn after a look at the first drawings: as much, whatever is seen there."""
    space = context.world.space
    blank = {
        prompt.name: {
            # However many images there are, one number.
            v.name: np.broadcast_to(1 / len(v.values), (prompt.images, len(v.values)))
            for v in space.concepts
        }
        for prompt in prompts
    }
    asked = [
        _checked(m.refinements(context, blank), "refinements", name, context)
        for m, name in _named(measurements, context)
    ]
    return [prompt for prompts in asked for prompt in prompts]


def _weight(prompt: Prompt) -> int:
    return prompt.images * (1 if prompt.guidance is None else 2)
