"""The training images of a cohort: every data set once, however many members share it.

Images that were rendered lie on the cohort's device. Those of a `LabelledWorld` stay where they are, memory-mapped in
8 bits, and only the rows of a batch are read; on another device than the CPU they move there if there is room, and
else are brought over step by step (`streaming.py`).
"""

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
from conceptlab.worlds import LabelledWorld, Samples, World
from conceptlab.worlds import build as build_world


@dataclass(frozen=True)
class TrainingData:
    """All data sets one after another; member e draws row i with probability growing along `reach[e]`."""

    images: Tensor  # in [0, 1], or 8 bits
    conditions: Tensor
    start: Tensor  # (E,) where each member's images begin
    reach: Tensor  # (E, N) cumulative probabilities of a member's images; 1 beyond its last
    rows: Tensor | None = None  # which of `images` each is, where `images` holds others too

    @classmethod
    def of(cls, recipes: Sequence[Recipe], device: torch.device) -> TrainingData:
        """Everything on the device, except images that are mapped and do not fit there."""
        whole = _stored(recipes)
        sets: dict[str, Samples] = {}
        keys = [_key(recipe) for recipe in recipes]
        for recipe, key in zip(recipes, keys):
            if key not in sets:
                sets[key] = training_set(recipe, pixels=whole is None)
        starts, total = {}, 0
        for key, samples in sets.items():
            starts[key] = total
            total += len(samples.labels)
        longest = max(len(samples.labels) for samples in sets.values())
        if whole is None:
            images, rows = torch.cat([samples.images for samples in sets.values()]).to(device), None
        else:
            rows = torch.cat([samples.factors["row"] for samples in sets.values()])
            images = whole
            if device.type != "cpu" and len(rows) * whole[0].numel() <= room(device):
                images, rows = whole[rows].to(device), None
        place = device if rows is None else torch.device("cpu")
        return cls(
            images,
            torch.cat([samples.conditions for samples in sets.values()]).to(place),
            torch.tensor([starts[key] for key in keys], device=place),
            torch.stack([_reach(r, sets[key], longest) for r, key in zip(recipes, keys)]).to(place),
            rows,
        )

    def batch(self, uniforms: Tensor) -> tuple[Tensor, Tensor]:
        """Images and conditions (E, B, …), drawn with replacement by numbers (E, B) in [0, 1)."""
        drawn = torch.searchsorted(self.reach, uniforms, right=True)
        index = self.start[:, None] + drawn
        return self.images[index if self.rows is None else self.rows[index]], self.conditions[index]


def room(device: torch.device) -> int:
    """Bytes that images may take on a device: what is left beside a network and its activations."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0] // 3
    return 2 * 1024**3


def _stored(recipes: Sequence[Recipe]) -> Tensor | None:
    """The mapped images all members draw from, where they share one labelled world."""
    parts = {json.dumps(dict(recipe.world), sort_keys=True) for recipe in recipes}
    world = build_world(**recipes[0].world)
    return world.stored() if len(parts) == 1 and isinstance(world, LabelledWorld) else None


def data_seed(recipe: Recipe) -> int:
    """Each seed has a data set of its own unless the recipe fixes one for all."""
    return recipe.seed if recipe.data_seed is None else recipe.data_seed


def check_data(recipe: Recipe, world: World) -> None:
    """Refuse what a recipe says of its training images and what its world cannot give, before any is made."""
    random.check_seed(recipe.seed)
    random.check_seed(data_seed(recipe))
    for masking in recipe.masking:
        if masking.variable not in world.condition_parts:
            raise unknown("part of the condition", masking.variable, world.condition_parts, where="masking")
        if not masking.classes:
            raise InputError(
                f"recipe: a masking of {masking.variable} names no class; name one or leave it out"
            )
        for given in masking.classes:
            world.space.parse(given)
    counts = Split(world.space, recipe.train).counts if recipe.shares else {}
    for given in recipe.shares:
        if not counts.get(world.space.parse(given)):
            raise InputError(f"recipe: shares names class {given}, which has no training images")


def training_set(recipe: Recipe, *, pixels: bool = True) -> Samples:
    """The images a recipe trains on, with the parts of their conditions that it hides. Of a labelled world the pixels
    may be left where they are."""
    world = build_world(**recipe.world)
    check_data(recipe, world)
    split = Split(world.space, recipe.train)
    if isinstance(world, LabelledWorld) and not pixels:
        samples = world.select(split, data_seed(recipe))
    else:
        samples = world.dataset(split, data_seed(recipe))
    conditions = samples.conditions.clone()
    for number, masking in enumerate(recipe.masking):
        classes = torch.tensor([world.space.parse(cls) for cls in masking.classes])
        chosen = (samples.labels[:, None] == classes).all(-1).any(-1)
        drawn = random.uniform(random.key(data_seed(recipe), f"masking {number}"), (len(samples.labels),))
        hidden = chosen & (drawn < masking.share)
        conditions[hidden, world.condition_parts[masking.variable]] = masking.value
    return replace(samples, conditions=conditions)


def _reach(recipe: Recipe, samples: Samples, longest: int) -> Tensor:
    """Cumulative probabilities of the images, padded to a common length with ones."""
    chances = torch.ones(len(samples.labels), dtype=torch.float64)
    if recipe.shares:
        space = build_world(**recipe.world).space
        for given, share in recipe.shares.items():
            own = (samples.labels == torch.tensor(space.parse(given))).all(-1)
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
