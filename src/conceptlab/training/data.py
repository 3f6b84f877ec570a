"""The training images of a cohort, on its device: every data set once, however many members share it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from conceptlab import random
from conceptlab.concepts import Split
from conceptlab.errors import InputError, unknown
from conceptlab.recipe import Recipe
from conceptlab.worlds import Samples
from conceptlab.worlds import build as build_world


@dataclass(frozen=True)
class TrainingData:
    """All data sets one after another; member e draws row i with probability growing along `reach[e]`."""

    images: Tensor
    conditions: Tensor
    start: Tensor  # (E,) where each member's images begin
    reach: Tensor  # (E, N) cumulative probabilities of a member's images; 1 beyond its last

    @classmethod
    def of(cls, recipes: Sequence[Recipe], device: torch.device) -> TrainingData:
        sets: dict[str, Samples] = {}
        keys = [_key(recipe) for recipe in recipes]
        for recipe, key in zip(recipes, keys):
            if key not in sets:
                sets[key] = training_set(recipe)
        starts, total = {}, 0
        for key, samples in sets.items():
            starts[key] = total
            total += len(samples)
        longest = max(len(samples) for samples in sets.values())
        return cls(
            torch.cat([samples.images for samples in sets.values()]).to(device),
            torch.cat([samples.conditions for samples in sets.values()]).to(device),
            torch.tensor([starts[key] for key in keys], device=device),
            torch.stack([_reach(r, sets[key], longest) for r, key in zip(recipes, keys)]).to(device),
        )

    def batch(self, keys: Tensor, size: int) -> tuple[Tensor, Tensor]:
        """Images and conditions (E, B, …), drawn with replacement: keys (E, 2)."""
        rows = torch.searchsorted(self.reach, random.uniform(keys, (size,)), right=True)
        index = self.start[:, None] + rows
        return self.images[index], self.conditions[index]


def data_seed(recipe: Recipe) -> int:
    """Each seed has a data set of its own unless the recipe fixes one for all."""
    return recipe.seed if recipe.data_seed is None else recipe.data_seed


def training_set(recipe: Recipe) -> Samples:
    """The images a recipe trains on, with the parts of their conditions that it hides."""
    world = build_world(**recipe.world)
    samples = world.dataset(Split(world.space, recipe.train), data_seed(recipe))
    conditions = samples.conditions.clone()
    for number, masking in enumerate(recipe.masking):
        part = world.condition_parts.get(masking.variable)
        if part is None:
            raise unknown("part of the condition", masking.variable, world.condition_parts, where="masking")
        classes = torch.tensor([world.space.parse(cls) for cls in masking.classes])
        chosen = (samples.labels[:, None] == classes).all(-1).any(-1)
        drawn = random.uniform(random.key(data_seed(recipe), f"masking {number}"), (len(samples),))
        hidden = chosen & (drawn < masking.share)
        conditions[hidden, part] = masking.value
    return replace(samples, conditions=conditions)


def _reach(recipe: Recipe, samples: Samples, longest: int) -> Tensor:
    """Cumulative probabilities of the images, padded to a common length with ones."""
    chances = torch.ones(len(samples), dtype=torch.float64)
    if recipe.shares:
        space = build_world(**recipe.world).space
        for given, share in recipe.shares.items():
            own = (samples.labels == torch.tensor(space.parse(given))).all(-1)
            if not own.any():
                raise InputError(f"recipe: shares names class {given}, which has no training images")
            chances[own] = share / own.sum()
        named = {space.parse(given) for given in recipe.shares}
        for cls in {tuple(row) for row in samples.labels.unique(dim=0).tolist()} - named:
            chances[(samples.labels == torch.tensor(cls)).all(-1)] = 0.0
    reach = (chances.cumsum(0) / chances.sum()).float()
    # Rounding must not leave a gap at the end; beyond it nothing can be drawn.
    last = int(chances.nonzero()[-1])
    reach[last:] = 1.0
    return torch.nn.functional.pad(reach, (0, longest - len(reach)), value=1.0)


def _key(recipe: Recipe) -> str:
    masking = [[m.variable, list(m.classes), m.share, m.value] for m in recipe.masking]
    return json.dumps([dict(recipe.world), dict(recipe.train), data_seed(recipe), masking], sort_keys=True)
