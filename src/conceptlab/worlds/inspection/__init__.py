"""What a labelled image set can and cannot teach, before anything is trained."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pandas as pd

from conceptlab.concepts import Class
from conceptlab.worlds.inspection.advice import Advice, advise, satisfied
from conceptlab.worlds.inspection.duplicates import Duplicates, find_duplicates
from conceptlab.worlds.inspection.reach import class_table, isolated, never_alone, value_table
from conceptlab.worlds.inspection.signal import NeighbourSignal, neighbour_signals
from conceptlab.worlds.labelled import LabelledWorld, load

__all__ = [
    "Advice",
    "Duplicates",
    "Inspection",
    "NeighbourSignal",
    "advise",
    "class_table",
    "find_duplicates",
    "inspect",
    "isolated",
    "neighbour_signals",
    "never_alone",
    "satisfied",
    "value_table",
]

_MOST_PAIRS = 1000
_MOST_HELD_OUT = 6


@dataclass(frozen=True)
class Inspection:
    """Tables of what is there, what is missing, what cannot be told apart, and what to expect."""

    world: LabelledWorld
    images: int
    left_out: int  # images that belong to no class
    classes: pd.DataFrame
    values: pd.DataFrame
    variables: pd.DataFrame
    duplicates: Duplicates
    advice: Advice

    @property
    def missing(self) -> pd.DataFrame:
        """Classes without images, in the order in which they are expected to come."""
        return self.classes[self.classes["count"] == 0].sort_values(["effort", "class"])

    @property
    def to_hold_out(self) -> list[str]:
        """Classes for a first run to ask for unseen: the nearest of the missing ones; where none is missing, the last
        that has images enough to be judged by. Where there is but one variable nothing can be composed."""
        if len(self.world.space.concepts) < 2:
            return []
        if len(self.missing):
            return self.missing["class"].head(_MOST_HELD_OUT).tolist()
        few = self.world.too_few()
        enough = [cls for cls in self.world.space if cls not in few]
        return [self.world.space.code(cls) for cls in enough[-1:]]

    @property
    def to_show(self) -> list[str]:
        """Classes for a first run to be trained on, where not simply all but those held out can be."""
        few, held_out = self.world.too_few(), self.to_hold_out
        shown = [self.world.space.code(cls) for cls in self.world.seen if cls not in few]
        return [code for code in shown if code not in held_out] if few else []

    @property
    def bottleneck(self) -> str:
        """The variable expected to be learnt last."""
        return str(self.variables.sort_values("rank")["variable"].iloc[-1])

    @property
    def problems(self) -> list[str]:
        """What should be mended before training, a sentence each."""
        found = []
        few = self.world.too_few()
        if len(few):
            listed = [f"{self.world.space.code(cls)} ({count})" for cls, count in few.items()]
            shown = ", ".join(listed[:6])
            more = f" and {len(few) - 6} more" if len(few) > 6 else ""
            found.append(
                f"classes with too few different images ({len(few)}): {shown}{more}. A probe needs one to learn from "
                "and one to be examined on, besides the model's: collect more, or name other classes with --train and "
                "--test."
            )
        conflicts = self.duplicates.conflicts
        if len(conflicts):
            shown = "; ".join(
                f"{row['first']} and {row['second']}" for _, row in conflicts.head(3).iterrows()
            )
            more = f"; and {len(conflicts) - 3} more" if len(conflicts) > 3 else ""
            found.append(
                f"equal images with different labels ({len(conflicts)}): {shown}{more}. Correct the labels."
            )
        return found

    def _first_pairs(self) -> pd.DataFrame:
        """The pairs of equal images that are written out, those to look at first: a rendered set may hold hundreds of
        thousands."""
        return self.duplicates.by_weight.head(_MOST_PAIRS).drop(columns="rows")

    def to_json(self) -> dict[str, Any]:
        """Everything as plain data; numbers that do not exist are null."""
        code = self.world.space.code
        return {
            "data": self.world.where,
            "fingerprint": self.world.fingerprint,
            "images": self.images,
            "left_out": self.left_out,
            "order": self.world.space.order,
            "classes": _records(self.classes),
            "values": _records(self.values),
            "variables": _records(self.variables),
            "bottleneck": self.bottleneck,
            "duplicate_pairs": len(self.duplicates.pairs),
            "duplicates": _records(self._first_pairs()),
            "compared": self.duplicates.compared,
            "collect": [code(cls) for cls in self.advice.classes],
            "collect_proven": self.advice.proven,
            "problems": self.problems,
        }


def inspect(world: LabelledWorld) -> Inspection:
    """Look at everything. Nothing is trained, and nothing is written but the cache of decoded images."""
    loaded, space, counts = load(world), world.space, world.counts()
    present = [cls for cls, count in counts.items() if count]
    values = value_table(space, counts)
    variables = _variable_table(world, values, present)
    classes = class_table(space, counts)
    classes["effort"] = _efforts(world, present, variables)
    return Inspection(
        world,
        len(loaded.names),
        loaded.left_out,
        classes,
        values,
        variables,
        find_duplicates(loaded, space.names),
        advise(space, present),
    )


def _variable_table(world: LabelledWorld, values: pd.DataFrame, present: list[Class]) -> pd.DataFrame:
    """A row for each variable with its signal and its `strength`, by which it is expected to be learnt.

    In yang2025's model a concept is learnt at a rate that grows with the variance it adds to the data. With values of
    shares p and a squared distance s between their images this is ½(1 - Σp²)·s: signal times how evenly it is seen.
    """
    signals = neighbour_signals(world)
    lost = never_alone(world.space, present)
    rows = []
    for name in world.space.names:
        shares = values.loc[values["variable"] == name, "share"].to_numpy()
        signal = signals.get(name)
        evenness = 0.5 * float(1 - (shares**2).sum())
        rows.append(
            {
                "variable": name,
                "values": len(shares),
                "alone": name not in lost,
                "signal": signal.value if signal else math.nan,
                "error": signal.standard_error if signal else math.nan,
                "across": signal.across if signal else math.nan,
                "within": signal.within if signal else math.nan,
                "evenness": evenness,
                "strength": evenness * max(signal.value, 0.0) if signal else math.nan,
            }
        )
    table = pd.DataFrame(rows)
    # What cannot be measured, because it never varies alone, cannot be learnt by itself either: it comes last.
    table["rank"] = table["strength"].rank(ascending=False, method="first", na_option="bottom").astype(int)
    return table


def _efforts(world: LabelledWorld, present: list[Class], variables: pd.DataFrame) -> list[float]:
    """Each class's distance to the data with variables weighted by how hard they are: the mean strength over their own.
    Infinite for what differs in a variable that cannot be told apart."""
    strength = variables["strength"].fillna(0.0).to_numpy()
    mean = strength[strength > 0].mean() if (strength > 0).any() else 1.0
    cost = [mean / s if s > 0 else math.inf for s in strength]
    return [
        min(sum(c for c, x, y in zip(cost, cls, seen) if x != y) for seen in present) for cls in world.space
    ]


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(k): _plain(v) for k, v in row.items()} for row in table.to_dict(orient="records")]


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value.item() if hasattr(value, "item") else value
