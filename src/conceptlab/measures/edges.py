"""Capability in the sense of okawa2023, Def 6: the ability to alter one variable, measured on every edge of the graph.

An edge joins two classes that differ in one variable. A model can alter that variable along the edge if it draws it
right at both ends: asked for a triangle it draws a triangle, asked for a circle, all else equal, a circle.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from conceptlab.concepts import Class, ConceptSpace, concept_graph
from conceptlab.measures.accuracy import Probabilities, variable_accuracies


class EdgeCapability(NamedTuple):
    """How well one variable is altered between two neighbouring classes."""

    start: Class
    end: Class
    variable: str
    value: float


def edge_capabilities(space: ConceptSpace, read: Mapping[Class, Probabilities]) -> list[EdgeCapability]:
    """The chance that a drawing of either end, independently drawn, shows the altered variable as asked.

    This is the product of the variable's accuracies at both ends. A model that ignores the variable reaches at most
    1/4, whatever value it prefers; one that always obeys reaches 1.
    """
    right = {cls: variable_accuracies(space, seen, cls) for cls, seen in read.items()}
    return [
        EdgeCapability(a, b, variable, right[a][variable] * right[b][variable])
        for a, b, variable in concept_graph(space).edges(data="variable")
    ]
