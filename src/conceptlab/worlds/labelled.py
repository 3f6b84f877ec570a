"""Worlds of finitely many labelled images: a user's folder, dSprites, 3D Shapes.

Images are decoded once, to 8 bits, into the cache (`conceptlab.cache`), and read from there as they are used: nothing
is kept in memory, and nothing is ever written where the data lie.

Who uses which image matters where there are finitely many. Of every class 60 % train models, 25 % train probes and
15 % validate them. Images are cut in the order of a hash of their pixels: it does not depend on names, and exact copies
lie together, so that a probe is not examined on what it has learnt.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Self

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from conceptlab import cache, random
from conceptlab.concepts import Class, ConceptSpace, Split, Variable
from conceptlab.errors import InputError
from conceptlab.worlds import checks
from conceptlab.worlds.base import Samples, World, class_index, derived_seed, freeze_fields
from conceptlab.worlds.binning import Variables, check_labels, column_of, is_binned, labels_of
from conceptlab.worlds.continuous import check_numbers, column_numbers, read_numbers
from conceptlab.worlds.problems import Problems

# Shares of a class's images that train a probe and validate it; the rest train models.
PARTS = {"model": 0.6, "train": 0.25, "held-out": 0.15}
FEWEST = 3
"""Images a class needs: one each for the model, the probe and its validation."""
MOST_CLASSES = 1024
"""Beyond this many combinations neither graphs nor tables can be read: bin more coarsely."""


@dataclass(frozen=True)
class Source:
    """Labelled images as they lie on disk."""

    table: pd.DataFrame  # attributes, a row for each image
    names: Sequence[str]  # what each image is called
    identity: Any  # JSON; another where images are others
    fill: Callable[[np.ndarray, np.ndarray], None]  # decode rows into (rows, C, H, W)


@dataclass(frozen=True)
class Loaded:
    """The images that belong to a class, with what is known of them."""

    names: Sequence[str]
    labels: np.ndarray  # (images, variables)
    numbers: Mapping[str, np.ndarray]  # the column of each continuous variable
    binned: Mapping[str, np.ndarray]  # the column of each variable whose values are bins of numbers
    pixels: np.ndarray  # (images, C, H, W) 8 bits, memory-mapped
    digests: np.ndarray  # (images,) a hash of each image's pixels
    order: np.ndarray  # the images sorted by class, then by digest
    starts: np.ndarray  # where each class begins in that order; one more at the end
    left_out: int  # images that belong to no class

    @cached_property
    def fingerprint(self) -> str:
        """Another one if an image or a label is another."""
        found = hashlib.sha256(self.digests.tobytes() + self.labels.tobytes())
        for values in self.numbers.values():
            found.update(values.tobytes())
        return found.hexdigest()[:16]


class LabelledWorld(World):
    """Base class. A subclass is a frozen dataclass with these fields among its settings, and says where its images lie.

    `continuous` variables enter the condition as their true number, standardised; all others as a one-hot part.
    `fingerprint` is that of the data a recipe was made for: where they have changed since, they are not used.
    """

    variables: Variables
    continuous: tuple[str, ...]
    part: str
    fingerprint: str

    @property
    @abstractmethod
    def where(self) -> str:
        """The data as a user knows them, for messages."""

    @abstractmethod
    def source(self) -> Source:
        """What lies there."""

    def _settle(self) -> None:
        """Make settings from JSON hashable, and check them."""
        freeze_fields(self)
        if not self.variables:
            raise InputError(
                f"world '{self.name}' is made of images on a disk: name them with --data PATH in place of --world, or "
                "in Python with conceptlab.worlds.open_data"
            )
        checks.pairs(self.name, "variables", self.variables)
        for name, values in self.variables:
            checks.pairs(self.name, f"variables[{name}]", values, least=2)
        checks.chosen(self.name, "continuous", self.continuous, [name for name, _ in self.variables])
        checks.chosen(self.name, "part", (self.part,), PARTS)

    @property
    def space(self) -> ConceptSpace:
        return _space(self.variables)

    @property
    def condition_parts(self) -> dict[str, slice]:
        widths = [1 if name in self.continuous else len(values) for name, values in self.variables]
        ends = np.cumsum(widths).tolist()
        return {name: slice(end - width, end) for (name, _), width, end in zip(self.variables, widths, ends)}

    def condition(self, cls: Class) -> Tensor:
        """One-hot parts; of a continuous variable the mean number of all images with this value."""
        parts = []
        for place, (name, values) in enumerate(self.variables):
            if name in self.continuous:
                loaded = load(self)
                chosen = loaded.labels[:, place] == cls[place]
                parts.append(torch.tensor([self._standard(name)[chosen].mean()], dtype=torch.float32))
            else:
                parts.append(torch.eye(len(values))[cls[place]])
        return torch.cat(parts)

    def _standard(self, name: str) -> np.ndarray:
        numbers = load(self).numbers[name]
        return (numbers - numbers.mean()) / numbers.std()

    def check(self) -> None:
        load_anew(self)

    def reserved(self, purpose: str) -> Self:
        return dataclasses.replace(self, part=purpose)  # pyright: ignore[reportArgumentType]

    @property
    def seen(self) -> tuple[Class, ...]:
        return tuple(cls for cls in self.space if len(self.rows_of(cls)))

    def counts(self) -> dict[Class, int]:
        """How many images of each class there are in all parts together."""
        found = np.diff(load(self).starts)
        return {cls: int(count) for cls, count in zip(self.space, found)}

    def too_few(self) -> dict[Class, str]:
        """Classes with images, but not one for each part, and how many they have. Copies of one stay in one part."""
        loaded, parts = load(self), [self.reserved(part) for part in PARTS]
        found = {}
        for place, (cls, count) in enumerate(self.counts().items()):
            if count and not all(len(part.rows_of(cls)) for part in parts):
                rows = loaded.order[loaded.starts[place] : loaded.starts[place + 1]]
                different = len(np.unique(loaded.digests[rows]))
                found[cls] = str(count) if different == count else f"{count}, {different} different"
        return found

    def different(self, cls: Class) -> int:
        """How many different images of a class there are in this world's part."""
        return len(np.unique(load(self).digests[self.rows_of(cls)]))

    def rows_of(self, cls: Class) -> np.ndarray:
        """The rows of a class in this world's part."""
        loaded, place = load(self), self.space.classes.index(cls)
        rows = loaded.order[loaded.starts[place] : loaded.starts[place + 1]]
        digests = loaded.digests[rows]
        low, high = (_past_copies(digests, cut) for cut in part_bounds(len(rows))[self.part])
        return rows[low:high]

    def sample(self, cls: Class, n: int, seed: int) -> Samples:
        return self._samples(self._drawn(cls, n, seed))

    def select(self, split: Split, seed: int) -> Samples:
        """What `dataset` holds, without pixels: `factors["row"]` says which rows of `stored` they are."""
        rows = [
            self._drawn(cls, split.counts[cls], derived_seed(seed, f"worlds/class {self.space.code(cls)}"))
            for cls in split.train
        ]
        return self._samples(np.concatenate(rows), pixels=False)

    def stored(self) -> Tensor:
        """All images, 8 bits, memory-mapped: (images, C, H, W)."""
        return torch.from_numpy(load(self).pixels)

    def _drawn(self, cls: Class, n: int, seed: int) -> np.ndarray:
        rows = self.rows_of(cls)
        if n > len(rows) and (self.part == "model" or not len(rows)):
            code = self.space.code(cls)
            raise InputError(
                f"{self.where} has {len(rows)} images of class {code} ({self.space.words(cls)}) in its part "
                f"'{self.part}', not {n}; ask for fewer"
            )
        order = random.uniform(random.key(seed, "worlds/labelled"), (len(rows),)).argsort().numpy()
        # Probes learn from as many images of every class: the few of a rare class are shown again.
        return rows[order][np.arange(n) % max(1, len(rows))]

    def _samples(self, rows: np.ndarray, *, pixels: bool = True) -> Samples:
        loaded, parts = load(self), []
        labels = torch.from_numpy(loaded.labels[rows])
        for place, (name, values) in enumerate(self.variables):
            if name in self.continuous:
                parts.append(torch.from_numpy(self._standard(name)[rows, None].astype(np.float32)))
            else:
                parts.append(torch.eye(len(values))[labels[:, place]])
        images = torch.empty(len(rows), 0, 0, 0)
        if pixels:
            images = torch.from_numpy(np.asarray(loaded.pixels[rows])).float() / 255
        return Samples(images, torch.cat(parts, dim=1), labels, {"row": torch.from_numpy(rows)})


def part_bounds(count: int) -> dict[str, tuple[int, int]]:
    """Where each part of a class's images begins and ends. Each has at least one as soon as there are three; of two,
    the model and the probe have one each."""
    held_out = max(1, round(PARTS["held-out"] * count)) if count >= FEWEST else 0
    train = max(1, round(PARTS["train"] * count)) if count > 1 else 0
    model = count - train - held_out
    return {"model": (0, model), "train": (model, model + train), "held-out": (model + train, count)}


def _past_copies(digests: np.ndarray, cut: int) -> int:
    """The cut, or the next place where it does not part copies of one image."""
    while 0 < cut < len(digests) and digests[cut] == digests[cut - 1]:
        cut += 1
    return cut


@lru_cache(maxsize=64)
def _space(variables: Variables) -> ConceptSpace:
    return ConceptSpace([Variable(name, tuple(value for value, _ in values)) for name, values in variables])


def load(world: LabelledWorld) -> Loaded:
    """The images of a world, decoded at most once: the three parts share them. Others than a run was made for would
    give a model other conditions than it was trained with."""
    found = _load(dataclasses.replace(world, part="model", fingerprint=""))  # pyright: ignore
    if world.fingerprint not in ("", found.fingerprint):
        raise InputError(
            f"the images or labels in {world.where} have changed since this run was made; put them back, or start "
            "another one with another --out"
        )
    return found


def load_anew(world: LabelledWorld) -> Loaded:
    """The images of a world as they are now: a user may have mended them since they were last loaded."""
    _load.cache_clear()
    return load(world)


@lru_cache(maxsize=4)
def _load(world: LabelledWorld) -> Loaded:
    source = world.source()
    for name, _ in world.variables:
        column_of(source.table, name, world.where)
    problems = Problems(world.where)
    labels = labels_of(world.variables, source.table)
    check_labels(problems, world.variables, source.table, labels)
    # Counted, not listed: thirty variables of two values are more classes than memory holds.
    if (combinations := math.prod(world.space.sizes)) > MOST_CLASSES:
        sizes = " × ".join(map(str, world.space.sizes))
        remedy = "Take fewer variables, or bin them more coarsely."
        problems.add("too many combinations", f"{sizes} = {combinations}, at most {MOST_CLASSES}", remedy)
    columns = read_numbers(problems, world.continuous, source.table)
    problems.stop()
    kept = np.flatnonzero((labels >= 0).all(1))
    if not len(kept):
        raise InputError(
            f"{world.where}: no image has a value of every variable; choose other variables or bins"
        )
    numbers = {column: values[kept] for column, values in columns.items()}
    check_numbers(problems, world.variables, numbers, labels[kept])
    problems.stop()
    shape = (len(kept), *world.image_shape)
    name = cache.key(source.identity, list(shape), hashlib.sha256(kept.tobytes()).hexdigest())
    pixels = cache.array("images", name, shape, np.uint8, lambda out: source.fill(kept, out))
    digests = cache.array("images", f"{name}-digests", shape[:1], np.uint64, lambda out: _digest(pixels, out))
    index = class_index(world.space, torch.from_numpy(labels[kept])).numpy()
    order = np.lexsort((digests, index))
    return Loaded(
        [source.names[row] for row in kept.tolist()],
        labels[kept],
        numbers,
        {name: column_numbers(source.table[name])[kept] for name, own in world.variables if is_binned(own)},
        pixels,
        np.asarray(digests),
        order,
        np.searchsorted(index[order], np.arange(len(world.space) + 1)),
        len(labels) - len(kept),
    )


def _digest(pixels: np.ndarray, out: np.ndarray) -> None:
    for row, image in enumerate(pixels):
        out[row] = int.from_bytes(hashlib.blake2b(image.tobytes(), digest_size=8).digest())
