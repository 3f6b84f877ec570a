"""What is computed while a model lives.

A figure declares beforehand which measurements it needs; each says what the model has to draw for it (`prompts`)
and turns the drawings, or the weights, into tidy rows. Prompts of all measurements are drawn together, once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor

from conceptlab.concepts import Class, Split
from conceptlab.denoisers import Denoiser, Embedding
from conceptlab.diffusion import Process
from conceptlab.errors import InputError
from conceptlab.measures import Probabilities, agreed
from conceptlab.probes import Probe
from conceptlab.recipe import Part, Recipe
from conceptlab.registry import Registry
from conceptlab.worlds import World

# From a way to embed conditions (B, …) and the condition of one prompt (1, …) to the embedding to draw from (1, …).
Edit = Callable[[Callable[[Tensor], Embedding], Tensor], Embedding]


@dataclass(frozen=True)
class Guidance:
    """Prediction + weight · (prediction - prediction for `against`): classifier-free guidance (Ho and Salimans 2022,
    Eq. 6) where `against` is the condition of all zeros that `condition_dropout` trains; away from another class
    where it is that class's."""

    weight: float
    against: Tensor


@dataclass(frozen=True)
class Prompt:
    """A condition to draw images from. Prompts with one `stream` start from the same noise, so that they can be
    compared image by image; streams are independent of each other. An `edit` changes the condition's embedding on
    its way into the network."""

    name: str
    condition: Tensor
    images: int
    stream: str
    edit: Edit | None = None
    guidance: Guidance | None = None


Seen = dict[str, Probabilities]  # by the name of a prompt

Name = TypeVar("Name", bound=Hashable)


class Row(NamedTuple):
    """One number; `step` where it belongs to an earlier step than the evaluation that found it."""

    cls: str
    variable: str
    measure: str
    value: float
    step: int | None = None


@dataclass(frozen=True)
class Context:
    """What stays the same through a member's training."""

    recipe: Recipe
    world: World
    split: Split
    judge: Probe
    second: Probe | None
    # How the judge reads real images, where that is to be corrected for: rows are true classes.
    confusion: np.ndarray | None = None


@dataclass(frozen=True)
class Live:
    """One member at one evaluation: its weights in a plain module, what it drew for every prompt, and what the judge
    reads in it. Unusual prompts may make images unlike any that a probe has seen, such as empty ones: `agreed` has
    only what the second probe sees, too, where there is one; `second` is what that sees by itself."""

    context: Context
    step: int
    weights: str
    denoiser: Denoiser
    process: Process
    images: Mapping[str, Tensor]
    read: Mapping[str, Probabilities]
    agreed: Mapping[str, Probabilities] = field(default_factory=dict)
    second: Mapping[str, Probabilities] = field(default_factory=dict)
    # The checkpoints kept so far, by step; read only when asked for.
    kept: Callable[[], Mapping[int, Mapping[str, Tensor]]] = dict


class Measurement(ABC):
    """Base class; registered under a name and built from the settings a recipe gives it."""

    def check(self, context: Context) -> None:  # noqa: B027, most can measure anything
        """Refuse what cannot be measured: before anything is trained, when there is no judge yet."""

    def prompts(self, context: Context, images: int) -> list[Prompt]:
        """What the model has to draw; nothing by default."""
        return []

    def outlines(self, context: Context, images: int) -> list[Prompt]:
        """The same for a plan, which only counts: prompts whose conditions take long to make leave them blank."""
        return self.prompts(context, images)

    def refinements(self, context: Context, agreed: Mapping[str, Probabilities]) -> list[Prompt]:
        """What it has to draw next, after a look at the first drawings."""
        return []

    def own_passes(self, context: Context) -> int:
        """How often, through all of training and of all weights that are measured, it lets the network see an image
        beside its prompts: once for each step of each image that it draws by itself. A way back to the image counts as
        once more, one to the weights as twice."""
        return 0

    @abstractmethod
    def rows(self, live: Live) -> Iterable[Row]:
        """What was measured, from drawings, readings or weights."""


_MEASUREMENTS: Registry[Measurement] = Registry("measurement", Measurement)
register = _MEASUREMENTS.register
names = _MEASUREMENTS.names


def build(parts: Sequence[Part]) -> list[Measurement]:
    for number, part in enumerate(parts):
        if part in parts[:number]:  # it would find every number twice
            raise InputError(f"measurement '{part['name']}' is named twice with the same settings; drop one")
    return [
        _MEASUREMENTS.make(part["name"], **{k: v for k, v in part.items() if k != "name"}) for part in parts
    ]


def class_prompt(context: Context, cls: Class, images: int) -> Prompt:
    """The ordinary prompt of a class."""
    code = context.world.space.code(cls)
    return Prompt(f"class {code}", context.world.condition(cls), images, stream=code)


def all_prompts(measurements: Sequence[Measurement], context: Context, images: int) -> list[Prompt]:
    """The prompts of all measurements, those with one name only once."""
    return once_each(prompt for m in measurements for prompt in m.prompts(context, images))


def once_each(prompts: Iterable[Prompt]) -> list[Prompt]:
    """Of those with one name, the one with most images; drawings are found by name, so all must ask for the same."""
    found: dict[str, Prompt] = {}
    for prompt in prompts:
        known = found.setdefault(prompt.name, prompt)
        if known is not prompt and (other := _difference(known, prompt)):
            raise InputError(
                f"two prompts are called '{prompt.name}' and differ in their {other}; give one another name"
            )
        if known.images < prompt.images:
            found[prompt.name] = prompt
    return list(found.values())


def _difference(one: Prompt, other: Prompt) -> str:
    """In what two prompts differ beside the number of images; two edits cannot be compared."""
    guided = [(g.weight, *g.against.flatten().tolist()) if (g := p.guidance) else () for p in (one, other)]
    pairs = {
        "condition": (one.condition, other.condition),
        "stream": (one.stream, other.stream),
        "edit": (one.edit is None, other.edit is None),
        "guidance": guided,
    }
    return next((what for what, (a, b) in pairs.items() if not np.array_equal(a, b)), "")


def observe(
    measurements: Sequence[Measurement],
    contexts: Sequence[Context],
    images: int,
    draw: Callable[[list[list[Prompt]]], list[dict[str, Tensor]]],
) -> list[tuple[dict[str, Tensor], Seen, Seen, Seen]]:
    """Draw for all measurements of all members and read the images, in two rounds: what each member drew, what its
    judge sees in it, on what both probes agree, and what the second sees."""
    asked = [all_prompts(measurements, context, images) for context in contexts]
    drawn = draw(asked) if any(asked) else [{} for _ in contexts]
    seen = sights(contexts, drawn)
    more = [[p for m in measurements for p in m.refinements(c, s[1])] for c, s in zip(contexts, seen)]
    if any(more):
        refined = draw(more)
        for pictures, found, added, new in zip(drawn, seen, refined, sights(contexts, refined)):
            pictures |= added
            for known, known_now in zip(found, new):
                known |= known_now
    return [(pictures, *found) for pictures, found in zip(drawn, seen)]


def sights(
    contexts: Sequence[Context], drawn: Sequence[Mapping[str, Tensor]]
) -> list[tuple[Seen, Seen, Seen]]:
    """For each member, in the images of each prompt: what its judge sees, what of it the second probe sees, too, and
    what that sees."""
    judged = read_all([context.judge for context in contexts], drawn)
    others = read_all([context.second for context in contexts], drawn)
    found = []
    for context, seen, other in zip(contexts, judged, others):
        space = context.world.space
        both = (
            {name: agreed(space, table, other[name]) for name, table in seen.items()} if other else dict(seen)
        )
        found.append((seen, both, other))
    return found


def read_all(probes: Sequence[Probe | None], drawn: Sequence[Mapping[str, Tensor]]) -> list[Seen]:
    """What each member's probe sees. Members that share a probe are read in one pass: a GPU reads the images of twenty
    in little more time than those of one."""
    found: list[Seen] = [{} for _ in drawn]
    for probe in {id(probe): probe for probe in probes if probe is not None}.values():
        together = {
            (member, prompt): images
            for member, pictures in enumerate(drawn)
            if probes[member] is probe
            for prompt, images in pictures.items()
        }
        for (member, prompt), table in read(probe, together).items():
            found[member][prompt] = table
    return found


def read(probe: Probe, images: Mapping[Name, Tensor]) -> dict[Name, Probabilities]:
    """What a probe sees in the images under each name, in one pass over all of them."""
    if not images:
        return {}
    tables = probe.probabilities(torch.cat(list(images.values())))
    probabilities = {variable: np.asarray(table) for variable, table in tables.items()}
    found, start = {}, 0
    for name, drawn in images.items():
        found[name] = {variable: p[start : start + len(drawn)] for variable, p in probabilities.items()}
        start += len(drawn)
    return found
