"""What okawa2023 claims about training data (Figures 8, 9), and what its text claims or asks without a figure."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from conceptlab.claims import (
    SHARE,
    Claim,
    NoData,
    PerSeed,
    Tables,
    accuracy_resolution,
    correlation,
    difference,
    ordering,
    ratio,
    smallest,
    value_per_seed,
)
from conceptlab.studies.okawa2023.claims import TIME_RESOLUTION
from conceptlab.studies.okawa2023.recipes import ADVERSARIAL, RARE
from conceptlab.studies.okawa2023.settings import PAPER, THRESHOLD
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
_ONE_SWAP = 0.1
"""Spearman's ρ over five settings falls by this when two neighbours swap. Its interval is on ρ itself: on Fisher's
scale one swap from perfect order is half of all there is, and no three seeds could decide anything."""


def _rows(table: pd.DataFrame, why: str, **wanted: Any) -> pd.DataFrame:
    """The rows whose columns have a wanted value, or one of several; `cls` stands for the column `class`."""
    chosen = np.ones(len(table), dtype=bool)
    for name, value in wanted.items():
        column = table["class" if name == "cls" else name]
        chosen &= (column.isin(value) if isinstance(value, tuple) else column == value).to_numpy()
    if not chosen.any():
        raise NoData(why)
    return table[chosen]


# --- Figure 8, threshold ---


def _out_of_distribution(tables: Tables) -> PerSeed:
    """Critical number of classes never seen over that of the class itself, the smaller over colour and shape."""
    found = []
    for series in ("001", "100"):
        numbers = times_by(
            _rows(tables["critical"], f"no series {series}", series=series, variable=""), "role"
        )
        found.append(ratio(numbers["out"], numbers["in"]))
    return smallest(found)


def _own_variable(tables: Tables) -> dict[str, PerSeed]:
    """Critical numbers of each variable in the class that teaches it."""
    own = _rows(tables["critical"], "no sweep of sample numbers", role="in")
    return times_by(own[own["variable"] == own["teaches"]], "teaches")


def _colour_before_shape(tables: Tables) -> PerSeed:
    numbers = _own_variable(tables)
    return ratio(numbers["shape"], numbers["colour"])


def _ten(tables: Tables) -> PerSeed:
    return _own_variable(tables)["colour"].map_increasing(lambda number: number / 10)


def _threshold_error(tables: Tables) -> PerSeed:
    """Typical factor between predicted and measured critical numbers of shape and size; never reached is unknown."""
    rows = _rows(tables["predicted"], "no series of shape or size", teaches=("shape", "size"))
    factor = np.abs(np.log(rows["time"].clip(lower=1.0) / rows["predicted"]))
    return value_per_seed(rows.assign(value=factor)).map_increasing(np.exp)


# --- Figure 9, finetune ---

_OURS = {"set": " ".join(ADVERSARIAL), "rate": 1.0}
_WRONG = ("010", "011")
_KEPT = "old data kept"


def _misgeneralises(tables: Tables) -> PerSeed:
    """The share of triangles among drawings of small circles, before fine-tuning; not what is no circle, which may be
    nothing at all."""
    drawn = _rows(tables["drawn"], "no adversarial member", **_OURS, mode="before", cls=_WRONG)
    triangles = drawn.assign(value=drawn["value"].where(drawn["drawn"].str.startswith("1"), 0.0))
    return value_per_seed(triangles.groupby(["seed", "class"], as_index=False).agg({"value": "sum"}))


def _unrepaired(tables: Tables) -> PerSeed:
    why = "no member was fine-tuned with 101 and the old data"
    return value_per_seed(_rows(tables["finals"], why, **_OURS, mode=_KEPT, added="101", cls=_WRONG))


def _overwritten(tables: Tables) -> PerSeed:
    """How much accuracy of the old classes falls when 010 or 011 is added and the old data are kept."""
    old = _rows(tables["finals"], "no adversarial member", **_OURS, role="old")
    before = _rows(old, "no adversarial member", mode="before")
    after = _rows(old, "no fine-tuned member", mode=_KEPT, added=("010", "011"))
    return difference(value_per_seed(before), value_per_seed(after))


def _repaired_anywhere(tables: Tables) -> PerSeed:
    """The largest mean accuracy, over adversarial sets and rates, that fine-tuning with the old data kept gives to
    classes which were misgeneralised before and are not what was added."""
    unseen = _rows(tables["finals"], "no fine-tuned member", role="unseen")
    before = _rows(unseen, "no adversarial member", mode="before")
    wrong = before[before["value"] < _HALF][["seed", "set", "class"]]
    after = wrong.merge(_rows(unseen, "no fine-tuned member", mode=_KEPT), on=["seed", "set", "class"])
    if after.empty:
        raise NoData("no class was misgeneralised before fine-tuning")
    mean = after.groupby(["seed", "set", "rate"])["value"].mean()
    return PerSeed.exact(mean.groupby(level="seed").max().reindex(tables["finals"]["seed"].unique()))


# --- frequency, centres, correlation, distance, ablation ---


def _delay(tables: Tables) -> PerSeed:
    """Spearman's ρ of the share of draws with the emergence time of unseen classes that need the rare value."""
    rows = _rows(tables["times"], "no sweep of shares", way=("drawn rarely", "base"), role="out")
    logs = rows.assign(time=np.log(rows["time"].fillna(math.inf)))
    by_share = logs.groupby(["seed", "share"])["time"]
    # With some classes never reached and others early, where the share ranks is not known.
    never = by_share.agg(lambda times: np.isinf(times).mean())
    mean = by_share.mean().where(never.isin((0, 1))).reset_index()
    return correlation(mean, "share", "time")


def _cost_of_composing(tables: Tables) -> PerSeed:
    """Times of unseen classes over that of the rare class itself, over all shares below the base's."""
    times = times_by(_rows(tables["times"], "no sweep of shares", way="drawn rarely"), "role")
    return ratio(times["out"], times["in"])


def _balancing(tables: Tables) -> PerSeed:
    """Times of unseen classes, drawn as they come over drawn evenly, on the same rare images."""
    rows = _rows(tables["times"], "no sweep of shares", way=("natural", "balanced"), role="out")
    times = times_by(rows, "way")
    return ratio(times["natural"], times["balanced"])


def _order_on_average(tables: Tables) -> PerSeed:
    return ordering(list(times_by(tables["times"]).values()))


def _order_everywhere(tables: Tables, by: str) -> PerSeed:
    groups = tables["times"].groupby(by)
    return smallest([ordering(list(times_by(rows).values())) for _, rows in groups])


def _leaves_product(tables: Tables) -> PerSeed:
    return correlation(tables["departures"], "correlation", "value")


def _beyond_hamming(tables: Tables) -> PerSeed:
    """Spearman's ρ of weighted distance and time among classes at Hamming distance 1, over all centres."""
    near = _rows(tables["times"], "no class at distance 1", distance=1)
    return correlation(near.assign(time=near["time"].fillna(math.inf)), "weighted", "time")


def _claim(figure: str, name: str, statement: str, statistic: str, **settings: Any) -> Claim:
    return Claim(f"{PAPER}.{figure}.{name}", PAPER, figure, statement, statistic, **settings)


_LATER: dict[str, Any] = {
    "threshold": 1.0,
    "side": "above",
    "transform": "log",
    "resolution": TIME_RESOLUTION,
}
_AT = f"(accuracy {THRESHOLD})"

FIG8 = (
    _claim(
        "fig8", "out-of-distribution", "Composing a concept needs more samples of it than drawing it does.",
        f"critical number of samples {_AT}: unseen classes over the class itself, smaller of colour and shape",
        measure=_out_of_distribution,
        # A mean over three unseen classes against one number.
        **_LATER | {"resolution": math.sqrt(4 / 3) * _NUMBER_RESOLUTION},
    ),
    _claim(
        "fig8", "colour-before-shape", "Colour is learnt from fewer samples than shape.",
        f"critical number of samples {_AT}: shape over colour", measure=_colour_before_shape,
        **_LATER | {"resolution": math.sqrt(2) * _NUMBER_RESOLUTION},
    ),
    _claim(
        "fig8", "ten", "About ten samples are enough for colour.",
        f"critical number of samples of colour {_AT} over 10, within half an order of magnitude",
        measure=_ten, threshold=math.sqrt(10), side="within", transform="log", resolution=_NUMBER_RESOLUTION,
    ),
)  # fmt: skip

FIG9 = (
    _claim(
        "fig9", "misgeneralises", "Trained on small triangles only, the model draws small circles as triangles.",
        "share of triangles among drawings of 010 and 011", measure=_misgeneralises, threshold=_HALF, side="above",
        resolution=accuracy_resolution(_HALF, 2 * _IMAGES), limits=SHARE,
    ),
    _claim(
        "fig9", "not-repaired", "Adding 101 to the old data does not repair it.",
        "final accuracy of 010 and 011 after fine-tuning with 101, old data kept", measure=_unrepaired,
        threshold=_HALF, side="below", resolution=accuracy_resolution(_HALF, 2 * _IMAGES), limits=SHARE,
    ),
    _claim(
        "fig9", "overwrites", "Adding 010 or 011 overwrites what was learnt, though the old data are kept.",
        "fall of the old classes' mean accuracy by fine-tuning with 010 or 011, old data kept",
        measure=_overwritten, threshold=_FORGOTTEN, side="above",
        resolution=accuracy_resolution(_FORGOTTEN, 4 * _IMAGES),
    ),
)  # fmt: skip

FREQUENCY = (
    _claim(
        "frequency", "delay", "The rarer a concept is drawn, the more steps its unseen combinations take.",
        f"Spearman correlation of the share of draws with the emergence time {_AT} of unseen classes",
        measure=_delay, threshold=0.0, side="below", resolution=_ONE_SWAP,
    ),
    _claim(
        "frequency", "composing", "Composing a rare concept takes more steps than drawing it as it was seen.",
        f"emergence time {_AT}: unseen classes over class {RARE}, all shares below a quarter",
        measure=_cost_of_composing, **_LATER,
    ),
    _claim(
        "frequency", "balancing", "Balanced sampling is a remedy for rarity.",
        f"emergence time {_AT} of unseen classes: natural over balanced sampling of the same images",
        measure=_balancing, **_LATER,
    ),
)  # fmt: skip

CENTRES = (
    _claim(
        "centres", "on-average", "Averaged over all centres of the training set, the order is that of distance.",
        f"smallest ratio of consecutive emergence times {_AT} over distances, mean over centres",
        measure=_order_on_average, **_LATER,
    ),
    _claim(
        "centres", "everywhere", "The order is that of distance whichever corner is the centre.",
        f"smallest ratio of consecutive emergence times {_AT} over distances and centres",
        measure=lambda tables: _order_everywhere(tables, "centre"), **_LATER,
    ),
)  # fmt: skip

CORRELATION = (
    _claim(
        "correlation", "leaves-product", "Correlated concepts no longer multiply.",
        "Spearman correlation of the training correlation with |joint accuracy - product|, classes against it",
        measure=_leaves_product, threshold=0.0, side="above", resolution=_ONE_SWAP,
    ),
)  # fmt: skip

FINETUNE = (
    _claim(
        "finetune", "insufficient", "Fine-tuning repairs no kind of misgeneralisation, whatever the rate.",
        "largest mean accuracy, over sets and rates, of classes misgeneralised before and still unseen, old data kept",
        measure=_repaired_anywhere, threshold=_HALF, side="below", limits=SHARE,
        resolution=accuracy_resolution(_HALF, 3 * _IMAGES),
    ),
)  # fmt: skip

DISTANCE = (
    _claim(
        "distance", "beyond-hamming", "Concept signal tells apart what Hamming distance does not.",
        "Spearman correlation of signal-weighted distance with emergence time among classes at distance 1",
        measure=_beyond_hamming, threshold=0.0, side="above", transform="fisher",
    ),
)  # fmt: skip

THRESHOLDS = (
    _claim(
        "threshold", "predicted", "Concept signal tells the critical number of samples before training.",
        "typical factor between predicted and measured critical numbers of shape and size",
        measure=_threshold_error, threshold=2.0, side="below", transform="log",
        resolution=_NUMBER_RESOLUTION,
    ),
)  # fmt: skip

ABLATION = (
    _claim(
        "ablation", "order", "The order of emergence survives every switch that paper and code disagree on.",
        f"smallest ratio of consecutive emergence times {_AT} over distances and switches",
        measure=lambda tables: _order_everywhere(tables, "switch"), **_LATER,
    ),
)  # fmt: skip
