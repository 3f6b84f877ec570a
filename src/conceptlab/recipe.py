"""A recipe: everything that decides the numbers of one trained model, as plain data.

A recipe is complete and replayable: written to `config.json` and read back it trains the same model again.
Its hash covers only what differs from the defaults, so a new setting orphans no old result, plus
`RECIPE_VERSION`, which is raised whenever code changes what a recipe computes. Only the settings of a part count as
they are written, also where they are its defaults: nobody here knows these, and the recipes of studies spell some out,
so that kept results bear such hashes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import Any, Literal

from conceptlab.errors import InputError, unknown
from conceptlab.plain import construct, differences, flat, plain

RECIPE_VERSION = 2

# A part is a registered thing and its settings: {"name": "circles", "colour_separation": 0.2}.
Part = Mapping[str, Any]


@dataclass(frozen=True)
class Optimiser:
    """Adam or AdamW, with the gradient's norm clipped for each model by itself."""

    name: Literal["adam", "adamw"] = "adamw"
    learning_rate: float = 1e-3
    betas: tuple[float, float] = (0.9, 0.999)
    weight_decay: float = 0.0
    clip: float | None = None
    decay: Literal["constant", "linear", "cosine"] = "constant"
    warmup: int = 0


@dataclass(frozen=True)
class Evaluation:
    """What is measured while the model lives, and when."""

    count: int = 12
    spacing: Literal["linear", "square"] = "linear"
    images: int = 32
    final_images: int | None = None
    sampler: Literal["ddim", "ancestral"] = "ddim"
    sampler_steps: int = 10
    ema: bool = False
    probe: Part = field(default_factory=lambda: {"name": "cnn"})
    second_probe: Part | None = field(default_factory=lambda: {"name": "analytic"})
    measurements: tuple[Part, ...] = ({"name": "accuracy"},)
    shown: int = 8

    @property
    def weights(self) -> tuple[str, ...]:
        """The weights that are measured, those that a figure judges last."""
        return ("raw", "ema") if self.ema else ("raw",)


@dataclass(frozen=True)
class Masking:
    """Underspecification: in a share of a class's training images the condition does not tell a variable."""

    variable: str
    classes: tuple[str, ...]
    share: float
    value: float = 0.0


_LEAST = {
    "steps": 1,
    "batch": 1,
    "seed": 0,
    "data_seed": 0,
    "data_noise": 1e-6,
    "optimiser.learning_rate": 0,
    "optimiser.weight_decay": 0,
    "optimiser.clip": 0,
    "optimiser.warmup": 0,
    "evaluation.count": 1,
    "evaluation.images": 1,
    "evaluation.final_images": 1,
    "evaluation.sampler_steps": 1,
    "evaluation.shown": 0,
}
"""The least value of each number, as far as it may be given at all."""
_MOST = {"data_noise": 1e6, "evaluation.images": 2**40, "evaluation.final_images": 2**40}
"""The greatest, where more cannot be computed with. What merely takes long, or much memory, is refused elsewhere."""


@dataclass(frozen=True)
class Recipe:
    """One member: a world, what of it is seen, a denoiser, and how it is trained and evaluated."""

    world: Part = field(default_factory=lambda: {"name": "shapes"})
    train: Mapping[str, int] = field(default_factory=dict)
    # How often each class is drawn in training; by default as often as its images are many.
    shares: Mapping[str, float] = field(default_factory=dict)
    masking: tuple[Masking, ...] = ()
    # In this share of training draws the whole condition is zero: what classifier-free guidance needs.
    condition_dropout: float = 0.0
    # The recipe of the member whose last weights this one starts from: fine-tuning.
    start: Mapping[str, Any] | None = None
    denoiser: Part = field(default_factory=lambda: {"name": "film"})
    process: Part = field(default_factory=lambda: {"name": "continuous"})
    prediction: Literal["eps", "x0", "v"] = "eps"
    loss: Literal["mse", "bound"] = "mse"
    # Standard deviation of the likelihood in the bound: one level of an 8-bit image in [-1, 1].
    data_noise: float = 2 / 255
    times: Literal["uniform", "antithetic", "stratified"] = "stratified"
    pixels: Literal["symmetric", "unit"] = "symmetric"
    steps: int = 1000
    batch: int = 64
    optimiser: Optimiser = field(default_factory=Optimiser)
    ema: float | None = None
    precision: Literal["float32", "bfloat16"] = "float32"
    evaluation: Evaluation = field(default_factory=Evaluation)
    # Evaluations after which the weights are kept, besides the last.
    keep: tuple[int, ...] = ()
    seed: int = 0
    data_seed: int | None = None

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            value = attrgetter(name)(self)
            if value is not None and value < least:
                raise InputError(f"recipe: {name} is {value}; it must be at least {least}")
            if value is not None and value > _MOST.get(name, value):
                raise InputError(f"recipe: {name} is {value}; it must be at most {_MOST[name]}")
        for name, value in (
            ("ema", self.ema or 0.0),
            *(("optimiser.betas", b) for b in self.optimiser.betas),
        ):
            if not 0 <= value < 1:
                raise InputError(f"recipe: {name} is {value}; it must be in [0, 1)")
        if not self.train:
            raise InputError(
                'recipe: the training split is empty; name classes and counts, e.g. {"000": 500}'
            )
        for masking in self.masking:
            if not 0 <= masking.share <= 1:
                raise InputError(f"recipe: the share of a masking is {masking.share}; it must be in [0, 1]")
        if any(share < 0 for share in self.shares.values()) or (
            self.shares and not sum(self.shares.values())
        ):
            raise InputError("recipe: shares must be 0 or more and not all 0")
        if not 0 <= self.condition_dropout < 1:
            raise InputError(f"recipe: condition_dropout is {self.condition_dropout}; it must be in [0, 1)")
        if self.evaluation.ema and not self.ema:
            raise InputError(
                "recipe: evaluation.ema needs a moving average; set ema, e.g. to 0.999, or evaluation.ema to false"
            )
        evaluations = self.evaluation_steps()
        for step in self.keep:
            if step not in evaluations:
                near = min(evaluations, key=lambda other: abs(other - step))
                raise InputError(
                    f"recipe: keep names step {step}, where nothing is evaluated; the nearest is {near}"
                )

    # Cached, here and below: plans of thousands of members ask again and again, and a recipe never changes.
    @cached_property
    def hash(self) -> str:
        return self._hash(RECIPE_VERSION)

    @property
    def hashes(self) -> list[str]:
        """The names that the folder of such a model may bear: its hash in this and in every earlier version."""
        return [self._hash(version) for version in range(RECIPE_VERSION, 0, -1)]

    def _hash(self, version: int) -> str:
        seed = {"seed": str(self.seed)} if self.seed != _default().seed else {}
        text = f"[{version}, {_joined(self._texts | seed)}]"
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @cached_property
    def seedless(self) -> str:
        """All that differs from the defaults except the seed: one text for all recipes that differ in it alone."""
        return _joined(self._texts)

    @cached_property
    def _texts(self) -> dict[str, str]:
        """The JSON of each setting but the seed that differs from its default: what the hash is made of."""
        found = self.differences().items()
        return {name: json.dumps(value, sort_keys=True) for name, value in found if name != "seed"}

    def with_seed(self, seed: int) -> Recipe:
        """The same recipe with another seed; what does not depend on it is spelt out once for all of them."""
        other = replace(self, seed=seed)
        vars(other).update(_texts=self._texts, seedless=self.seedless)
        return other

    def differences(self) -> dict[str, Any]:
        """The settings that differ from their defaults, nested as they are."""
        return differences(self, _default())

    def to_dict(self) -> dict[str, Any]:
        return plain(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Recipe:
        return construct(cls, data, "recipe")

    @cached_property
    def before(self) -> Recipe | None:
        """The recipe of the member this one continues from."""
        return None if self.start is None else Recipe.from_dict(self.start)

    def with_settings(self, settings: Mapping[str, Any]) -> Recipe:
        """A copy with settings changed by dotted name: `{"optimiser.learning_rate": 1e-3, "steps": 500}`."""
        data = self.to_dict()
        for name, value in settings.items():
            _assign(data, name, value)
        return Recipe.from_dict(data)

    def evaluation_steps(self) -> tuple[int, ...]:
        """Steps at which the model is measured; the last is always the end. `square` spaces them as the square
        of their number, so that early training, where most happens, is seen more finely."""
        return _evaluation_steps(self.steps, self.evaluation.count, self.evaluation.spacing)


def flatten(recipe: Recipe) -> dict[str, Any]:
    """Dotted names to values, for tables and comparisons."""
    return {name: value for name, value in flat(recipe.to_dict()).items() if value != {}}


@lru_cache(maxsize=1)
def _default() -> Recipe:
    return Recipe(train={"": 1})


@lru_cache
def _evaluation_steps(steps: int, count: int, spacing: str) -> tuple[int, ...]:
    power = 2 if spacing == "square" else 1
    if count >= power * steps:  # no two neighbours are further apart than a step
        return tuple(range(1, steps + 1))
    return tuple(sorted({max(1, round(steps * (i / count) ** power)) for i in range(1, count + 1)}))


def _joined(texts: Mapping[str, str]) -> str:
    """The JSON of a table, from that of its entries."""
    return "{" + ", ".join(f'"{name}": {text}' for name, text in sorted(texts.items())) + "}"


def _assign(data: dict[str, Any], name: str, value: Any) -> None:
    *path, last = name.split(".")
    place: Any = data
    for depth, step in enumerate(path):
        if not isinstance(place, dict) or step not in place:
            raise unknown(
                "setting", name, place if isinstance(place, dict) else (), where=".".join(path[:depth])
            )
        place = place[step]
    # Parts take settings of their own, checked where the part is built; everything else must exist.
    is_part = (
        isinstance(place, dict)
        and ("name" in place or path in (["train"], ["shares"]))
        and path != ["optimiser"]
    )
    if not isinstance(place, dict) or (last not in place and not is_part):
        raise unknown("setting", name, place if isinstance(place, dict) else (), where=".".join(path))
    place[last] = value
