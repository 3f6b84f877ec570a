"""Eliciting a capability from inside: edits of the condition embedding, guidance, and a patched embedding.

Families of ways to ask for a class, chosen and scored like prompts (see `prompts.py`), except that they need no
words: they act on the embedding, or on the prediction.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from conceptlab.concepts import Class
from conceptlab.denoisers import Embedding, load_weights
from conceptlab.errors import InputError
from conceptlab.evaluation.generate import draw_one
from conceptlab.evaluation.measurement import (
    Context,
    Guidance,
    Live,
    Measurement,
    Prompt,
    Row,
    class_prompt,
    register,
    sights,
)
from conceptlab.evaluation.prompts import Family, right

Embed = Callable[[Tensor], Embedding]


@dataclass(frozen=True)
class Direction:
    """A concept's direction in the embedding: from a class to the same class with one variable altered."""

    start: Tensor
    end: Tensor

    def of(self, embed: Embed) -> tuple[Embedding, Embedding]:
        """Where it starts, and the way."""
        start, end = embed(self.start[None]), embed(self.end[None])
        return start, {name: end[name] - start[name] for name in start}


@dataclass(frozen=True)
class Scaled:
    """A linear latent intervention: the component of the embedding along each direction, scaled.

    e ← e + (factor - 1) ⟨e - e₀, u⟩ u with u = (e₁ - e₀)/‖e₁ - e₀‖, in every named embedding by itself.
    """

    terms: tuple[tuple[Direction, float], ...]

    def __call__(self, embed: Embed, condition: Tensor) -> Embedding:
        edited = embed(condition)
        for direction, factor in self.terms:
            start, way = direction.of(embed)
            for name in edited:
                unit = way[name] / way[name].norm().clamp(min=1e-12)
                along = ((edited[name] - start[name]) * unit).sum()
                edited[name] = edited[name] + (factor - 1) * along * unit
        return edited


@dataclass(frozen=True)
class Composed:
    """Arithmetic with embeddings: e = e₀ + Σ factor · (e_v - e₀), never asking for the class itself."""

    terms: tuple[tuple[Direction, float], ...]

    def __call__(self, embed: Embed, condition: Tensor) -> Embedding:
        start, _ = self.terms[0][0].of(embed)
        ways = [(direction.of(embed)[1], factor) for direction, factor in self.terms]
        return {name: start[name] + sum(factor * way[name] for way, factor in ways) for name in start}


@register("latent")
class Latent(Family):
    """Linear interventions along the concepts in which a class differs from the training class furthest from it.

    `factors` for each concept in turn and for all together, and the sum of the concepts' own directions.
    """

    family = "latent"

    def __init__(
        self, factors: Sequence[float] = (2.0, 4.0), classes: Sequence[str] = (), images: int = 32
    ) -> None:
        super().__init__(classes, images)
        self.factors = tuple(factors)

    def candidates(self, context: Context, cls: Class) -> list[Prompt]:
        directions = _directions(context, cls)
        if not directions:  # the only class of the training set: there is none that it could be told from
            return []
        condition, stream = context.world.condition(cls), context.world.space.code(cls)
        edits: dict[str, Scaled | Composed] = {}
        for factor in self.factors:
            for name, direction in directions.items():
                edits[f"{name} × {factor:g}"] = Scaled(((direction, factor),))
            edits[f"all × {factor:g}"] = Scaled(tuple((d, factor) for d in directions.values()))
        for factor in (1.0, *self.factors):
            edits[f"sum × {factor:g}"] = Composed(tuple((d, factor) for d in directions.values()))
        return [
            Prompt(self.name(context, cls, text), condition, self.images, stream, edit)
            for text, edit in edits.items()
        ]


@register("guidance")
class Guided(Family):
    """Guidance with several weights: away from the empty condition where training dropped conditions, otherwise
    away from the training class nearest to the one that is asked for, one variable at a time."""

    family = "guidance"

    def __init__(
        self, weights: Sequence[float] = (1.0, 3.0), classes: Sequence[str] = (), images: int = 32
    ) -> None:
        super().__init__(classes, images)
        if not weights:
            raise InputError("measurement 'guidance' needs at least one of weights")
        self.weights = tuple(weights)

    def candidates(self, context: Context, cls: Class) -> list[Prompt]:
        world = context.world
        condition, stream = world.condition(cls), world.space.code(cls)
        if context.recipe.condition_dropout > 0:
            against = {"none": torch.zeros_like(condition)}
        else:
            against = {world.space.code(other): world.condition(other) for other in _nearest(context, cls)}
        return [
            Prompt(
                self.name(context, cls, f"away from {name}, weight {weight:g}"),
                condition,
                self.images,
                stream,
                guidance=Guidance(weight, other),
            )
            for name, other in against.items()
            for weight in self.weights
        ]


class _Plainly(Family):
    """The ordinary prompt of a class, and no other."""

    family = "patch"


@register("patch")
class Patch(Measurement):
    """Earlier networks with the last embedding: what the rest of the network could do already, were it asked well.

    At the last evaluation every kept checkpoint (the recipe's `keep`) is given the final `condition_embedding` and
    draws the ordinary prompt of each class. Rows carry the step of the checkpoint they belong to.
    """

    def __init__(self, classes: Sequence[str] = (), images: int = 32) -> None:
        self.family = _Plainly(classes, images)

    def own_passes(self, context: Context) -> int:
        recipe, settings = context.recipe, context.recipe.evaluation
        earlier = sum(step < recipe.steps for step in set(recipe.keep))
        images = len(self.family.targets(context)) * self.family.images
        return len(settings.weights) * earlier * images * settings.sampler_steps

    def rows(self, live: Live) -> Iterable[Row]:
        if live.step != live.context.recipe.steps:
            return
        # A run that was killed may have left a checkpoint of this very step, which others do not have.
        earlier = {step: weights for step, weights in live.kept().items() if step < live.step}
        for step, weights in earlier.items():
            yield from patched_rows(live, step, weights, self.family)


def patched_rows(live: Live, step: int, weights: Mapping[str, Tensor], family: Family) -> Iterable[Row]:
    """What the checkpoint of an earlier step draws with the live embedding."""
    context = live.context
    classes = family.targets(context)
    prompts = [class_prompt(context, cls, family.images) for cls in classes]
    with _replaced(live, weights):
        drawn = draw_one(live.denoiser, live.process, context.recipe, prompts)
    ((_, agreed, _),) = sights([context], [drawn])
    for cls, prompt in zip(classes, prompts):
        accuracy = float(right(context, agreed[prompt.name], cls).mean())
        yield Row(context.world.space.code(cls), "patch", "agreed_capability", accuracy, step)


@contextlib.contextmanager
def _replaced(live: Live, weights: Mapping[str, Tensor]) -> Iterator[None]:
    """All of the live model but its condition embedding, for a while, from a checkpoint."""
    parts = {"denoiser": live.denoiser, "process": live.process}
    own = {name: {k: v.clone() for k, v in part.state_dict().items()} for name, part in parts.items()}
    for name, part in parts.items():
        prefix = f"{live.weights}.{name}."
        earlier = {k.removeprefix(prefix): v for k, v in weights.items() if k.startswith(prefix)}
        kept = {k: v for k, v in own[name].items() if k.startswith("condition_embedding.")}
        load_weights(part, {**earlier, **kept})
    try:
        yield
    finally:
        for name, part in parts.items():
            part.load_state_dict(own[name])


def _nearest(context: Context, cls: Class) -> list[Class]:
    """The training classes at the smallest distance, the class itself aside: there is no way from it to itself."""
    space, train = context.world.space, [seen for seen in context.split.train if seen != cls]
    least = min((space.distance(cls, seen) for seen in train), default=0)
    return [seen for seen in train if space.distance(cls, seen) == least]


def _directions(context: Context, cls: Class) -> dict[str, Direction]:
    """For each variable in which a class differs from the training class furthest from it, the way there from that
    training class by altering this variable alone."""
    world, space = context.world, context.world.space
    base = max(context.split.train, key=lambda seen: (space.distance(cls, seen), seen))
    found = {}
    for place, name in enumerate(space.names):
        if base[place] != cls[place] and name in world.condition_parts:
            altered = (*base[:place], cls[place], *base[place + 1 :])
            found[name] = Direction(world.condition(base), world.condition(altered))
    return found
