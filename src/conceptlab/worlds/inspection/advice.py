"""Which few classes to collect, so that everything lies at distance 1 or less and every value can be told apart.

This is a set cover with one more demand. With x_c = 1 for a class that is collected and y_e = 1 for an edge of the
concept graph both of whose ends are there:

    minimise Σ x_c
    for every class c that lies further than 1 away:         Σ x_n over c and its neighbours n ≥ 1
    for every value that is never met alone:                 Σ y_e over the edges that alter it ≥ 1
    for every missing end c of an edge e:                    y_e ≤ x_c

Small cases are solved to proven optimality (HiGHS, by way of scipy).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_matrix

from conceptlab.concepts import Class, ConceptSpace
from conceptlab.worlds.inspection.reach import isolated

_SECONDS = 10.0


@dataclass(frozen=True)
class Advice:
    """Classes to collect; `proven` if no fewer can do."""

    classes: tuple[Class, ...]
    proven: bool


def advise(space: ConceptSpace, present: Collection[Class]) -> Advice:
    """The fewest classes to add to those that are present."""
    there = set(present)
    if satisfied(space, there):
        return Advice((), proven=True)
    missing = [cls for cls in space if cls not in there]
    column = {cls: i for i, cls in enumerate(missing)}
    rows = _cover_rows(space, there, column)
    edge_rows, edges = _alone_rows(space, there, column)
    matrix, low = _matrix(rows + edge_rows, len(missing) + edges)
    cost = np.concatenate([np.ones(len(missing)), np.zeros(edges)])
    found = milp(
        cost,
        constraints=LinearConstraint(matrix, low, np.inf),  # pyright: ignore[reportArgumentType]
        integrality=np.concatenate([np.ones(len(missing)), np.zeros(edges)]),
        bounds=Bounds(0, 1),
        options={"time_limit": _SECONDS},
    )
    if found.x is None:
        return Advice(_greedy(space, there, missing), proven=False)
    chosen = tuple(cls for cls, x in zip(missing, found.x) if x > 0.5)
    return Advice(chosen, proven=found.status == 0)


def satisfied(space: ConceptSpace, present: Collection[Class]) -> bool:
    """Whether everything lies at distance 1 or less, and every value is met beside another with all else equal."""
    there = set(present)
    near = all(cls in there or there.intersection(space.neighbours(cls)) for cls in space)
    return near and not any(isolated(space, there).values())


# A constraint: the coefficients of its columns, and the least value of their sum.
_Row = tuple[dict[int, float], float]


def _cover_rows(space: ConceptSpace, there: set[Class], column: dict[Class, int]) -> list[_Row]:
    rows = []
    for cls in column:
        near = space.neighbours(cls)
        if not there.intersection(near):
            rows.append(({column[c]: 1.0 for c in (cls, *near)}, 1.0))
    return rows


def _alone_rows(space: ConceptSpace, there: set[Class], column: dict[Class, int]) -> tuple[list[_Row], int]:
    """Rows for the values that are never met alone, and how many columns for edges they add."""
    rows: list[_Row] = []
    edge_column: dict[tuple[Class, Class], int] = {}
    for name, values in isolated(space, there).items():
        place = space.variable(name)
        for value in values:
            touching = []
            for cls in space:
                for other in space.neighbours(cls):
                    if cls[place] == value and other[place] != value:
                        touching.append((min(cls, other), max(cls, other)))
            for edge in touching:
                if edge not in edge_column:
                    edge_column[edge] = len(column) + len(edge_column)
                    for end in edge:
                        if end in column:
                            rows.append(({column[end]: 1.0, edge_column[edge]: -1.0}, 0.0))
            rows.append(({edge_column[edge]: 1.0 for edge in touching}, 1.0))
    return rows, len(edge_column)


def _matrix(rows: list[_Row], columns: int) -> tuple[csr_matrix, np.ndarray]:
    places = [(i, j, value) for i, (entries, _) in enumerate(rows) for j, value in entries.items()]
    row, column, value = zip(*places)
    return csr_matrix((value, (row, column)), shape=(len(rows), columns)), np.array([low for _, low in rows])


def _greedy(space: ConceptSpace, there: set[Class], missing: list[Class]) -> tuple[Class, ...]:
    """Where the solver ran out of time without any answer: add what brings most near, until nothing is left to gain."""
    chosen: list[Class] = []
    now = set(there)
    while not satisfied(space, now):
        far = {c for c in space if c not in now and not now.intersection(space.neighbours(c))}
        lonely = isolated(space, now)

        def gain(cls: Class, far: set[Class] = far, lonely: dict[str, set[int]] = lonely) -> tuple[int, int]:
            freed = sum(len(lonely[n] - isolated(space, now | {cls})[n]) for n in lonely if lonely[n])
            return len(far.intersection((cls, *space.neighbours(cls)))), freed

        best = max((cls for cls in missing if cls not in now), key=gain)
        chosen.append(best)
        now.add(best)
    return tuple(chosen)
