"""Tables of yang2025 as a claim would meet them, with the effect as large as one likes: for verdicts and calibration.

Every builder takes a generator, a number of seeds and a size of the effect, and gives the tables of one claim.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pandas as pd

Tables = dict[str, pd.DataFrame]
Builder = Callable[[np.random.Generator, int, float], Tables]

_SIGMAS = (0.05, 0.1, 0.5, 1.0, 2.0)


@lru_cache
def _settings(seeds: int) -> pd.DataFrame:
    """The rows of a table of half-learning times, with the sign of the delay that each setting should have."""
    signs = {("mu", 1.0, 0.05): 1.0, ("mu", 3.0, 0.05): -1.0}
    # over the five sigma, the delay of concept 1 falls from +1 to -1
    signs |= {("sigma", 1.0, sigma): 1 - place / 2 for place, sigma in enumerate(_SIGMAS)}
    rows = [
        {
            "panel": panel,
            "mu1": mu1,
            "sigma1": sigma1,
            "concept": concept,
            "sign": sign * (concept == 1),
            "seed": seed,
        }
        for (panel, mu1, sigma1), sign in signs.items()
        for concept in (1, 2)
        for seed in range(seeds)
    ]
    return pd.DataFrame(rows).assign(last=40.0, predicted=3.0)


def half(rng: np.random.Generator, seeds: int, effect: float) -> Tables:
    """Half-learning times in which the concept that should come later does, by exp(effect), up to noise."""
    table = _settings(seeds)
    noise = 0.2 * rng.standard_normal(len(table))
    return {"half": table.assign(time=3 * np.exp(effect * table["sign"].to_numpy() + noise))}


def half_worst(rng: np.random.Generator, seeds: int, effect: float) -> Tables:
    """As `half`, but settings in which concept 1 should come first always hold well.

    Claims about the worse of two settings are easiest to pass falsely when only one of them is in doubt.
    """
    table = _settings(seeds)
    sign = table["sign"].to_numpy()
    noise = 0.2 * rng.standard_normal(len(table))
    return {"half": table.assign(time=3 * np.exp(np.where(sign < 0, 2 * sign, effect * sign) + noise))}


def prediction(rng: np.random.Generator, seeds: int, effect: float) -> Tables:
    """Every measured time is off its prediction by the factor exp(effect), give or take, one way or the other."""
    table = _settings(seeds)
    factor = (effect + 0.05 * rng.standard_normal(seeds))[table["seed"].to_numpy()]
    sign = np.where(table["concept"] == 1, 1, -1)
    return {"half": table.assign(time=3 * np.exp(sign * factor))}


def networks(rng: np.random.Generator, seeds: int, share: float) -> Tables:
    """Every seed swings either in the deep low-dimensional network or in both others, the former with `share`."""
    first = rng.random(seeds) < share
    columns = {
        "seed": np.tile(np.arange(seeds), 3),
        "dimension": np.repeat(["low", "low", "high"], seeds),
        "depth": np.repeat([4, 1, 4], seeds),
        "swings": np.concatenate([first, ~first, ~first]),
    }
    return {"swings": pd.DataFrame(columns)}


def one_layer(rng: np.random.Generator, seeds: int, share: float) -> Tables:
    return {
        "one_layer": pd.DataFrame({"seed": np.arange(seeds), "d": 2, "swings": rng.random(seeds) < share})
    }


def tasks(rng: np.random.Generator, seeds: int, share: float) -> Tables:
    right = rng.random(seeds) < share
    columns = {
        "seed": np.tile(np.arange(seeds), 2),
        "correlation": np.repeat([0.99, -0.5], seeds),
        "swing": np.concatenate([np.full(seeds, 0.1), np.where(right, 0.0, 0.1)]),
    }
    return {"tasks": pd.DataFrame(columns)}


def starts(descents: int) -> Builder:
    def build(rng: np.random.Generator, seeds: int, share: float) -> Tables:
        hit = rng.random(seeds) < share
        columns = {
            "seed": np.arange(seeds),
            "descents": np.where(hit, descents, 1),
            "minor_falls": hit.astype(float),
        }
        return {"starts": pd.DataFrame(columns)}

    return build


def failure(rng: np.random.Generator, seeds: int, share: float) -> Tables:
    w11 = np.where(rng.random(seeds) < share, 0.0, 1.0)
    columns = {"seed": np.arange(seeds), "step": 100, "w11": w11, "method": "gradient descent on U"}
    return {"entries": pd.DataFrame(columns)}


def some_cell(d: int, scale: float, ratio: float) -> Builder:
    """Only one cell, in which a start swings with `share`; it pulls to the composition with `share` too."""

    def build(rng: np.random.Generator, seeds: int, share: float) -> Tables:
        hit = rng.random(seeds) < share
        columns = {"seed": np.arange(seeds), "swing": np.where(hit, 0.1, 0.0), "pull": 1}
        return {"starts": pd.DataFrame({**columns, "d": d, "scale": scale, "ratio": ratio})}

    return build


def pulls(rng: np.random.Generator, seeds: int, share: float) -> Tables:
    """All starts swing, and pull towards the composition with `share`."""
    pull = np.where(rng.random(seeds) < share, 1, -1)
    columns = {"seed": np.arange(seeds), "swing": 0.1, "pull": pull, "d": 2, "scale": 0.1, "ratio": 4.0}
    return {"starts": pd.DataFrame(columns)}


def dimensions(rng: np.random.Generator, seeds: int, share: float) -> Tables:
    """Every start swings in exactly one of d = 2 and d = 16, in the former with `share`."""
    low = rng.random(seeds) < share
    columns = {
        "seed": np.tile(np.arange(seeds), 2),
        "swing": np.where(np.concatenate([low, ~low]), 0.1, 0.0),
        "d": np.repeat([2, 16], seeds),
    }
    return {"starts": pd.DataFrame({**columns, "pull": 1, "scale": 0.1, "ratio": 4.0})}


def compositions(rng: np.random.Generator, seeds: int, noise: float) -> Tables:
    """Times of 15 compositions around those of their weakest concept, with log-normal noise."""
    weakest = [min(chosen) for size in range(1, 5) for chosen in itertools.combinations(range(4), size)]
    predicted = math.log(2) / np.array([0.5, 1.25, 2.5, 4.25])[weakest]
    times = predicted * np.exp(noise * rng.standard_normal((seeds, len(weakest))))
    return {
        "times": pd.DataFrame(
            {
                "seed": np.repeat(np.arange(seeds), len(weakest)),
                "time": times.ravel(),
                "predicted": np.tile(predicted, seeds),
            }
        )
    }


_SEPARATIONS = (0.2, 0.3, 0.4, 0.5)


def bridge(rng: np.random.Generator, seeds: int, effect: float) -> Tables:
    """Runs of Figure 6: at low separations the rise passes the noise level by `effect`, at high ones not at all; speed
    grows with the signal as much as `effect` says."""
    rows = []
    for seed, separation in itertools.product(range(seeds), _SEPARATIONS):
        swing = 0.1 + (effect if separation < 0.35 else 0.0) + 0.02 * rng.standard_normal()
        speed = np.exp(20 * effect * separation + rng.standard_normal())
        rows.append((seed, separation, swing, 0.1, separation**2, speed))
    columns = ["seed", "separation", "swing", "noise", "signal", "speed"]
    return {"swings": pd.DataFrame(rows, columns=columns)}


def foretold(rng: np.random.Generator, seeds: int, effect: float) -> Tables:
    """Pairs of `predict`: measured ratios follow the foretold ones with the slope `effect`, up to noise."""
    sim = np.tile(np.linspace(0.0, 2.0, 20), seeds)
    measured = effect * sim + 0.3 * rng.standard_normal(len(sim))
    columns = {"seed": np.repeat(range(seeds), 20), "sim": sim, "measured": measured}
    return {"pairs": pd.DataFrame(columns), "concepts": pd.DataFrame({"seed": range(seeds)})}


def rivals(rng: np.random.Generator, seeds: int, effect: float) -> Tables:
    """Pairs of `predict` that SIM misses by .5 and the baseline by .5 + effect, up to noise."""
    tables = foretold(rng, seeds, 1.0)
    pairs = tables["pairs"]
    measured = pairs["sim"] + 0.5 + 0.1 * rng.standard_normal(len(pairs))
    baseline = pairs["sim"] - effect + 0.1 * rng.standard_normal(len(pairs))
    return {**tables, "pairs": pairs.assign(measured=measured, baseline=baseline)}
