"""What okawa2023 claims about emergence (Figures 5, 6, 7, 10, 13 and 16), with thresholds fixed beforehand.

Definitions avoid what is true by arithmetic: that a product is later than a mean is no finding, that it is more sudden
is; that a class is later than its slowest variable is no finding, that it comes with it is.
"""

from __future__ import annotations

import math

import numpy as np

from conceptlab.claims import (
    SHARE,
    Claim,
    NoData,
    PerSeed,
    Tables,
    accuracy_resolution,
    final_value,
    geometric_mean,
    ratio,
    value_per_seed,
)
from conceptlab.studies.emergence_claims import THRESHOLD
from conceptlab.studies.okawa2023.claim_parts import AT, LATER, TIME_RESOLUTION, claim_of, order_of
from conceptlab.studies.okawa2023.tables import joint, times_by

HELD_OUT = 0.95
_CLOSE = 1.25
"""Times within a quarter of each other come together: evaluations are about that far apart."""
_AS_GOOD_AS_EXACT = 1e-3
"""A rule that errs a thousand times less than another cannot be told from an exact one by accuracies over images."""


def _held_out(tables: Tables) -> PerSeed:
    accuracy = joint(tables["curves"])
    return final_value(accuracy[accuracy["distance"] > 0], over="min")


def _sudden(tables: Tables) -> PerSeed:
    rises = tables["rises"]
    return value_per_seed(rises.assign(value=rises["product"] / rises["mean"]))


def _bottleneck(tables: Tables) -> PerSeed:
    """The joint accuracy's time over the slowest variable's."""
    times = times_by(tables["bottleneck"], "variable")
    whole = times.pop("joint")
    # The largest of several bounded times: bounds go through a maximum as through a minimum.
    low = np.max([part.low for part in times.values()], axis=0)
    high = np.max([part.high for part in times.values()], axis=0)
    return ratio(whole, PerSeed(whole.seeds, low, high))


def _product_rule(tables: Tables) -> PerSeed:
    """The product rule's error over that of the best other rule."""
    rules = tables["rules"]
    if rules.empty:
        raise NoData("no held-out class had two variables between .2 and .9 at any evaluation")
    errors = rules.pivot_table(index="seed", columns="rule", values="error")
    # An error of exactly zero has no logarithm, and whether it is zero is a matter of the last bit.
    found = errors["product"] / errors.drop(columns="product").min(axis=1)
    found = found.clip(lower=_AS_GOOD_AS_EXACT)
    return PerSeed.exact(found.reindex(tables["curves"]["seed"].unique()))


def _toy_errors(tables: Tables) -> PerSeed:
    toy = tables["toy"]
    worst = (toy["closed"] - toy["simulated"]).abs().groupby(toy["n"]).max()
    return PerSeed.exact({f"n={n}": float(error) for n, error in worst.items()})


def _toy_prediction(tables: Tables) -> PerSeed:
    """Error of P(n) with p from distance 1 over that of the better of two guesses which know no multiplication: all
    distances rise as distance 1 does, and the others never rise. P(n) lies between the two whatever is learnt, so to be
    better than one of them is no finding. The worst curve counts; a guess without error cannot be beaten."""
    fits = tables["fits"]
    fits = fits[fits["distance"] > 1]
    if fits.empty:
        raise NoData("no class lies further than distance 1 from training")
    guess = fits[["null", "never"]].min(axis=1)
    return value_per_seed(fits.assign(value=(fits["rmse"] / guess).mask(guess == 0, math.inf)), over="max")


def _disagreement(tables: Tables) -> PerSeed:
    return value_per_seed(tables["disagreement"], over="max")


def _gender(tables: Tables) -> PerSeed:
    """Geometric mean over distances of men's time over women's. Classes of men lie further from training, so the two
    are compared at the same distance; the class that is alone at its own (111) is left out."""
    found = []
    for _, rows in tables["gender"].groupby("distance"):
        if {"male", "female"} <= set(rows["gender"]):
            times = times_by(rows, "gender")
            found.append(ratio(times["male"], times["female"]))
    if not found:
        raise NoData("needs both genders among the classes of one distance")
    return geometric_mean(found)


def _order_claim(figure: str, distances: str) -> Claim:
    return claim_of(
        figure, "order", f"Classes emerge in the order of their distance from training: {distances}.",
        f"smallest ratio of consecutive emergence times {AT} over distances, each the geometric mean of its classes",
        measure=lambda tables: order_of(tables["times"]), **LATER,
    )  # fmt: skip


FIG5 = (
    _order_claim("fig5", "training, 1, 2"),
    claim_of(
        "fig5", "held-out", "In the end the model draws every combination it never saw.",
        "final accuracy of the worst held-out class", measure=_held_out, threshold=HELD_OUT, side="above",
        resolution=accuracy_resolution(HELD_OUT, 1000), limits=SHARE,
    ),
)  # fmt: skip

FIG6 = (
    claim_of(
        "fig6", "sudden",
        "Multiplication makes the furthest class emerge more suddenly than its variables on average.",
        "10–90 % rise relative to the half-way time, since the model draws two training classes: product of "
        "indicators over mean of accuracies",
        measure=_sudden, threshold=1.0, side="below", transform="log",
    ),
    claim_of(
        "fig6", "bottleneck", "The slowest variable is the bottleneck: the furthest class emerges with it.",
        f"emergence time {AT} of the class over that of its slowest variable",
        measure=_bottleneck, threshold=_CLOSE, side="below", transform="log", resolution=TIME_RESOLUTION,
    ),
    claim_of(
        "fig6", "product",
        "Single accuracies multiply: their product tells the joint accuracy better than other rules do.",
        "error of the product over the smallest error of minimum, Fréchet bound and the middle between them, "
        "held-out classes with at least two variables in [.2, .9], since the model draws two training classes",
        measure=_product_rule, threshold=1.0, side="below", transform="log",
    ),
)  # fmt: skip

FIG7 = (
    claim_of(
        "fig7", "closed-form",
        "P(n) = (1 - (1-p)^t)^n is the chance that n independent abilities are learnt by step t.",
        "largest difference from 20,000 simulated learners, n = 1 … 4",
        measure=_toy_errors, threshold=0.02, side="below", kind="identity",
    ),
    claim_of(
        "fig7", "predicts", "The toy model with p fitted at distance 1 tells the curves at distances 2 and 3.",
        "error of P(n) over the smaller error of two guesses, distance 1's own curve and never, largest over "
        "distances from 2 on",
        measure=_toy_prediction, threshold=1.0, side="below", transform="log",
    ),
)  # fmt: skip

FIG10 = (
    _order_claim("fig10", "training, 1, 2 (CelebA)"),
    claim_of(
        "fig10", "gender", "The under-represented gender is learnt later.",
        f"time at which gender reaches accuracy {THRESHOLD}: classes of men over classes of women at "
        "the same distance from training, mean over distances",
        measure=_gender, **LATER,
    ),
)  # fmt: skip

FIG13 = (
    claim_of(
        "fig13", "probes", "The probe sees in generated images what an eye that measures them sees.",
        "share of final images that the judge and the analytic readout read differently, worst class",
        measure=_disagreement, threshold=0.05, side="below", resolution=accuracy_resolution(0.05, 1000), limits=SHARE,
    ),
)  # fmt: skip

FIG16 = (_order_claim("fig16", "training, 1, 2, 3 (four variables)"),)
