"""A probe is validated on held-out real images of every class before it may judge."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import scipy
from torch import Tensor

from conceptlab.errors import InputError
from conceptlab.probes.base import Probe
from conceptlab.probes.detector import shortfall
from conceptlab.probes.train import real_images
from conceptlab.worlds import LabelledWorld, RenderedWorld, World, class_index

LOG = logging.getLogger(__name__)

LEAST_JOINT = 0.99
"""The joint accuracy below which a probe may not judge a rendered world."""


@dataclass(frozen=True)
class Validation:
    """How often a probe is right on real images, and what it takes for what."""

    kind: str
    images_per_class: int
    joint: float
    per_variable: dict[str, float]
    per_class: dict[str, float]  # by class code
    # Row: true class, column: share read as each. A row sums to less than one where a detector counts beyond them all.
    confusion: tuple[tuple[float, ...], ...]
    # By class code, where images are finitely many: the few of a class are shown again, and tell no more for it.
    different: dict[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        data = asdict(self) | {"confusion": [list(row) for row in self.confusion]}
        return data if self.different else {name: data[name] for name in data if name != "different"}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Validation:
        confusion = tuple(tuple(float(share) for share in row) for row in data["confusion"])
        return cls(**{**data, "confusion": confusion})


def validate(probe: Probe, world: World, images_per_class: int | None = None, seed: int = 0) -> Validation:
    """Judge fresh real images of every class that has any: 200 of each unless told, 500 for a detector, of which
    something is asked for every class.

    How the probe would read a class without a real image is estimated: as if it erred in each variable by itself, as
    often as it does on the other classes.
    """
    if images_per_class is None:
        images_per_class = 500 if probe.kind == "detector" else 200
    if images_per_class < 1:
        raise InputError(f"cannot validate a probe on {images_per_class} images per class; use 1 or more")
    if probe.space.concepts != world.space.concepts:
        raise InputError(f"the probe reads {probe.space!r}; this world has {world.space!r}")
    samples = real_images(world, images_per_class, seed, "held-out")
    predicted = probe.predict(samples.images)
    read = (predicted >= 0).all(1)
    if probe.kind != "detector" and not bool(read.all()):
        share = (~read).double().mean().item()
        raise InputError(f"the probe sees nothing in {share:.1%} of real images; give it a smaller 'blank'")
    right = predicted == samples.labels
    confusion = _confusion(world, samples.labels, predicted, read)
    return Validation(
        kind=probe.kind,
        images_per_class=images_per_class,
        joint=right.all(1).double().mean().item(),
        per_variable=dict(zip(world.space.names, right.double().mean(0).tolist())),
        per_class=dict(zip(map(world.space.code, world.space.classes), confusion.diagonal().tolist())),
        confusion=tuple(tuple(row) for row in confusion.tolist()),
        different=_different(world, images_per_class),
    )


def _different(world: World, most: int) -> dict[str, int]:
    """How many different images of each class a probe is validated on, where that is fewer than are shown."""
    if not isinstance(world, LabelledWorld):
        return {}
    own = world.reserved("held-out")
    return {world.space.code(cls): min(most, own.different(cls)) for cls in own.seen}


def _confusion(world: World, true: Tensor, predicted: Tensor, read: Tensor) -> np.ndarray:
    """Of the images of each class the share that is read as each; `read` says of which images anything is."""
    classes = len(world.space)
    counts = np.zeros((classes, classes))
    places = (class_index(world.space, labels[read]).numpy() for labels in (true, predicted))
    np.add.at(counts, tuple(places), 1)
    images = np.bincount(class_index(world.space, true).numpy(), minlength=classes)[:, None]
    return np.where(images, counts / images.clip(min=1), _independent(world, true[read], predicted[read]))


def _independent(world: World, true: Tensor, read: Tensor) -> np.ndarray:
    """The confusion of classes if variables were misread independently: a product over variables."""
    whole = np.ones((1, 1))
    for place, size in enumerate(world.space.sizes):
        counts = np.full((size, size), 1e-9)
        np.add.at(counts, (true[:, place].numpy(), read[:, place].numpy()), 1)
        whole = np.kron(whole, counts / counts.sum(1, keepdims=True))
    return whole / whole.sum(1, keepdims=True)


def require_judge(validation: Validation, world: World) -> None:
    """Stop unless the probe is good enough to judge this world.

    Rendered images are unambiguous, so a probe that errs on them is at fault. On real data labels overlap: a
    warning, and accuracies are to be corrected with `correct`.
    """
    if validation.kind == "detector":
        short = shortfall(validation.per_class)
        if short is not None:
            raise InputError(f"the detector {short}; train it longer or on more images")
        return
    if validation.joint >= LEAST_JOINT:
        return
    worst = min(validation.per_class, key=lambda code: validation.per_class[code])
    amount = f"{sum(validation.different.values())} different " if validation.different else ""
    found = (
        f"the {validation.kind} probe reads {validation.joint:.1%} of {amount}held-out real images right, less than "
        f"{LEAST_JOINT:.0%} (worst class {worst}: {validation.per_class[worst]:.1%})"
    )
    if isinstance(world, RenderedWorld):
        raise InputError(f"{found}; train it longer or on more images, or set the concepts further apart")
    LOG.warning("%s; accuracies are corrected for its confusion", found)


def correct(observed: np.ndarray, confusion: np.ndarray) -> np.ndarray:
    """The class shares that, read by a probe with this confusion, would look most like the observed ones.

    Least squares for q = Cᵀ p with p ≥ 0 and Σ p = 1 (q: observed shares, C: rows are true classes).
    """
    observed, confusion = np.asarray(observed, dtype=float), np.asarray(confusion, dtype=float)
    if confusion.shape != (len(observed), len(observed)):
        raise InputError(f"a confusion of {confusion.shape} does not fit {len(observed)} observed shares")
    if not (np.isfinite(observed).all() and abs(observed.sum() - 1) < 1e-6 and observed.min() >= 0):
        raise InputError("observed shares must be 0 or more and sum to 1; divide the counts by their total")
    # The sum is one more equation, so heavy that it holds to eight digits.
    weight = 1e4
    rows = np.vstack([confusion.T, np.full(len(observed), weight)])
    shares, _ = scipy.optimize.nnls(rows, np.append(observed, weight))
    return shares / shares.sum()


def correct_drawn(observed: np.ndarray, confusion: np.ndarray) -> np.ndarray:
    """`correct` for shares that lack what shows nothing: empty images belong to no class, whatever the confusion."""
    shown = float(np.sum(observed))
    return shown * correct(observed / shown, confusion) if shown > 0 else np.zeros(len(observed))
