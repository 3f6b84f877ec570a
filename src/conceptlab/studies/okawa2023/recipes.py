"""The sweeps of okawa2023: pure functions from a scale and seeds to recipes.

Sweeps meet: whatever has the minimal training set and no other change *is* the base member, so figures share it; only
`ablation` asks more of its members and has a base of its own. What a member is, is read back from its recipe (`*_of`),
never from its place in a list: members may fail or be missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from conceptlab.concepts import ConceptSpace, Split, Variable
from conceptlab.recipe import Recipe, flatten
from conceptlab.studies.inside import looked_into
from conceptlab.studies.okawa2023.settings import FOUR, MEASUREMENTS, MINIMAL, SETTINGS, base, swept
from conceptlab.studies.study import Scale
from conceptlab.worlds import build as build_world

SERIES = {"001": "colour", "100": "shape", "010": "size"}
"""Training classes whose number of samples is varied, with the variable each of them teaches."""

ADVERSARIAL = ("000", "100", "001", "111")
"""Figure 9's training set in our order: small comes only as a triangle."""
ADDED = ("101", "010", "011")
"""The classes that fine-tuning adds in Figure 9b."""

TIED: dict[tuple[str, ...], str] = {
    ADVERSARIAL: "010",
    ("000", "100", "010", "111"): "001",
    ("000", "010", "001", "111"): "100",
    ("111", "011", "110", "000"): "101",
}
"""Adversarial training sets of `finetune`, each with the class that would free the variable it ties."""

RARE = "001"
"""The class whose share `frequency` varies."""

_CUBE = ConceptSpace([Variable(name, ("0", "1")) for name in ("shape", "size", "colour")])


def vary(recipes: Sequence[Recipe], settings: Mapping[str, Any]) -> list[Recipe]:
    return [recipe.with_settings(settings) for recipe in recipes]


def _trained_on(train: Mapping[str, int], scale: Scale, seeds: Sequence[int]) -> list[Recipe]:
    """Members of a sweep over training sets."""
    return [replace(recipe, train=dict(train)) for recipe in swept(scale, seeds)]


# --- centres ---


def centres(scale: Scale, seeds: Sequence[int]) -> list[Recipe]:
    """The base repeated with each corner of the cube as the centre of the training set."""
    found = []
    for centre in SETTINGS[scale].centres:
        train = Split.around(_CUBE, centre, SETTINGS[scale].images).by_code()
        known = set(train) == set(MINIMAL)
        found += base(scale, seeds) if known else _trained_on(train, scale, seeds)
    return found


def centre_of(recipe: Recipe) -> str:
    """The training class that has all other training classes as neighbours."""
    space = build_world(**recipe.world).space
    classes = Split(space, recipe.train).train
    return next(space.code(c) for c in classes if all(space.distance(c, other) <= 1 for other in classes))


# --- sample numbers (Figure 8, threshold) ---


def samples(scale: Scale, seeds: Sequence[int], series: Sequence[str] = tuple(SERIES)) -> list[Recipe]:
    """The base with fewer samples of one training class, from none at all up to as many as of the others."""
    found = base(scale, seeds)
    for cls in series:
        others = _without(cls, scale)
        for count in SETTINGS[scale].counts[cls]:
            found += _trained_on(others | ({cls: count} if count else {}), scale, seeds)
    return found


def _without(cls: str, scale: Scale) -> dict[str, int]:
    return {other: SETTINGS[scale].images for other in MINIMAL if other != cls}


def samples_without(cls: str) -> Callable[[Scale, Sequence[int]], list[Recipe]]:
    """Figure 8's members that never saw a class."""

    return lambda scale, seeds: _trained_on(_without(cls, scale), scale, seeds)


def count_of(recipe: Recipe, series: str) -> int | None:
    """How many samples of a class the member saw; None if it belongs to another series."""
    others = {cls: n for cls, n in recipe.train.items() if cls != series}
    if set(others) != set(MINIMAL) - {series} or len(set(others.values())) > 1:
        return None
    return recipe.train.get(series, 0)


# --- frequency ---


def frequency(scale: Scale, seeds: Sequence[int]) -> list[Recipe]:
    """Three ways for a class to be rare: drawn rarely from many images; few images, drawn as often as others (which is
    the remedy of balanced sampling); and both, as in a data set where it is simply rare."""
    setting, found = SETTINGS[scale], base(scale, seeds)
    full: dict[str, int] = dict.fromkeys(MINIMAL, setting.images)
    for share in setting.shares:
        seldom = {cls: share if cls == RARE else (1 - share) / 3 for cls in MINIMAL}
        found += [replace(recipe, shares=seldom) for recipe in _trained_on(full, scale, seeds)]
    for count in setting.rare:
        natural = _trained_on(full | {RARE: count}, scale, seeds)
        evenly = dict.fromkeys(MINIMAL, 0.25)
        found += natural + [replace(recipe, shares=evenly) for recipe in natural]
    return found


def rarity_of(recipe: Recipe) -> tuple[str, float]:
    """The way in which the rare class is rare, and its share: of draws, or (drawn evenly) of images."""
    images = recipe.train[RARE] / sum(recipe.train.values())
    if not recipe.shares:
        return ("base" if len(set(recipe.train.values())) == 1 else "natural"), round(images, 3)
    drawn = recipe.shares[RARE] / sum(recipe.shares.values())
    if len(set(recipe.train.values())) == 1:
        return "drawn rarely", round(drawn, 3)
    return "balanced", round(images, 3)


# --- correlation ---


def correlation(scale: Scale, seeds: Sequence[int]) -> list[Recipe]:
    """Red objects of all shapes and sizes, with a correlation between the two; of blue ones only the large circle."""
    setting, found = SETTINGS[scale], []
    total = 4 * setting.images
    for rho in setting.correlations:
        apart, together = round(total * (1 - rho) / 4), round(total * (1 + rho) / 4)
        counts = {"000": together, "110": together, "010": apart, "100": apart, "001": setting.images}
        train = {cls: count for cls, count in counts.items() if count}
        found += _trained_on(train, scale, seeds)
    return found


def correlation_of(recipe: Recipe) -> float:
    red = {cls: n for cls, n in recipe.train.items() if cls[2] == "0"}
    return round(sum(n if cls[0] == cls[1] else -n for cls, n in red.items()) / sum(red.values()), 2)


# --- adversarial sets and fine-tuning ---


def adversarial(scale: Scale, seeds: Sequence[int], train: Sequence[str] = ADVERSARIAL) -> list[Recipe]:
    return _trained_on(dict.fromkeys(train, SETTINGS[scale].images), scale, seeds)


def tuned(scale: Scale, before: Recipe, added: str, *, keep: bool, rate: float = 1.0) -> Recipe:
    """Fine-tuning of a trained member at a constant rate, on a new class alone or with the old data kept."""
    setting = SETTINGS[scale]
    optimiser = replace(
        before.optimiser, learning_rate=rate * before.optimiser.learning_rate, decay="constant"
    )
    return replace(
        before,
        train=(dict(before.train) if keep else {}) | {added: setting.images},
        start=before.to_dict(),
        steps=setting.tune_steps,
        optimiser=optimiser,
        # The end is what is asked for.
        evaluation=replace(before.evaluation, count=4, spacing="linear"),
    )


def figure9(scale: Scale, seeds: Sequence[int]) -> list[Recipe]:
    before = adversarial(scale, seeds)
    modes = product(before, ADDED, (True, False))
    return before + [tuned(scale, recipe, added, keep=keep) for recipe, added, keep in modes]


def finetune(scale: Scale, seeds: Sequence[int]) -> list[Recipe]:
    found = []
    for train, freeing in TIED.items():
        before = adversarial(scale, seeds, train)
        found += before
        for recipe, rate, keep in product(before, SETTINGS[scale].tune_rates, (True, False)):
            found.append(tuned(scale, recipe, freeing, keep=keep, rate=rate))
    return found


def tuning_of(recipe: Recipe) -> dict[str, Any]:
    """The training set before fine-tuning, what was added, whether the old data were kept, and at which rate."""
    before = recipe.before
    old = tuple((before or recipe).train)
    if before is None:
        return {"set": " ".join(old), "added": "", "mode": "before", "rate": 1.0}
    return {
        "set": " ".join(old),
        "added": next(cls for cls in recipe.train if cls not in before.train),
        "mode": "old data kept" if len(recipe.train) > 1 else "new class alone",
        "rate": round(recipe.optimiser.learning_rate / before.optimiser.learning_rate, 3),
    }


# --- four variables, ablation ---


def four(scale: Scale, seeds: Sequence[int]) -> list[Recipe]:
    """Figure 16: the background as a fourth variable. As many images in all as with three."""
    setting = SETTINGS[scale]
    train = dict.fromkeys(FOUR, 4 * setting.images // 5)
    found = [replace(recipe, train=train) for recipe in base(scale, seeds)]
    return vary(found, {"evaluation.measurements": MEASUREMENTS, **setting.four})


def ablation(scale: Scale, seeds: Sequence[int]) -> list[Recipe]:
    """The base and each switch, all looked into: they are the networks that differ of bradley2025's `across`."""
    found = swept(scale, seeds)
    for settings in SETTINGS[scale].switches.values():
        found += vary(swept(scale, seeds), settings)
    return [looked_into(recipe, scale) for recipe in found]


def switch_of(recipe: Recipe, scale: Scale) -> str:
    flat = flatten(recipe)
    for name, settings in SETTINGS[scale].switches.items():
        if all(flat.get(key) == value for key, value in settings.items()):
            return name
    return "base"
