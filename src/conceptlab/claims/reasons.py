"""Why a claim stays open: what value, interval and threshold do not show, and what more seeds would do about it.

Values are those on the scale where the claim's interval is taken.
"""

from __future__ import annotations

import numpy as np

from conceptlab.claims.claim import Claim
from conceptlab.claims.interval import (
    MOST_SEEDS,
    bounds_decide,
    outcomes_to_decide,
    seeds_to_agree,
    seeds_to_decide,
    undecidable,
)
from conceptlab.claims.values import PerSeed


def no_interval(claim: Claim, values: PerSeed) -> str:
    """What keeps values from having an interval at all; empty if nothing does."""
    if not len(values):
        return "no seed has a value"
    if values.unknown == len(values):
        return no_value(values)
    if len(values) == 1:
        return "one seed has no spread"
    if claim.interval == "student" and undecidable(values, claim.resolution):
        return "all seeds tie and the claim states no resolution, so no spread is known"
    return ""


def no_value(values: PerSeed) -> str:
    """Of how many seeds nothing is known; empty if there is none."""
    if not values.unknown:
        return ""
    return f"{values.unknown} of {len(values)} seeds have no value and count against"


def resolution_sets_width(claim: Claim, values: PerSeed) -> str:
    """That the interval is as wide as it is for the measurement, not for the seeds; empty where it is not."""
    used = (
        claim.interval == "student"
        and values.is_exact
        and float(np.std(values.low, ddof=1)) < claim.resolution
    )
    return "seeds scatter less than the measurement resolves: its resolution sets the width" if used else ""


def why_open(claim: Claim, values: PerSeed, alpha: float) -> list[str]:
    """What leaves a claim open whose interval at this level does not decide it: the cause, where one is known, and what
    more seeds would do."""
    cause = no_value(values) or _too_coarse(claim, values, alpha) or resolution_sets_width(claim, values)
    outlook = ""
    if _left_open_by_bounds(claim, values):
        # A seed without a value is the extreme case, and named as the cause already.
        if not values.unknown:
            outlook = "censored seeds leave either side of the threshold possible: more like these would not decide it"
    elif needed := _seeds_to_decide(claim, values, alpha):
        cause = cause or f"{len(values)} seeds are too few"
        outlook = _would_decide(claim, values, f"{needed}")
    elif len(values) < MOST_SEEDS:
        outlook = _would_decide(claim, values, f"not even {MOST_SEEDS}")
    return [part for part in (cause, outlook) if part]


def _too_coarse(claim: Claim, values: PerSeed, alpha: float) -> str:
    """That so few seeds could not have shown an equivalence, whatever was measured; empty if they could."""
    if claim.side != "within" or claim.interval == "proportion":
        return ""
    needed = seeds_to_agree(len(values), claim.bar, alpha, claim.resolution)
    if needed <= len(values):
        return ""
    return (
        f"what is measured is too coarse: no value could be within the bounds with fewer than {needed} seeds"
    )


def _left_open_by_bounds(claim: Claim, values: PerSeed) -> bool:
    """Whether it is not for lack of seeds that the claim is open, but for what is known of them."""
    if claim.interval == "proportion" or values.is_exact:
        return False
    return not bounds_decide(values, claim.bar, claim.side == "within")


def _seeds_to_decide(claim: Claim, values: PerSeed, alpha: float) -> int | None:
    if claim.interval == "proportion":
        return outcomes_to_decide(values, claim.bar, alpha)
    return seeds_to_decide(values, claim.bar, alpha, claim.resolution, claim.side == "within")


def _would_decide(claim: Claim, values: PerSeed, number: str) -> str:
    # A mean and a spread are what decides of measured values only: of others a share counts, or bounds.
    if claim.interval == "student" and values.is_exact:
        return f"with this mean and spread {number} seeds would decide it"
    return f"{number} seeds like these would decide it"
