"""How well generated images match the class that was asked for.

Everything starts from a probe's probabilities: for each concept variable an array (images, values).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from conceptlab.concepts import Class, ConceptSpace

Probabilities = Mapping[str, NDArray[np.floating]]


def hits(space: ConceptSpace, probabilities: Probabilities, asked: Class) -> NDArray[np.bool_]:
    """(images, variables): is the most probable value the one asked for?"""
    return _labels(space, probabilities) == np.asarray(asked)


def joint_accuracy(space: ConceptSpace, probabilities: Probabilities, asked: Class) -> float:
    """okawa2023 Eq. 2: the share of images on which every variable is right (a product of indicators)."""
    return float(hits(space, probabilities, asked).all(axis=1).mean())


def joint_probability(space: ConceptSpace, probabilities: Probabilities, asked: Class) -> float:
    """okawa2023 §3.1: the mean product of the probabilities of the values asked for."""
    factors = [probabilities[name][:, value] for name, value in zip(space.names, asked)]
    return float(np.prod(factors, axis=0).mean())


def variable_accuracies(space: ConceptSpace, probabilities: Probabilities, asked: Class) -> dict[str, float]:
    """The share of images on which each variable by itself is right."""
    return dict(zip(space.names, hits(space, probabilities, asked).mean(axis=0).tolist()))


def additive_accuracy(space: ConceptSpace, probabilities: Probabilities, asked: Class) -> float:
    """okawa2023 Fig 6: the mean of the single accuracies, which suggests smooth progress."""
    return float(hits(space, probabilities, asked).mean())


def concept_space(space: ConceptSpace, probabilities: Probabilities) -> dict[str, float]:
    """park2024 §3.1: mean position of the images along each variable, 0 at its first value, 1 at its last.

    For two values this is the mean probability of the second one. An image in which nothing is read lies halfway.
    """
    found = {}
    for variable in space.concepts:
        scale = np.linspace(0, 1, len(variable.values)) if len(variable.values) > 1 else np.zeros(1)
        values = probabilities[variable.name]
        found[variable.name] = float(np.where(values.max(axis=1) > 0, values @ scale, 0.5).mean())
    return found


def drawn(space: ConceptSpace, probabilities: Probabilities) -> dict[Class, float]:
    """What was drawn: the share of images read as each class, classes that were never drawn left out. What is missing
    to 1 are images in which nothing is read."""
    labels = _labels(space, probabilities)
    classes, counts = np.unique(labels[(labels >= 0).all(axis=1)], axis=0, return_counts=True)
    return {tuple(int(v) for v in cls): float(n) / len(labels) for cls, n in zip(classes, counts)}


def disagreement(space: ConceptSpace, first: Probabilities, second: Probabilities) -> float:
    """The share of images in which two probes see different classes."""
    return float((_labels(space, first) != _labels(space, second)).any(axis=1).mean())


def agreed(space: ConceptSpace, first: Probabilities, second: Probabilities) -> Probabilities:
    """What the first probe sees, and nothing (probabilities of 0) in images in which the second sees another class."""
    same = (_labels(space, first) == _labels(space, second)).all(axis=1)
    return {name: np.where(same[:, None], first[name], 0.0) for name in space.names}


def _labels(space: ConceptSpace, probabilities: Probabilities) -> NDArray[np.intp]:
    """(images, variables): the most probable values; -1, which no class has, where there is none."""
    return np.stack([_label(probabilities[name]) for name in space.names], axis=1)


def _label(values: NDArray[np.floating]) -> NDArray[np.intp]:
    return np.where(values.max(axis=1) > 0, values.argmax(axis=1), -1)
