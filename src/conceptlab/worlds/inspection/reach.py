"""Which combinations a data set has, how far the others lie from it, and which variables it can tell apart.

A value that never stands beside another one with all else equal cannot be separated from what comes with it. In
okawa2023, Figure 9, the model sees 000, 100, 001 and 111: size never varies alone, and the model ties small to
triangle.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pandas as pd

from conceptlab.concepts import Class, ConceptSpace, Split


def class_table(space: ConceptSpace, counts: Mapping[Class, int]) -> pd.DataFrame:
    """Every combination: `class`, `words`, `count`, `share` of all images, `distance` from those that occur."""
    split = Split(space, {cls: count for cls, count in counts.items() if count})
    return pd.DataFrame(
        {
            "class": [space.code(cls) for cls in space],
            "words": [space.words(cls) for cls in space],
            "count": [counts.get(cls, 0) for cls in space],
            "share": [counts.get(cls, 0) / split.total for cls in space],
            "distance": [split.distance(cls) for cls in space],
        }
    )


def value_table(space: ConceptSpace, counts: Mapping[Class, int]) -> pd.DataFrame:
    """Every value of every variable: how many images have it, in how many combinations, what it is tied to, and whether
    it is met `alone`, beside another value with all else equal."""
    present = [cls for cls, count in counts.items() if count]
    total = sum(counts.values())
    lonely = isolated(space, present)
    rows = []
    for place, variable in enumerate(space.concepts):
        for value, name in enumerate(variable.values):
            own = [cls for cls in present if cls[place] == value]
            count = sum(counts[cls] for cls in own)
            rows.append(
                {
                    "variable": variable.name,
                    "value": name,
                    "count": count,
                    "share": count / total,
                    "classes": len(own),
                    "alone": value not in lonely[variable.name],
                    "tied": ", ".join(_ties(space, present, own, place)),
                }
            )
    return pd.DataFrame(rows)


def isolated(space: ConceptSpace, present: Collection[Class]) -> dict[str, set[int]]:
    """For each variable the values that no two present classes show to differ in nothing else."""
    there = set(present)
    found = {variable.name: set(range(len(variable.values))) for variable in space.concepts}
    for cls in there:
        for place, name in enumerate(space.names):
            others = (n for n in space.neighbours(cls) if n[place] != cls[place])
            if any(other in there for other in others):
                found[name].discard(cls[place])
    return found


def never_alone(space: ConceptSpace, present: Collection[Class]) -> list[str]:
    """Variables of which no two values are ever seen with all else equal."""
    lonely = isolated(space, present)
    return [
        variable.name for variable in space.concepts if len(lonely[variable.name]) == len(variable.values)
    ]


def _ties(space: ConceptSpace, present: Collection[Class], own: Collection[Class], place: int) -> list[str]:
    """The values of other variables that always come with the classes `own`, though others occur elsewhere."""
    found = []
    for other, variable in enumerate(space.concepts):
        mine = {cls[other] for cls in own}
        if other != place and len(mine) == 1 and len({cls[other] for cls in present}) > 1:
            found.append(f"{variable.name}={variable.values[mine.pop()]}")
    return found
