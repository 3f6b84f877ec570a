"""Signatures of failure: does a member fail, and how? A row for each member, summed up for terminal and report."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from conceptlab.concepts import Split
from conceptlab.measures import chance_variation, emergence_time, prompt_variation
from conceptlab.store import Member, Signature, gather
from conceptlab.studies.emergence_claims import THRESHOLD, begun
from conceptlab.studies.okawa2023.tables import Label, joint, plain, silent_before
from conceptlab.studies.study import Results, Tables

_NO_GAP = 0.1  # additive and multiplicative accuracy that never differ by more tell the same story
# Which of two prompts an image was drawn for could be told right in 55 % of images, where a guess is in 50 %.
_SAME = 0.1
_NOTHING = "nothing to compare"


def signatures(results: Results, label: Label = plain) -> pd.DataFrame:
    """For every member: does it fail, and how?

    - held-out classes at chance: which of them are drawn no better than by guessing, or no more often when they are
      asked for than when another class is;
    - no gap: additive and multiplicative accuracy of the furthest class never differ by more than .1 on its way;
    - no delay: no rare value of a variable is drawn right later than the common one at the same distance;
    - same for all: what is drawn for two training classes differs by no more than .1 beyond chance in the end;
    - what the worst held-out class was drawn as instead, and how often.

    What was trained before fine-tuning counts as trained. Where there is nothing to compare, a number is missing.
    """
    rows = []
    for member in results.members:
        found = label(member.recipe)
        if found is not None:
            rows.append({"seed": member.recipe.seed, **found, **_signature(member)})
    return pd.DataFrame(rows)


def _signature(member: Member) -> dict[str, Any]:
    split, space = _trained(member), member.world.space
    distance = {space.code(cls): split.distance(cls) for cls in space}
    curves = gather([member]).query("weights == 'raw'")
    curves = curves.assign(distance=curves["class"].map(distance))
    draws = begun(curves)
    drawing = curves[draws]
    last = curves[curves["step"] == curves["step"].max()]
    accuracy = joint(last).set_index("class")["value"]
    held_out = [code for code, far in distance.items() if far]
    furthest = max(distance, key=lambda code: (distance[code], code))
    evaluation = member.recipe.evaluation
    images = evaluation.final_images or evaluation.images
    lost = at_chance(last, held_out, images)
    variation, chance = _variation(last, [code for code, far in distance.items() if not far], images)
    gap = _gap(drawing, furthest) if held_out else math.nan
    delay = _largest_delay(silent_before(curves, draws), split)
    worst = min(held_out, key=lambda code: accuracy[code]) if held_out else furthest
    instead, share = _instead(last, worst)
    return {
        "held_out": float(accuracy[held_out].mean()) if held_out else math.nan,
        "held_out_classes": len(held_out),
        "chance": 1 / len(space),
        "at_chance": bool(lost),
        "classes_at_chance": " ".join(lost),
        "gap": gap,
        "no_gap": bool(gap <= _NO_GAP),
        "rare_delay": delay,
        "no_delay": bool(delay <= 1),
        "prompt_variation": variation,
        "chance_variation": chance,
        "same_for_all": bool(variation <= _SAME + chance),
        "worst": worst,
        "worst_accuracy": float(accuracy[worst]),
        "drawn_instead": instead,
        "drawn_share": share,
    }


def _trained(member: Member) -> Split:
    """All that the model was ever trained on: before fine-tuning, too."""
    recipe, counts = member.recipe, dict(member.recipe.train)
    while (recipe := recipe.before) is not None:
        counts = dict(recipe.train) | counts
    return Split(member.world.space, counts)


def at_chance(last: pd.DataFrame, held_out: Sequence[str], images: int) -> list[str]:
    """The classes that are drawn right no more often than a guess among all of them would be, up to two standard errors
    of so many images, or no more often when they are asked for than when others are: a class that everything is drawn
    as is not drawn for being asked for. A mean over classes would hide those that fail behind those that do not."""
    accuracy = joint(last).set_index("class")["value"]
    chance = 1 / len(accuracy)
    guessed = chance + 2 * math.sqrt(chance * (1 - chance) / images)
    drawn = last[last["measure"] == "drawn"].pivot_table(index="class", columns="variable", values="value")
    drawn = drawn.fillna(0.0)  # what never happened has no row
    lost = [code for code in held_out if accuracy[code] <= guessed]
    for code in set(held_out) & set(drawn.index) & set(drawn.columns):
        if drawn[code][code] <= drawn[code].drop(code).mean():
            lost.append(code)
    return sorted(set(lost))


def _variation(last: pd.DataFrame, seen: Sequence[str], images: int) -> tuple[float, float]:
    """How much what is drawn differs between training classes that are asked for, and how much so many images of one
    mixture differ by chance. Held-out classes are left out: a network that follows its prompt may draw them all as one
    that it knows."""
    drawn = last[(last["measure"] == "drawn") & last["class"].isin(seen)]
    shares = drawn.pivot_table(index="class", columns="variable", values="value").fillna(0.0).to_numpy()
    if len(shares) < 2:
        return math.nan, math.nan
    return prompt_variation(shares), chance_variation(shares, images)


def _gap(curves: pd.DataFrame, cls: str) -> float:
    """The largest difference while the class emerges, on curves that begin when the model draws. NaN where it does not
    emerge: because it is there from the first evaluation on, or because so little of it is drawn right that there is
    no room for a gap."""
    own = curves[(curves["class"] == cls) & (curves["variable"] == "")]
    wide = own.pivot_table(index="step", columns="measure", values="value")
    if wide.empty or wide["accuracy"].iloc[0] >= THRESHOLD or wide["additive"].max() <= _NO_GAP:
        return math.nan
    return float((wide["additive"] - wide["accuracy"]).max())


def _largest_delay(curves: pd.DataFrame, split: Split) -> float:
    """The largest over variables of how many times later classes with the rare value show it than others at the same
    distance from training, mean over distances; infinite where only the rare one is never learnt, NaN where there is
    nothing to compare."""
    ratios = []
    for place, variable in enumerate(split.space.concepts):
        shares = [split.frequency(variable.name, value) for value in range(len(variable.values))]
        if min(shares) == max(shares):
            continue
        own = curves[(curves["measure"] == "accuracy") & (curves["variable"] == variable.name)]
        ends = str(int(np.argmin(shares))), str(int(np.argmax(shares)))
        found = [_delay(rows, place, *ends) for _, rows in own.groupby("distance")]
        ratios.append(np.log([ratio for ratio in found if not math.isnan(ratio)]))
    means = [float(np.exp(logs.mean())) for logs in ratios if len(logs)]
    return max(means) if means else math.nan


def _delay(curves: pd.DataFrame, place: int, rare: str, common: str) -> float:
    """The ratio of two times, among classes that have the rare and the common value at a place of their code. NaN where
    one of them has no class or the common one is never learnt, and where both are there from the first evaluation on:
    which was first is not known then."""
    times = []
    for value in (rare, common):
        mean = curves[curves["class"].str[place] == value].groupby("step")["value"].mean()
        if mean.empty:
            return math.nan
        times.append(emergence_time(mean.index.to_numpy(), mean.to_numpy(), THRESHOLD))
    late, early = times
    if math.isnan(early) or late == early == curves["step"].min():
        return math.nan
    return math.inf if math.isnan(late) else late / early


def _instead(last: pd.DataFrame, asked: str) -> tuple[str, float]:
    """The class that was drawn most often when another one was asked for."""
    drawn = last[(last["measure"] == "drawn") & (last["class"] == asked) & (last["variable"] != asked)]
    if drawn.empty:
        return "", 0.0
    shares = drawn.set_index("variable")["value"]
    return str(shares.idxmax()), float(shares.max())


# --- summed up over the members of a figure ---


def summary(tables: Tables) -> list[Signature]:
    """Five signatures from the table of that name; none for figures that train nothing. A member counts where there is
    something to tell: without held-out classes, with all values equally frequent, with everything drawn right from the
    first evaluation on, or with a single training class there is not."""
    rows = tables.get("signatures")
    if rows is None or rows.empty:
        return []
    if "prompt_variation" not in rows:  # kept before it was looked for
        rows = rows.assign(prompt_variation=math.nan, chance_variation=math.nan, same_for_all=False)
    tested, compared = rows[rows["held_out"].notna()], rows[rows["rare_delay"].notna()]
    emerging, asked = rows[rows["gap"].notna()], rows[rows["prompt_variation"].notna()]
    gap = delay = same = _NOTHING
    if len(emerging):
        gap = f"largest gap {_range(emerging['gap'])}"
    if len(compared):
        delay = f"learnt at {_range(compared['rare_delay'])} times the step of common ones"
        if np.isinf(compared["rare_delay"]).all():
            delay = "never learnt, while common ones were"
    if len(asked):
        drawn, chance = _range(asked["prompt_variation"]), _range(asked["chance_variation"])
        same = f"what is drawn differs between training classes by {drawn} (by chance {chance})"
    return [
        _counted("held-out classes at chance", tested["at_chance"], _lost(tested)),
        _counted("no additive/multiplicative gap", emerging["no_gap"], gap),
        _counted("no delay of rare values", compared["no_delay"], delay),
        _counted("the same drawn whatever is asked for", asked["same_for_all"], same),
        _counted(
            "worst held-out class mostly drawn as something else, or not at all",
            tested["drawn_share"] > tested["worst_accuracy"],
            _drawn_as(tested),
        ),
    ]


def _lost(rows: pd.DataFrame) -> str:
    """`6 … 8 of 11 held-out classes: 0101, 1001 in 5, 0111 in 3 members`: the most frequent first."""
    if rows.empty:
        return _NOTHING
    each = [codes.split() for codes in rows["classes_at_chance"]]
    of = _ends(sorted(rows["held_out_classes"].unique()))
    if not rows["at_chance"].any():
        return f"none of {of} held-out classes"
    numbers = Counter(code for codes in each for code in codes)
    named = f"{_ends(sorted(map(len, each)))} of {of} held-out classes"
    if len(rows) == 1:
        return f"{named}: {', '.join(numbers)}"
    alike: dict[int, list[str]] = defaultdict(list)
    for code in sorted(numbers):
        alike[numbers[code]].append(code)
    parts = [f"{', '.join(alike[number])} in {number}" for number in sorted(alike, reverse=True)]
    return f"{named}: {', '.join(parts)} of {len(rows)} members"


def _ends(numbers: Sequence[int]) -> str:
    """`6 … 8`, or one number where all are the same."""
    return " … ".join(dict.fromkeys((str(numbers[0]), str(numbers[-1]))))


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
