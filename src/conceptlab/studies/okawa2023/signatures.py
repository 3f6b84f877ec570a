"""Signatures of failure: does a member fail, and how? A row for each member, summed up for terminal and report."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from conceptlab.concepts import Split
from conceptlab.measures import emergence_time
from conceptlab.store import Member, Signature, gather
from conceptlab.studies.okawa2023.settings import THRESHOLD
from conceptlab.studies.okawa2023.tables import Label, credited, joint, plain
from conceptlab.studies.study import Results, Tables

_NO_GAP = 0.1  # additive and multiplicative accuracy that never differ by more tell the same story


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
    delay = _largest_delay(credited(curves), split)
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


# --- summed up over the members of a figure ---


def summary(tables: Tables) -> list[Signature]:
    """Four signatures from the table of that name; none for figures that train nothing. A member counts where there is
    something to tell: without held-out classes, or with all values equally frequent, there is not."""
    rows = tables.get("signatures")
    if rows is None or rows.empty:
        return []
    tested, compared = rows[rows["held_out"].notna()], rows[rows["rare_delay"].notna()]
    accuracy = delay = "nothing to compare"
    if len(tested):
        chance = ", ".join(f"{value:.3g}" for value in sorted(tested["chance"].unique()))
        accuracy = f"mean accuracy {_range(tested['held_out'])}; chance {chance}"
    if len(compared):
        delay = f"learnt at {_range(compared['rare_delay'])} times the step of common ones"
        if np.isinf(compared["rare_delay"]).all():
            delay = "never learnt, while common ones were"
    return [
        _counted("held-out classes at chance", tested["at_chance"], accuracy),
        _counted(
            "no additive/multiplicative gap",
            rows["no_gap"],
            f"largest gap {_range(rows['gap'])}",
        ),
        _counted("no delay of rare values", compared["no_delay"], delay),
        _counted(
            "worst held-out class mostly drawn as something else, or not at all",
            tested["drawn_share"] > tested["worst_accuracy"],
            _drawn_as(tested),
        ),
    ]


def _counted(name: str, shown: pd.Series, seen: str) -> Signature:
    return Signature(name, int(shown.sum()), len(shown), seen)


def _range(values: pd.Series) -> str:
    """`0.03 … 0.12`, or one number where both ends read the same."""
    ends = [f"{value:.2f}".replace("inf", "∞") for value in (values.min(), values.max())]
    return " … ".join(dict.fromkeys(ends))


def _drawn_as(rows: pd.DataFrame) -> str:
    """What the worst class was drawn as, in most members; the share is the mean over these."""
    wrong = rows[rows["drawn_instead"] != ""]
    if wrong.empty:
        return "nothing else was drawn"
    pairs = wrong.groupby(["worst", "drawn_instead"])["drawn_share"].agg(["size", "mean"])
    asked, drawn = most = pairs.sort_values(["size", "mean"]).index[-1]
    count, share = pairs.loc[most, "size"], pairs.loc[most, "mean"]
    return f"{asked} as {drawn} in {count:.0f} of {len(rows)} members, {share:.0%} of its images"
