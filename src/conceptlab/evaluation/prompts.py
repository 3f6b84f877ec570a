"""Capability (park2024, App. B): can a model draw a class if it is asked in another way?

A family of prompts asks for the same class; the best of them is the model's capability. Every family chooses its
prompt on half of the images and scores it on the other half (`measures.capability`), so that a family of equal
prompts gains nothing. Rows for each class, `variable` naming the family:

| measure | variable | value |
|---|---|---|
| `prompt_capability` | family | held-out accuracy of the chosen prompt |
| `best_prompt` | family | the largest accuracy, as the paper takes it |
| `agreed_capability`, `agreed_best` | family | the same, of images that both probes read as the class |
| `winner` | family: prompt | `agreed_capability` once more, under the name of the prompt that won |

A prompt far from anything trained may make images unlike any that a probe has seen: where ways of asking are
compared, it is by what both probes agree on. Without a second probe the two are the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from conceptlab.concepts import Class
from conceptlab.errors import InputError, unknown
from conceptlab.evaluation.measurement import Context, Live, Measurement, Prompt, Row, register
from conceptlab.measures import Probabilities
from conceptlab.measures.accuracy import hits
from conceptlab.measures.capability import Best, best_on_half, best_prompt, chosen_on_half


class Family(Measurement):
    """Base class. A subclass has a `family` name and says by which `candidates` a class is asked for.

    `classes` are codes; by default all that were held out. `images` are drawn for each prompt.
    """

    family = ""

    def __init__(self, classes: Sequence[str] = (), images: int = 32) -> None:
        if images < 2:
            raise InputError(f"measurement '{self.family}': images is {images}; choosing and scoring need 2")
        self.classes, self.images = tuple(classes), images

    @property
    def scored(self) -> int:
        """On how many images a held-out accuracy rests: each half scores what the other one chose."""
        return self.images

    def candidates(self, context: Context, cls: Class) -> list[Prompt]:
        raise NotImplementedError

    def prompts(self, context: Context, images: int) -> list[Prompt]:
        return [p for cls in self.targets(context) for p in self.candidates(context, cls)]

    def targets(self, context: Context) -> list[Class]:
        space, split = context.world.space, context.split
        if self.classes:
            return [space.parse(code) for code in self.classes]
        return [cls for cls in space if split.distance(cls) > 0]

    def rows(self, live: Live) -> Iterable[Row]:
        for cls in self.targets(live.context):
            names = [prompt.name for prompt in self.candidates(live.context, cls)]
            if not names:  # nothing to be guided away from, for one
                continue
            read, agreed = (
                best_prompt([right(live.context, seen[name], cls) for name in names])
                for seen in (live.read, live.agreed)
            )
            yield from self.told(live.context, cls, read, agreed, names[agreed.winner])

    def told(self, context: Context, cls: Class, read: Best, agreed: Best, winner: str) -> Iterator[Row]:
        """The rows of one class, from what the judge reads and what both probes agree on."""
        code = context.world.space.code(cls)
        yield Row(code, self.family, "prompt_capability", read.held_out)
        yield Row(code, self.family, "best_prompt", read.naive)
        yield Row(code, self.family, "agreed_capability", agreed.held_out)
        yield Row(code, self.family, "agreed_best", agreed.naive)
        yield Row(code, f"{self.family}: {self.text(winner)}", "winner", agreed.held_out)

    def name(self, context: Context, cls: Class, text: str) -> str:
        return f"{self.family} {context.world.space.code(cls)}: {text}"

    @staticmethod
    def text(name: str) -> str:
        """What a prompt's name says beyond family and class."""
        return name.partition(": ")[2]


def right(context: Context, seen: Probabilities, cls: Class) -> np.ndarray:
    """Which images show the class."""
    return np.asarray(hits(context.world.space, seen, cls).all(axis=1))


@register("over_prompting")
class OverPrompting(Family):
    """Other values for one variable's entries of the condition, such as bluer blues than any that was seen.

    The paper's list for blue is [0,0,1], [.1,.1,.9], … [.4,.4,.6]. All prompts start from the noise of the
    ordinary one.
    """

    family = "over-prompting"

    def __init__(
        self,
        variable: str,
        values: Sequence[Sequence[float]],
        classes: Sequence[str] = (),
        images: int = 32,
    ) -> None:
        super().__init__(classes, images)
        if not len(values):
            raise InputError("measurement 'over_prompting' needs at least one of values")
        self.variable, self.values = variable, [tuple(value) for value in values]

    def candidates(self, context: Context, cls: Class) -> list[Prompt]:
        part = context.world.condition_parts.get(self.variable)
        if part is None:
            raise unknown(
                "part of the condition", self.variable, context.world.condition_parts, where="over_prompting"
            )
        found = []
        for value in self.values:
            condition = context.world.condition(cls).clone()
            if len(value) != part.stop - part.start:
                raise InputError(
                    f"over_prompting: {self.variable} takes {part.stop - part.start} numbers, not {value}"
                )
            condition[part] = torch.tensor(value)
            text = f"{self.variable}={','.join(f'{number:g}' for number in value)}"
            stream = context.world.space.code(cls)
            found.append(Prompt(self.name(context, cls, text), condition, self.images, stream))
        return found


@register("redraws")
class Redraws(Family):
    """The null of every family: the ordinary prompt, `count` times with fresh noise."""

    family = "redraws"

    def __init__(self, count: int = 5, classes: Sequence[str] = (), images: int = 32) -> None:
        super().__init__(classes, images)
        if count < 1:
            raise InputError(f"measurement 'redraws': count is {count}; it must be at least 1")
        self.count = count

    def candidates(self, context: Context, cls: Class) -> list[Prompt]:
        condition, code = context.world.condition(cls), context.world.space.code(cls)
        return [
            Prompt(self.name(context, cls, f"draw {i}"), condition, self.images, f"{code} draw {i}")
            for i in range(self.count)
        ]


@register("prompt_search")
class PromptSearch(Family):
    """A search in any world for any class: a grid, then a finer look around the best.

    A variable's strength is how far its entries of the condition go: 1 is the class's own value, 2 twice as far from
    the mean of the variable's other values. The grid takes `strengths` of every variable; around the grid's best
    each variable is then tried a factor of `finer` up and down. Every choice looks at the even images only, and the
    winner is scored on the odd ones.
    """

    family = "search"

    def __init__(
        self,
        strengths: Sequence[float] = (1.0, 2.0, 4.0),
        finer: float = 1.5,
        classes: Sequence[str] = (),
        images: int = 32,
    ) -> None:
        super().__init__(classes, images)
        if not strengths or finer <= 1:
            raise InputError("measurement 'prompt_search' needs at least one of strengths, and finer above 1")
        self.strengths, self.finer = tuple(strengths), finer

    @property
    def scored(self) -> int:
        return self.images // 2

    def candidates(self, context: Context, cls: Class) -> list[Prompt]:
        names = _conditioned(context)
        return [
            self._prompt(context, cls, dict(zip(names, strengths)))
            for strengths in itertools.product(self.strengths, repeat=len(names))
        ]

    def refinements(self, context: Context, agreed: Mapping[str, Probabilities]) -> list[Prompt]:
        return [p for cls in self.targets(context) for p in self._around(context, cls, agreed)]

    def rows(self, live: Live) -> Iterable[Row]:
        context = live.context
        for cls in self.targets(context):
            tried = [*self.candidates(context, cls), *self._around(context, cls, live.agreed)]
            read, agreed = (
                best_on_half([right(context, seen[prompt.name], cls) for prompt in tried])
                for seen in (live.read, live.agreed)
            )
            yield from self.told(context, cls, read, agreed, tried[agreed.winner].name)

    def _around(self, context: Context, cls: Class, agreed: Mapping[str, Probabilities]) -> list[Prompt]:
        grid = self.candidates(context, cls)
        best = grid[chosen_on_half([right(context, agreed[prompt.name], cls) for prompt in grid])]
        names = _conditioned(context)
        strengths = list(itertools.product(self.strengths, repeat=len(names)))[grid.index(best)]
        centre = dict(zip(names, strengths))
        return [
            self._prompt(context, cls, {**centre, name: centre[name] * factor})
            for name in names
            for factor in (1 / self.finer, self.finer)
        ]

    def _prompt(self, context: Context, cls: Class, strengths: Mapping[str, float]) -> Prompt:
        text = ", ".join(f"{name} × {strength:.3g}" for name, strength in strengths.items())
        condition = stronger(context, cls, strengths)
        stream = context.world.space.code(cls)
        return Prompt(self.name(context, cls, text), condition, self.images, stream)


def stronger(context: Context, cls: Class, strengths: Mapping[str, float]) -> Tensor:
    """The condition of a class with each variable's entries `strength` times as far from those of its other values."""
    world = context.world
    condition = world.condition(cls).clone()
    for name, strength in strengths.items():
        part, place = world.condition_parts[name], world.space.variable(name)
        others = [
            world.condition(other)[part]
            for other in world.space.neighbours(cls)
            if other[place] != cls[place]
        ]
        middle = torch.stack(others).mean(0)
        condition[part] = middle + strength * (world.condition(cls)[part] - middle)
    return condition


def _conditioned(context: Context) -> list[str]:
    """The concepts that the condition tells."""
    return [name for name in context.world.space.names if name in context.world.condition_parts]
