"""What okawa2023 claims about training data: Figures 8 and 9, `threshold` and `finetune`."""

from __future__ import annotations

import math

import numpy as np

from conceptlab.claims import (
    DIFFERENCE,
    SHARE,
    NoData,
    PerSeed,
    Tables,
    accuracy_resolution,
    ratio,
    smallest,
    value_per_seed,
)
from conceptlab.studies.emergence_claims import THRESHOLD
from conceptlab.studies.okawa2023.claim_parts import AT, LATER, claim_of, rows_of
from conceptlab.studies.okawa2023.recipes import ADVERSARIAL
from conceptlab.studies.okawa2023.tables import times_by

_HALF = 0.5
"""A class that more than half of its drawings get right is repaired; one that is drawn as a triangle more often than
not is misgeneralised."""
_FORGOTTEN = 0.1
"""A class is partly overwritten if its accuracy falls by more than this."""
_IMAGES = 200
"""Final images of a class in members of sweeps, at paper scale."""
_NUMBER_RESOLUTION = math.log(100) / 7 / math.sqrt(12)
"""Of a critical number, on the log scale: it lies anywhere between two of the numbers tried, of which seven steps lead
from 3 to 300 (a uniform error has a standard deviation of 1/√12 of its width)."""


# --- Figure 8, threshold ---


def _out_of_distribution(tables: Tables) -> PerSeed:
    """Critical number of classes never seen over that of the class itself, the smaller over colour and shape."""
    found = []
    for series in ("001", "100"):
        numbers = times_by(
            rows_of(tables["critical"], f"no series {series}", series=series, variable=""), "role"
        )
        found.append(ratio(numbers["out"], numbers["in"]))
    return smallest(found)


def _own_variable(tables: Tables) -> dict[str, PerSeed]:
    """Critical numbers of each variable in the class that teaches it."""
    own = rows_of(tables["critical"], "no sweep of sample numbers", role="in")
    return times_by(own[own["variable"] == own["teaches"]], "teaches")


def _colour_before_shape(tables: Tables) -> PerSeed:
    numbers = _own_variable(tables)
    return ratio(numbers["shape"], numbers["colour"])


def _ten(tables: Tables) -> PerSeed:
    return _own_variable(tables)["colour"].map_increasing(lambda number: number / 10)


def _threshold_error(tables: Tables) -> PerSeed:
    """Typical factor between predicted and measured critical numbers of shape and size; never reached is unknown."""
    rows = rows_of(tables["predicted"], "no series of shape or size", teaches=("shape", "size"))
    factor = np.abs(np.log(rows["time"].clip(lower=1.0) / rows["predicted"]))
    return value_per_seed(rows.assign(value=factor)).map_increasing(np.exp)


# --- Figure 9, finetune ---

_OURS = {"set": " ".join(ADVERSARIAL), "rate": 1.0}
_WRONG = ("010", "011")
_KEPT = "old data kept"


def _misgeneralises(tables: Tables) -> PerSeed:
    """The share of triangles among drawings of small circles, before fine-tuning; not what is no circle, which may be
    nothing at all."""
    drawn = rows_of(tables["drawn"], "no adversarial member", **_OURS, mode="before", cls=_WRONG)
    triangles = drawn.assign(value=drawn["value"].where(drawn["drawn"].str.startswith("1"), 0.0))
    return value_per_seed(triangles.groupby(["seed", "class"], as_index=False).agg({"value": "sum"}))


def _unrepaired(tables: Tables) -> PerSeed:
    """Small circles after adding 101, those that were misgeneralised before: what was right needs no repair. A seed
    that has none has no value."""
    finals = rows_of(tables["finals"], "no adversarial member", **_OURS)
    before = rows_of(finals, "no adversarial member", mode="before", cls=_WRONG)
    after = rows_of(finals, "no member was fine-tuned with 101 and the old data", mode=_KEPT, added="101")
    wrong = before[before["value"] < _HALF][["seed", "class"]].merge(after, on=["seed", "class"])
    if wrong.empty:
        raise NoData("no class was misgeneralised before fine-tuning")
    return PerSeed.exact(wrong.groupby("seed")["value"].mean().reindex(finals["seed"].unique()))


def _overwritten(tables: Tables) -> PerSeed:
    """How much accuracy falls when 010 or 011 is added and the old data are kept, of all that was drawn right before,
    trained or not, but for what is added."""
    finals = rows_of(tables["finals"], "no adversarial member", **_OURS)
    before = rows_of(finals, "no adversarial member", mode="before")
    right = before[before["value"] >= THRESHOLD][["seed", "class", "value"]]
    after = rows_of(finals, "no fine-tuned member", mode=_KEPT, added=("010", "011"))
    both = right.merge(after[after["class"] != after["added"]], on=["seed", "class"], suffixes=("", "_after"))
    if both.empty:
        raise NoData(f"no class was drawn right ({THRESHOLD}) before fine-tuning")
    fall = (both["value"] - both["value_after"]).groupby([both["seed"], both["added"]]).mean()
    # A seed without one of the two has no value: the mean over what is left would be another number.
    seeds = finals["seed"].unique()
    return PerSeed.exact(fall.unstack().reindex(seeds).mean(axis=1, skipna=False))


def _repaired_anywhere(tables: Tables) -> PerSeed:
    """The largest mean accuracy, over adversarial sets and rates, that fine-tuning with the old data kept gives to
    classes which were misgeneralised before and are not what was added."""
    unseen = rows_of(tables["finals"], "no fine-tuned member", role="unseen")
    before = rows_of(unseen, "no adversarial member", mode="before")
    wrong = before[before["value"] < _HALF][["seed", "set", "class"]]
    after = wrong.merge(rows_of(unseen, "no fine-tuned member", mode=_KEPT), on=["seed", "set", "class"])
    if after.empty:
        raise NoData("no class was misgeneralised before fine-tuning")
    mean = after.groupby(["seed", "set", "rate"])["value"].mean()
    return PerSeed.exact(mean.groupby(level="seed").max().reindex(tables["finals"]["seed"].unique()))


FIG8 = (
    claim_of(
        "fig8", "out-of-distribution", "Composing a concept needs more samples of it than drawing it does.",
        f"critical number of samples {AT}: unseen classes over the class itself, smaller of colour and shape",
        measure=_out_of_distribution,
        # A mean over three unseen classes against one number.
        **LATER | {"resolution": math.sqrt(4 / 3) * _NUMBER_RESOLUTION},
    ),
    claim_of(
        "fig8", "colour-before-shape", "Colour is learnt from fewer samples than shape.",
        f"critical number of samples {AT}: shape over colour", measure=_colour_before_shape,
        **LATER | {"resolution": math.sqrt(2) * _NUMBER_RESOLUTION},
    ),
    claim_of(
        "fig8", "ten", "About ten samples are enough for colour.",
        f"critical number of samples of colour {AT} over 10, within half an order of magnitude",
        measure=_ten, threshold=math.sqrt(10), side="within", transform="log", resolution=_NUMBER_RESOLUTION,
    ),
)  # fmt: skip

FIG9 = (
    claim_of(
        "fig9", "misgeneralises", "Trained on small triangles only, the model draws small circles as triangles.",
        "share of triangles among drawings of 010 and 011", measure=_misgeneralises, threshold=_HALF, side="above",
        resolution=accuracy_resolution(_HALF, 2 * _IMAGES), limits=SHARE,
    ),
    claim_of(
        "fig9", "not-repaired", "Adding 101 to the old data does not repair it.",
        "final accuracy of 010 and 011, where below .5 before, after fine-tuning with 101, old data kept",
        measure=_unrepaired, threshold=_HALF, side="below", limits=SHARE,
        resolution=accuracy_resolution(_HALF, 2 * _IMAGES),
    ),
    claim_of(
        "fig9", "overwrites", "Adding 010 or 011 overwrites what was learnt, though the old data are kept.",
        f"fall of the mean accuracy of classes right before {AT}, but the added one, by fine-tuning with 010 or 011, "
        "old data kept",
        measure=_overwritten, threshold=_FORGOTTEN, side="above",
        resolution=accuracy_resolution(_FORGOTTEN, 4 * _IMAGES), limits=DIFFERENCE,
    ),
)  # fmt: skip

FINETUNE = (
    claim_of(
        "finetune", "insufficient", "Fine-tuning repairs no kind of misgeneralisation, whatever the rate.",
        "largest mean accuracy, over sets and rates, of classes misgeneralised before and still unseen, old data kept",
        measure=_repaired_anywhere, threshold=_HALF, side="below", limits=SHARE,
        resolution=accuracy_resolution(_HALF, 3 * _IMAGES),
    ),
)  # fmt: skip

THRESHOLDS = (
    claim_of(
        "threshold", "predicted", "Concept signal tells the critical number of samples before training.",
        "typical factor between predicted and measured critical numbers of shape and size",
        measure=_threshold_error, threshold=2.0, side="below", transform="log",
        resolution=_NUMBER_RESOLUTION,
    ),
)  # fmt: skip
