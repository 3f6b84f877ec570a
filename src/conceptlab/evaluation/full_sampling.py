"""Is drawing in few steps good enough? The measurement that draws with all of them, at a few evaluations.

Sampling with every step of a process of 500 at every evaluation would cost ten times the training, so evaluations draw
with about 50. What that changes is measured here instead of assumed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import torch

from conceptlab import measures
from conceptlab.diffusion import Discrete, Process
from conceptlab.diffusion import build as build_process
from conceptlab.errors import InputError
from conceptlab.evaluation.generate import draw_one
from conceptlab.evaluation.measurement import (
    Context,
    Live,
    Measurement,
    Prompt,
    Row,
    class_prompt,
    read,
    register,
)
from conceptlab.recipe import Recipe


@register("full_sampling")
class FullSampling(Measurement):
    """Rows for every class at `evaluations` of a recipe's evaluations, evenly spread among them, the last included:

    | measure | variable | value |
    |---|---|---|
    | `full_accuracy` | | share of fully sampled images with every variable right |
    | `full_accuracy` | name | share with this variable right |
    | `full_difference` | | `full_accuracy` - `accuracy` of the ordinary drawing |

    Fully sampled: ancestral sampling in as many steps as a discrete process has, and in `steps` in continuous time. The
    first noise of an image is that of the ordinary drawing; `images` are drawn for each class.
    """

    def __init__(self, images: int = 50, evaluations: int = 3, steps: int = 500) -> None:
        for name, value in (("images", images), ("evaluations", evaluations), ("steps", steps)):
            if value < 1:
                raise InputError(f"measurement 'full_sampling': {name} is {value}; it must be at least 1")
        self.images, self.evaluations, self.steps = images, evaluations, steps

    def prompts(self, context: Context, images: int) -> list[Prompt]:
        """The ordinary drawing, to compare with; drawings with one name are made once."""
        return [class_prompt(context, cls, images) for cls in context.world.space]

    def at(self, recipe: Recipe) -> tuple[int, ...]:
        """The steps of training at which everything is drawn fully."""
        steps = recipe.evaluation_steps()
        count = min(self.evaluations, len(steps))
        return tuple(steps[round((i + 1) * len(steps) / count) - 1] for i in range(count))

    def own_passes(self, context: Context) -> int:
        steps = self._sampling_steps(build_process(**context.recipe.process))
        drawings = len(self.at(context.recipe)) * len(context.recipe.evaluation.weights)
        return drawings * len(context.world.space) * self.images * steps

    def rows(self, live: Live) -> Iterable[Row]:
        recipe = live.context.recipe
        if live.step not in self.at(recipe):
            return
        space = live.context.world.space
        seen = self._fully_drawn(live)
        for cls in space:
            code, prompt = space.code(cls), f"class {space.code(cls)}"
            full = measures.joint_accuracy(space, seen[prompt], cls)
            ordinary = measures.joint_accuracy(space, live.read[prompt], cls)
            yield Row(code, "", "full_accuracy", full)
            yield Row(code, "", "full_difference", full - ordinary)
            for name, value in measures.variable_accuracies(space, seen[prompt], cls).items():
                yield Row(code, name, "full_accuracy", value)

    def _fully_drawn(self, live: Live) -> dict[str, measures.Probabilities]:
        """Member by member, not compiled: with hundreds of images at once the GPU is busy anyway."""
        context, process = live.context, live.process
        steps = self._sampling_steps(process)
        evaluation = replace(context.recipe.evaluation, sampler="ancestral", sampler_steps=steps)
        prompts = [class_prompt(context, cls, self.images) for cls in context.world.space]
        # In the precision of the ordinary drawing, which is what it is compared with.
        exact = context.recipe.precision == "float32"
        drawn = draw_one(
            live.denoiser,
            process,
            replace(context.recipe, evaluation=evaluation),
            prompts,
            dtype=torch.float32 if exact else torch.bfloat16,
        )
        return read(context.judge, drawn)

    def _sampling_steps(self, process: Process) -> int:
        return process.steps if isinstance(process, Discrete) else self.steps
