"""What training and evaluation ask of a source of images, and what a renderer adds.

A `World` knows its concept space, gives images of a class with their conditions and labels, and the condition
that asks for a class. A `RenderedWorld` also knows the factors behind every image (where, how large, which
colour), so that one concept can be flipped while everything else is held.

Concrete worlds are frozen dataclasses whose fields are their settings.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import Tensor

from conceptlab import random
from conceptlab.concepts import Class, ConceptSpace, Split
from conceptlab.errors import InputError

Opacity = Literal["straight", "weighted", "coverage"]
"""What a fourth channel does to the colours: they know nothing of it, they are weighted by it already, or they stand on
a ground of their own and it only says where the object is."""

Factors = dict[str, Tensor]
"""The true values of every image, one tensor of n rows per factor."""


@dataclass(frozen=True)
class Samples:
    """Images with everything that is known about them."""

    images: Tensor  # (n, C, H, W) float32 in [0, 1]
    conditions: Tensor  # (n, *condition_shape) float32
    labels: Tensor  # (n, concept variables) int64
    factors: Factors  # empty where nobody knows them

    def __len__(self) -> int:
        return len(self.images)

    @classmethod
    def join(cls, parts: Sequence[Samples]) -> Samples:
        """The parts one after another."""
        return cls(
            torch.cat([part.images for part in parts]),
            torch.cat([part.conditions for part in parts]),
            torch.cat([part.labels for part in parts]),
            {name: torch.cat([part.factors[name] for part in parts]) for name in parts[0].factors},
        )


class World(ABC):
    """Where images and conditions come from."""

    name: ClassVar[str] = ""
    """The name it is registered under."""
    condition_settings: ClassVar[frozenset[str]] = frozenset()
    """Settings that change its conditions and none of its images: worlds that differ in these alone share a probe."""

    @property
    @abstractmethod
    def space(self) -> ConceptSpace:
        """Its variables, concepts and free ones."""

    @property
    @abstractmethod
    def image_shape(self) -> tuple[int, int, int]:
        """(C, H, W)."""

    @property
    @abstractmethod
    def condition_parts(self) -> dict[str, slice]:
        """Which entries of a condition belong to which variable, in the order of the entries."""

    @property
    def condition_shape(self) -> tuple[int, ...]:
        return (max(part.stop for part in self.condition_parts.values()),)

    @abstractmethod
    def condition(self, cls: Class) -> Tensor:
        """The ordinary prompt of a class: the condition of its mean image."""

    @abstractmethod
    def sample(self, cls: Class, n: int, seed: int) -> Samples:
        """Images of one class. Fewer images with the same seed are the first of more."""

    def check(self) -> None:  # noqa: B027 (optional: most worlds have nothing to check)
        """Raise an `InputError` if its images cannot be had; what is rendered always can."""

    @property
    def seen(self) -> tuple[Class, ...]:
        """The classes it has images of: all that can be rendered; of a finite set those that occur."""
        return self.space.classes

    def reserved(self, purpose: str) -> World:
        """The same world with images that nothing but this purpose (`train` or `held-out`, of a probe) ever sees.

        Draws of a renderer never repeat, so two seeds are enough to keep purposes apart; a world of finitely many
        images must set some aside."""
        return self

    @property
    def opacity(self) -> Opacity:
        """What a fourth channel of its images is; in image files opacity is straight."""
        return "straight"

    def on_paper(self, images: np.ndarray) -> np.ndarray:
        """Images (…, C, H, W), 8 bits, as they are looked at: with opacity laid on white, others as they are."""
        return on_paper(images, self.opacity) if images.shape[-3] == 4 else images

    def dataset(self, split: Split, seed: int) -> Samples:
        """The images of a training split, class after class.

        Every class has a stream of its own, so that images of two classes share no location or angle, and a
        class with fewer images holds the first of those it would hold with more.
        """
        if split.space != self.space:
            raise InputError(f"the split is over {split.space!r}; this world has {self.space!r}")
        parts = []
        for cls in split.train:
            own = derived_seed(seed, f"worlds/class {self.space.code(cls)}")
            parts.append(self.sample(cls, split.counts[cls], own))
        return Samples.join(parts)

    @property
    def settings(self) -> dict[str, Any]:
        """The fields as JSON would give them back; `build(world.name, **world.settings)` is the same world."""
        if not dataclasses.is_dataclass(self):
            raise InputError(
                f"world '{self.name}' must be a dataclass whose fields are its settings; put @dataclass(frozen=True) "
                f"before class {type(self).__name__}"
            )
        return {f.name: thaw(getattr(self, f.name)) for f in dataclasses.fields(self)}


class RenderedWorld(World):
    """A world that draws factors and renders them, so that its images are never exhausted."""

    @abstractmethod
    def draw(self, cls: Class, n: int, seed: int) -> Factors:
        """Factors of n images of a class.

        Each factor has a random stream of its own that does not depend on the class: two classes drawn with
        one seed differ only in what the class sets (common random numbers).
        """

    @abstractmethod
    def render(self, factors: Factors) -> Tensor:
        """The images of the factors, and of nothing else: (n, C, H, W) float32 in [0, 1]."""

    @abstractmethod
    def condition_of(self, factors: Factors) -> Tensor:
        """The true condition of every image, as used in training."""

    def sample(self, cls: Class, n: int, seed: int) -> Samples:
        factors = self.draw(cls, n, seed)
        labels = torch.tensor(cls, dtype=torch.int64).repeat(n, 1)
        return Samples(self.render(factors), self.condition_of(factors), labels, factors)


def check_promises(world: World) -> None:
    """Stop unless images and conditions are what the world says they are, as images of every class show. For worlds
    from elsewhere: a probe that cannot read their images would be told to train longer."""
    for number, cls in enumerate(world.seen):
        _check_class(world, cls, images=1 if number else 2)  # of a finite set a rare class may have no second


def _check_class(world: World, cls: Class, images: int) -> None:
    given, asked = world.sample(cls, images, seed=0), world.condition(cls)
    of_class = f"condition of class {world.space.code(cls)}"
    kinds = (("image", given.images), ("condition of an image", given.conditions), (of_class, asked))
    for what, found in kinds:
        _check_kind(world, what, found)
    shapes = (
        ("image", given.images.shape[1:], world.image_shape),
        ("condition of an image", given.conditions.shape[1:], world.condition_shape),
        (of_class, asked.shape, world.condition_shape),
    )
    for what, found, promised in shapes:
        if tuple(found) != tuple(promised):
            raise InputError(
                f"world '{world.name}': the {what} has the shape {tuple(found)}, not {tuple(promised)} as it says"
            )
    _check_rows(world, cls, given, images)
    for what, found in kinds[1:]:
        if not found.isfinite().all():  # what a network makes of it is judged like any other drawing
            raise InputError(f"world '{world.name}': the {what} holds NaN or infinity; give finite numbers")
    low, high = given.images.min().item(), given.images.max().item()
    if not (low >= -1e-4 and high <= 1 + 1e-4):  # also where they are no numbers
        raise InputError(
            f"world '{world.name}': images go from {low:g} to {high:g}; let render or sample give 0 to 1"
        )
    if not torch.equal(given.images, world.sample(cls, images, seed=0).images):
        raise InputError(
            f"world '{world.name}': one seed gives two images of class {world.space.code(cls)}; draw whatever is "
            "random from the seed, e.g. with conceptlab.worlds.base.spread"
        )


def _check_rows(world: World, cls: Class, given: Samples, images: int) -> None:
    """Images, conditions and labels belong together row by row, and a probe learns what the labels say."""
    for what, found in (("images", given.images), ("conditions", given.conditions)):
        if len(found) != images:
            raise InputError(
                f"world '{world.name}': it gives {len(found)} {what} where {images} are asked for"
            )
    if given.labels.tolist() != [list(cls)] * images:
        raise InputError(
            f"world '{world.name}': the labels of {images} images of class {world.space.code(cls)} are "
            f"{given.labels.tolist()}; give the class itself for each, {list(cls)}"
        )


def _check_kind(world: World, what: str, given: object) -> None:
    """Numbers of numpy are no tensors, and images made of them are in double precision, which no layer would take.
    A condition may be: how it is embedded is up to a network. 8 bits are told by their range."""
    if not isinstance(given, Tensor) or (what == "image" and given.dtype == torch.float64):
        kind = "a float64 tensor" if isinstance(given, Tensor) else f"a {type(given).__name__}"
        raise InputError(f"world '{world.name}': the {what} is {kind}; give a torch tensor of float32")
    if given.requires_grad:
        raise InputError(f"world '{world.name}': the {what} has a gradient; compute it under torch.no_grad()")


def on_paper(images: np.ndarray, opacity: Opacity) -> np.ndarray:
    """RGBA images (…, 4, H, W), 8 bits, laid on white: (…, 3, H, W). Colours that are weighted by their opacity are
    not weighted again: every edge would get a grey rim."""
    colours, covered = images[..., :3, :, :].astype(float), images[..., 3:, :, :] / 255.0
    if opacity == "coverage":
        return images[..., :3, :, :]
    own = colours * covered if opacity == "straight" else colours
    return np.rint(own + 255 * (1 - covered)).clip(0, 255).astype(np.uint8)


def derived_seed(seed: int, purpose: str) -> int:
    """A seed of its own for one purpose."""
    high, low = random.key(seed, purpose).tolist()
    return ((high & 0x7FFFFFFF) << 32) | (low & 0xFFFFFFFF)


def class_index(space: ConceptSpace, labels: Tensor) -> Tensor:
    """Labels (..., variables) to positions in `space.classes`."""
    index = torch.zeros(labels.shape[:-1], dtype=torch.int64, device=labels.device)
    for place, size in enumerate(space.sizes):
        index = index * size + labels[..., place]
    return index


def spread(seed: int, factor: str, shape: Sequence[int]) -> Tensor:
    """Uniform in [-1, 1): the random part of one factor, the same whatever the class."""
    return random.uniform(random.key(seed, f"worlds/{factor}"), shape) * 2 - 1


def freeze_fields(world: World) -> None:
    """Make settings that were read from JSON hashable, in a world's `__post_init__`."""
    for field in dataclasses.fields(world):  # pyright: ignore[reportArgumentType]
        object.__setattr__(world, field.name, freeze(getattr(world, field.name)))


def freeze(value: Any) -> Any:
    """Lists to tuples and mappings to pairs, so that settings read from JSON can be fields of a frozen world."""
    if isinstance(value, Mapping):
        return tuple((key, freeze(item)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return tuple(freeze(item) for item in value)
    return value


def thaw(value: Any) -> Any:
    """Tuples to lists, as they come back from JSON."""
    return [thaw(item) for item in value] if isinstance(value, tuple) else value
