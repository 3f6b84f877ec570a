"""Claims about the order of learning (Figures 2, 11, 12). Thresholds follow from the paper's words, not from runs."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from conceptlab.claims import (
    Claim,
    PerSeed,
    Tables,
    correlation,
    group_times,
    ratio,
    smallest,
    value_per_seed,
)
from conceptlab.studies.yang2025.networks import RECORDS
from conceptlab.studies.yang2025.settings import claim_of

# Spearman's ρ over five settings changes by .1 when two neighbours swap: 3 (the cap of |z|) - artanh(.9).
_ONE_SWAP = 1.53


def _setting(half: pd.DataFrame, panel: str, column: str, value: float) -> tuple[PerSeed, PerSeed]:
    """Half-learning times of concepts 1 and 2 in one setting, censored where they were never reached."""
    rows = half[(half["panel"] == panel) & (half[column] == value)]
    times = group_times(rows, by="concept", first=1 / RECORDS, last=float(half["last"].max()))
    return times[1], times[2]


def _order_by_mu(tables: Tables) -> PerSeed:
    """How many times later the weaker concept is half learnt, in the worse of mu = (1, 2) and (3, 2)."""
    weak, strong = _setting(tables["half"], "mu", "mu1", 1.0)
    now_strong, now_weak = _setting(tables["half"], "mu", "mu1", 3.0)
    return smallest([ratio(weak, strong), ratio(now_weak, now_strong)])


def _order_by_sigma(tables: Tables) -> PerSeed:
    """Spearman's ρ of sigma_1 and the delay of concept 1, time 1 / time 2."""
    half = tables["half"]
    times = half[half["panel"] == "sigma"].set_index(["seed", "sigma1", "concept"])["time"].unstack()
    delay = (times[1].fillna(math.inf) / times[2]).rename("delay").reset_index()
    return correlation(delay, "sigma1", "delay")


def _flip(tables: Tables) -> PerSeed:
    """The worse of: concept 1 later at the smallest sigma_1, concept 1 earlier at the largest."""
    half = tables["half"]
    sigmas = half.loc[half["panel"] == "sigma", "sigma1"]
    weak, strong = _setting(half, "sigma", "sigma1", sigmas.min())
    diverse, plain = _setting(half, "sigma", "sigma1", sigmas.max())
    return smallest([ratio(weak, strong), ratio(plain, diverse)])


def _prediction_error(tables: Tables) -> PerSeed:
    """Typical factor between measured and predicted half-learning times: exp of the mean |log ratio|."""
    half = tables["half"].drop_duplicates(["seed", "concept", "mu1", "sigma1"])
    # A concept that is half there before the first update has no time to predict: unknown, as one never reached.
    time = half["time"].where(half["time"] > 0)
    factor = value_per_seed(half.assign(value=np.abs(np.log(time / half["predicted"]))))
    return factor.map_increasing(np.exp)


def order_claims(figure: str, network: str) -> tuple[Claim, ...]:
    """Order by signal, order by diversity, and the flip, for one kind of network."""
    return (
        claim_of(
            f"{figure}.order-mu",
            statement=f"A {network} learns the concept of larger signal strength mu first.",
            statistic="half-learning time of the weaker concept over the stronger, the worse of mu = (1, 2) and (3, 2)",
            measure=_order_by_mu,
            threshold=1.0,
            side="above",
            transform="log",
        ),
        claim_of(
            f"{figure}.order-sigma",
            statement=f"In a {network}, the more diverse a concept is, the earlier it is learnt.",
            statistic="Spearman correlation of sigma_1 with the half-learning time of concept 1 over concept 2",
            measure=_order_by_sigma,
            threshold=0.0,
            side="below",
            transform="fisher",
            resolution=_ONE_SWAP,
        ),
        claim_of(
            f"{figure}.flip",
            statement=f"In a {network}, enough diversity makes the concept of smaller signal the first to be learnt.",
            statistic="half-learning time of the later concept over the earlier as predicted, the worse of "
            "sigma_1 = .05 (concept 2 first) and 2 (concept 1 first)",
            measure=_flip,
            threshold=1.0,
            side="above",
            transform="log",
        ),
    )


def rate_claim(figure: str) -> Claim:
    return claim_of(
        f"{figure}.rate",
        statement="a_p = sigma_p² + mu_p²/s predicts when a one-layer network has half learnt a concept.",
        statistic="typical factor between measured and predicted half-learning times over all settings and concepts",
        measure=_prediction_error,
        threshold=1.25,
        side="below",
        transform="log",
    )


def closed_form_claim(figure: str) -> Claim:
    return claim_of(
        f"{figure}.closed-form",
        statement="W_n = I + (W_0 - I)(I - ηA)^n is gradient descent of one layer.",
        statistic="largest difference of an entry of W from step-by-step simulation",
        measure=lambda tables: PerSeed.exact(tables["identity"].set_index("case")["error"]),
        threshold=1e-12,
        side="below",
        kind="identity",
    )
