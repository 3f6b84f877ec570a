"""How much what is drawn depends on what is asked for."""

from __future__ import annotations

import itertools

import numpy as np
import scipy
from numpy.typing import NDArray


def prompt_variation(shares: NDArray[np.floating]) -> float:
    """The total variation ½ Σ|p - q| between what is drawn for two prompts, mean over all pairs. `shares` has a row for
    each prompt and a column for each thing drawn, nothing among them. 1 where no two prompts have anything in common, 0
    where all are drawn alike; of one image it could be told which of two prompts it was drawn for with (1 + it) / 2
    right. NaN where there are no two prompts."""
    pairs = [0.5 * float(abs(p - q).sum()) for p, q in itertools.combinations(shares, 2)]
    return float(np.mean(pairs)) if pairs else float("nan")


def chance_variation(shares: NDArray[np.floating], images: int) -> float:
    """What `prompt_variation` is on average if all prompts are drawn from one mixture, that of all together, with so
    many images each. Counts of one thing are binomial, and two such differ by 2 Σ F(1 - F) on average."""
    below = np.arange(images)[:, None]
    reached = scipy.stats.binom.cdf(below, images, shares.mean(axis=0).clip(0, 1))
    return float((reached * (1 - reached)).sum()) / images
