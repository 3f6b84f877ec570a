"""The tables that all figures of okawa2023 share: labelled curves, emergence times, and the signatures of failure."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from conceptlab.claims import PerSeed, group_times
from conceptlab.concepts import Split
from conceptlab.measures import emergence_table, emergence_time
from conceptlab.recipe import Recipe
from conceptlab.store import Member, gather
from conceptlab.studies.okawa2023.settings import THRESHOLD
from conceptlab.studies.study import Results

Label = Callable[[Recipe], Mapping[str, Any] | None]
"""What a member is in a sweep, as columns; None where it does not belong."""

COLUMNS = ["seed", "step", "class", "distance", "variable", "measure", "value"]
_NO_GAP = 0.1  # additive and multiplicative accuracy that never differ by more tell the same story


def plain(recipe: Recipe) -> Mapping[str, Any]:
    return {}


def labelled(results: Results, label: Label = plain) -> pd.DataFrame:
    """All measurements of the raw weights of the members that belong, with their labels as columns."""
    parts = []
    for member in results.members:
        found = label(member.recipe)
        if found is not None:
            rows = gather([member]).query("weights == 'raw'")
            parts.append(rows[COLUMNS].assign(**found))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COLUMNS)


def at_common_steps(curves: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Only the evaluations that all members have, which `by` tells apart: times read off finer curves are earlier."""
    steps = [set(own["step"]) for _, own in curves.groupby(["seed", *by])]
    return curves[curves["step"].isin(set.intersection(*steps))].reset_index(drop=True)


def shown(curves: pd.DataFrame) -> pd.DataFrame:
    """The rows that pictures are drawn from: without what was drawn in place of what."""
    return curves[curves["measure"] != "drawn"].reset_index(drop=True)


def joint(curves: pd.DataFrame, measure: str = "accuracy") -> pd.DataFrame:
    """Accuracies of whole classes (Eq. 2), or another measure of them."""
    return curves[(curves["measure"] == measure) & (curves["variable"] == "")]


def final(curves: pd.DataFrame, by: Sequence[str] = ("seed",)) -> pd.DataFrame:
    """The rows of each member's last evaluation; `by` names what tells members apart."""
    last = curves.groupby(list(by))["step"].transform("max")
    return curves[curves["step"] == last]


def emergence(curves: pd.DataFrame, by: Sequence[str] = (), measure: str = "accuracy") -> pd.DataFrame:
    """When each class emerges in each seed and setting; `first` and `last` bound what could be seen."""
    found = emergence_table(
        curves.assign(weights="raw"), THRESHOLD, by=["seed", *by, "class", "distance"], measure=measure
    )
    return found.assign(first=float(curves["step"].min()))


def variable_emergence(curves: pd.DataFrame, by: Sequence[str] = ()) -> pd.DataFrame:
    """When each variable of each class emerges by itself."""
    single = curves[(curves["measure"] == "accuracy") & (curves["variable"] != "")]
    parts = [
        emergence(rows.assign(variable=""), by).assign(variable=variable)
        for variable, rows in single.groupby("variable")
    ]
    return pd.concat(parts, ignore_index=True)


def times_by(times: pd.DataFrame, by: str = "distance") -> dict[Any, PerSeed]:
    """Emergence times of groups of classes, censored at the first and the last evaluation."""
    return group_times(times, by=by, first=float(times["first"].min()), last=float(times["last"].max()))


# --- signatures of failure ---


def signatures(results: Results, label: Label = plain) -> pd.DataFrame:
    """For every member: does it fail, and how?

    - held-out classes at chance: their mean final accuracy is not above one in the number of classes;
    - no gap: additive and multiplicative accuracy of the furthest class never differ by more than .1;
    - no delay: no rare value of a variable is drawn right later than the common one;
    - what the worst held-out class was drawn as instead, and how often.
    """
    rows = []
    for member in results.members:
        found = label(member.recipe)
        if found is not None:
            rows.append({"seed": member.recipe.seed, **found, **_signature(member)})
    return pd.DataFrame(rows)


def _signature(member: Member) -> dict[str, Any]:
    curves = gather([member]).query("weights == 'raw'")
    split, space = member.split, member.world.space
    chance = 1 / len(space)
    last = joint(curves[curves["step"] == curves["step"].max()]).set_index("class")["value"]
    held_out = [space.code(cls) for cls in split.held_out]
    furthest = space.code(max(space, key=lambda cls: (split.distance(cls), cls)))
    gap = _gap(curves, furthest)
    delay = _largest_delay(curves, split)
    value = float(last[held_out].mean()) if held_out else math.nan
    worst = min(held_out, key=lambda code: last[code]) if held_out else furthest
    instead, share = _instead(curves, worst)
    return {
        "held_out": value,
        "chance": chance,
        "at_chance": bool(value <= chance),
        "gap": gap,
        "no_gap": bool(gap <= _NO_GAP),
        "rare_delay": delay,
        "no_delay": bool(delay <= 1),
        "worst": worst,
        "worst_accuracy": float(last[worst]),
        "drawn_instead": instead,
        "drawn_share": share,
    }


def _gap(curves: pd.DataFrame, cls: str) -> float:
    own = curves[(curves["class"] == cls) & (curves["variable"] == "")]
    wide = own.pivot_table(index="step", columns="measure", values="value")
    return float((wide["additive"] - wide["accuracy"]).max())


def _largest_delay(curves: pd.DataFrame, split: Split) -> float:
    """The largest ratio over variables of the time at which classes with the rare value show it to the time at which
    the others do; infinite where only the rare one is never learnt, NaN where there is nothing to compare."""
    space, ratios = split.space, []
    for place, variable in enumerate(space.concepts):
        shares = [split.frequency(variable.name, value) for value in range(len(variable.values))]
        own = curves[(curves["measure"] == "accuracy") & (curves["variable"] == variable.name)]
        if min(shares) == max(shares):
            continue
        rare, common = int(np.argmin(shares)), int(np.argmax(shares))
        times = {}
        for value in (rare, common):
            codes = [space.code(cls) for cls in space if cls[place] == value]
            mean = own[own["class"].isin(codes)].groupby("step")["value"].mean()
            times[value] = emergence_time(mean.index.to_numpy(), mean.to_numpy(), THRESHOLD)
        if not math.isnan(times[common]):
            ratios.append(math.inf if math.isnan(times[rare]) else times[rare] / times[common])
    return max(ratios) if ratios else math.nan


def _instead(curves: pd.DataFrame, asked: str) -> tuple[str, float]:
    """The class that was drawn most often when another one was asked for."""
    drawn = curves[
        (curves["measure"] == "drawn") & (curves["class"] == asked) & (curves["variable"] != asked)
    ]
    drawn = drawn[drawn["step"] == curves["step"].max()]
    if drawn.empty:
        return "", 0.0
    most = drawn.loc[drawn["value"].idxmax()]
    return str(most["variable"]), float(most["value"])
