"""The training images of a cohort, on its device: every data set once, however many members share it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from conceptlab import random
from conceptlab.concepts import Split
from conceptlab.recipe import Recipe
from conceptlab.worlds import Samples
from conceptlab.worlds import build as build_world


@dataclass(frozen=True)
class TrainingData:
    """All data sets one after another; member e draws from `size[e]` images starting at `start[e]`."""

    images: Tensor
    conditions: Tensor
    start: Tensor
    size: Tensor

    @classmethod
    def of(cls, recipes: Sequence[Recipe], device: torch.device) -> TrainingData:
        sets: dict[str, Samples] = {}
        keys = [
            json.dumps([r.world, dict(r.train), data_seed(r)], sort_keys=True, default=list) for r in recipes
        ]
        for recipe, key in zip(recipes, keys):
            if key not in sets:
                world = build_world(**recipe.world)
                sets[key] = world.dataset(Split(world.space, recipe.train), data_seed(recipe))
        starts, total = {}, 0
        for key, samples in sets.items():
            starts[key] = total
            total += len(samples)
        return cls(
            torch.cat([samples.images for samples in sets.values()]).to(device),
            torch.cat([samples.conditions for samples in sets.values()]).to(device),
            torch.tensor([starts[key] for key in keys], device=device),
            torch.tensor([len(sets[key]) for key in keys], device=device),
        )

    def batch(self, keys: Tensor, size: int) -> tuple[Tensor, Tensor]:
        """Images and conditions (E, B, …), drawn with replacement: keys (E, 2)."""
        index = self.start[:, None] + random.integers(keys, (size,), self.size)
        return self.images[index], self.conditions[index]


def data_seed(recipe: Recipe) -> int:
    """Each seed has a data set of its own unless the recipe fixes one for all."""
    return recipe.seed if recipe.data_seed is None else recipe.data_seed
