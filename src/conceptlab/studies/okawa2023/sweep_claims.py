"""What the text of okawa2023 claims or asks without a figure: `frequency`, `centres`, `correlation`, `distance`,
`ablation`."""

from __future__ import annotations

import math

import numpy as np

from conceptlab.claims import (
    CORRELATION,
    NoData,
    PerSeed,
    Tables,
    accuracy_resolution,
    correlation,
    correlation_difference,
    ratio,
    slope,
    smallest,
)
from conceptlab.studies.okawa2023.claim_parts import AT, LATER, claim_of, order_of, rows_of
from conceptlab.studies.okawa2023.recipes import RARE
from conceptlab.studies.okawa2023.tables import times_by

_ONE_SWAP = 0.1
"""Spearman's ρ over five settings falls by this when two neighbours swap (over six by .06). Its interval is on ρ
itself: on Fisher's scale one swap from perfect order is half of all there is, and no three seeds could decide."""

_SLOPE_RESOLUTION = accuracy_resolution(0.5, 1280) / math.sqrt(0.625)
"""Of a slope over five correlations from 0 to 1, each measured on four classes of 32 images at ten evaluations or more
since the model draws; taken at an accuracy of one half, the most uncertain."""


def _delay(tables: Tables) -> PerSeed:
    """Spearman's ρ of the share of draws with the emergence time of unseen classes that need the rare value."""
    rows = rows_of(tables["times"], "no sweep of shares", way=("drawn rarely", "base"), role="out")
    logs = rows.assign(time=np.log(rows["time"].fillna(math.inf)))
    by_share = logs.groupby(["seed", "share"])["time"]
    # With some classes never reached and others early, where the share ranks is not known.
    never = by_share.agg(lambda times: np.isinf(times).mean())
    mean = by_share.mean().where(never.isin((0, 1))).reset_index()
    return correlation(mean, "share", "time")


def _cost_of_composing(tables: Tables) -> PerSeed:
    """Times of unseen classes over that of the rare class itself, over all shares below the base's."""
    times = times_by(rows_of(tables["times"], "no sweep of shares", way="drawn rarely"), "role")
    return ratio(times["out"], times["in"])


def _balancing(tables: Tables) -> PerSeed:
    """Times of unseen classes, drawn as they come over drawn evenly, on the same rare images."""
    rows = rows_of(tables["times"], "no sweep of shares", way=("natural", "balanced"), role="out")
    times = times_by(rows, "way")
    return ratio(times["natural"], times["balanced"])


def _order_everywhere(tables: Tables, by: str) -> PerSeed:
    return smallest([order_of(rows) for _, rows in tables["times"].groupby(by)])


def _leaves_product(tables: Tables) -> PerSeed:
    """Signed: values that are tied come together, so in classes against the correlation one is right at the expense of
    the other, and the joint accuracy lies below the product. A difference without sign grows with noise alone, and a
    rank takes a thousandth, which no number of images here resolves, for as much as a half."""
    return slope(tables["departures"], "correlation", "value")


def _beyond_hamming(tables: Tables) -> PerSeed:
    """How much better the weighted distance ranks the times of held-out classes, over all centres, than Hamming's does.
    It breaks ties of the latter and never reverses its order, so a signal that does not matter makes it worse."""
    times = tables["times"]
    held_out = times[times["distance"] > 0]
    if held_out.empty:
        raise NoData("no class is held out")
    known = held_out.assign(time=held_out["time"].fillna(math.inf))
    return correlation_difference(known, "weighted", "distance", "time")


FREQUENCY = (
    claim_of(
        "frequency", "delay", "The rarer a concept is drawn, the more steps its unseen combinations take.",
        f"Spearman correlation of the share of draws with the emergence time {AT} of unseen classes",
        measure=_delay, threshold=0.0, side="below", resolution=_ONE_SWAP, limits=CORRELATION,
    ),
    claim_of(
        "frequency", "composing", "Composing a rare concept takes more steps than drawing it as it was seen.",
        f"emergence time {AT}: unseen classes over class {RARE}, all shares below a quarter",
        measure=_cost_of_composing, **LATER,
    ),
    claim_of(
        "frequency", "balancing", "Balanced sampling is a remedy for rarity.",
        f"emergence time {AT} of unseen classes: natural over balanced sampling of the same images",
        measure=_balancing, **LATER,
    ),
)  # fmt: skip

CENTRES = (
    claim_of(
        "centres", "on-average", "Averaged over all centres of the training set, the order is that of distance.",
        f"smallest ratio of consecutive emergence times {AT} over distances, mean over centres",
        measure=lambda tables: order_of(tables["times"]), **LATER,
    ),
    claim_of(
        "centres", "everywhere", "The order is that of distance whichever corner is the centre.",
        f"smallest ratio of consecutive emergence times {AT} over distances and centres",
        measure=lambda tables: _order_everywhere(tables, "centre"), **LATER,
    ),
)  # fmt: skip

CORRELATION = (
    claim_of(
        "correlation", "leaves-product",
        "Correlated concepts no longer multiply: what goes against the correlation falls below the product.",
        "slope of joint accuracy - product, classes against it, over the training correlation",
        measure=_leaves_product, threshold=0.0, side="below", resolution=_SLOPE_RESOLUTION,
    ),
)  # fmt: skip

DISTANCE = (
    claim_of(
        "distance", "beyond-hamming", "Concept signal tells apart what Hamming distance does not.",
        "Spearman correlation with the emergence time of held-out classes: of signal-weighted distance from the centre "
        "of training minus of Hamming distance",
        measure=_beyond_hamming, threshold=0.0, side="above",
    ),
)  # fmt: skip

ABLATION = (
    claim_of(
        "ablation", "order", "The order of emergence survives every switch that paper and code disagree on.",
        f"smallest ratio of consecutive emergence times {AT} over distances and switches",
        measure=lambda tables: _order_everywhere(tables, "switch"), **LATER,
    ),
)  # fmt: skip
