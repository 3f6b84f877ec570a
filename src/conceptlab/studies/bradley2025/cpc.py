"""`cpc`: composition makes scores local (Lemma 1), nearly so when it nearly holds, and what noise does to the rest.

Theory alone: every number comes from random CPC distributions in closed form. The unit of a claim is a distribution.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import torch

from conceptlab.claims import Claim, PerSeed, Tables, slope, smallest, value_per_seed
from conceptlab.studies.bradley2025.draw_cpc import SHOWN_LEVEL, draw_cpc
from conceptlab.studies.bradley2025.settings import PAPER
from conceptlab.studies.study import Figure, Results, Scale
from conceptlab.theory import (
    Cpc,
    Mixture,
    composed_score,
    condition_error,
    couple_modes,
    couple_pixels,
    energy_distance,
    flow_samples,
    lcs_error,
    lemma_error,
    random_cpc,
)

GIVEN = (0, 1, 2)
_TOLERANCE = 1e-10
_FADED = 0.1
_COUPLE: dict[str, Callable[[Cpc, Sequence[int], float], Mixture]] = {
    "modes": couple_modes,
    "pixels": couple_pixels,
}


@dataclass(frozen=True)
class _Size:
    """Random distributions, noise levels and couplings, and points for every mean over a distribution."""

    cases: int
    levels: int
    couplings: tuple[float, ...]
    points: int


_SIZES: dict[Scale, _Size] = {
    "tiny": _Size(3, 13, (0.1, 0.3, 0.9), 400),
    "small": _Size(12, 25, (0.03, 0.1, 0.3, 0.9), 800),
    "paper": _Size(40, 25, (0.01, 0.03, 0.1, 0.3, 0.9), 1500),
}


def _tables(results: Results) -> dict[str, pd.DataFrame]:
    size = _SIZES[results.scale]
    cases = range(size.cases)
    return {
        "jacobian": jacobians(random_cpc(0), max(size.couplings)),
        "identity": pd.concat([identity_errors(case) for case in cases], ignore_index=True),
        "errors": pd.concat([_errors(case, size) for case in cases], ignore_index=True),
        "samples": pd.concat([_samples(case, size) for case in cases], ignore_index=True),
        "points": shown_points(random_cpc(0), max(size.couplings), size.points),
    }


def jacobians(cpc: Cpc, epsilon: float) -> pd.DataFrame:
    """Mean |∂ score_i / ∂ x_j| of the exact and the coupled distributions: `kind`, `i`, `j`, `value`."""
    kinds = {"exact": cpc.joint(GIVEN)} | {
        name: couple(cpc, GIVEN, epsilon) for name, couple in _COUPLE.items()
    }
    frames = []
    for kind, joint in kinds.items():
        table = joint.score_jacobian(joint.draw(200, SHOWN_LEVEL, 0), SHOWN_LEVEL).abs().mean(0)
        i, j = np.indices(table.shape)
        frames.append(
            pd.DataFrame({"kind": kind, "i": i.ravel(), "j": j.ravel(), "value": table.flatten().numpy()})
        )
    return pd.concat(frames, ignore_index=True)


def identity_errors(case: int, levels: Sequence[float] = (0.01, 0.1, 0.7, 4.0, 30.0)) -> pd.DataFrame:
    """What must be zero at every noise level: `identity` (pixels, conditions, composition), `sigma`, `error`."""
    cpc = random_cpc(case)
    joint, blocks = cpc.joint(GIVEN), cpc.blocks(GIVEN)
    composed = composed_score(cpc.joint(()), [cpc.joint((j,)) for j in GIVEN])
    rows = []
    for sigma in levels:
        x = joint.draw(8, sigma, case)
        score = joint.score(x, sigma)
        found = {
            "pixels": lemma_error(joint, blocks, sigma, x),
            "conditions": condition_error(cpc, GIVEN, sigma, x),
            "composition": float((composed(x, sigma) - score).abs().max() / score.abs().max()),
        }
        rows += [{"identity": name, "sigma": sigma, "error": error} for name, error in found.items()]
    return pd.DataFrame(rows).assign(case=case)


def _errors(case: int, size: _Size) -> pd.DataFrame:
    """LCS error over noise: `seed`, `coupling`, `epsilon`, `sigma`, `unit`, `value`."""
    cpc, rows = random_cpc(case), []
    for (kind, couple), epsilon in itertools.product(_COUPLE.items(), size.couplings):
        joint = couple(cpc, GIVEN, epsilon)
        for sigma in np.geomspace(0.03, 30, size.levels):
            found = lcs_error(joint, cpc.blocks(GIVEN), float(sigma), size.points, seed=case)
            for unit, value in found._asdict().items():
                rows.append((case, kind, epsilon, sigma, unit, value))
    return pd.DataFrame(rows, columns=["seed", "coupling", "epsilon", "sigma", "unit", "value"])


def _samples(case: int, size: _Size) -> pd.DataFrame:
    """Energy distance from the coupled distribution of what composed and joint scores sample: `seed`, `epsilon`,
    `way`, `distance`. Modes are coupled, which single conditions cannot know."""
    cpc, rows = random_cpc(case), []
    composed = composed_score(cpc.joint(()), [cpc.joint((j,)) for j in GIVEN])
    d = cpc.background.dimension
    built = flow_samples(composed, d, size.points, seed=case)
    for epsilon in (0.0, *size.couplings):
        joint = couple_modes(cpc, GIVEN, epsilon)
        truth = joint.draw(size.points, 0.0, seed=case + 1)
        own = flow_samples(joint.score, d, size.points, seed=case)
        for way, points in (("composed", built), ("joint", own)):
            rows.append(
                {"seed": case, "epsilon": epsilon, "way": way, "distance": energy_distance(points, truth)}
            )
    return pd.DataFrame(rows)


def shown_points(cpc: Cpc, epsilon: float, n: int) -> pd.DataFrame:
    """Sampled points by the modes of the first two regions, as positions from one mode (0) to the other (1): `way`,
    `first`, `second`."""
    joint = couple_modes(cpc, GIVEN, epsilon)
    composed = composed_score(cpc.joint(()), [cpc.joint((j,)) for j in GIVEN])
    frames = []
    for way, score in (("joint", joint.score), ("composed", composed)):
        x = flow_samples(score, joint.dimension, min(n, 400), seed=0)
        first, second = (_between_modes(cpc, j, x) for j in GIVEN[:2])
        frames.append(pd.DataFrame({"way": way, "first": first, "second": second}))
    return pd.concat(frames, ignore_index=True)


def _between_modes(cpc: Cpc, condition: int, x: torch.Tensor) -> np.ndarray:
    low, high = cpc.parts[condition].means
    line = high - low
    return ((x[:, list(cpc.regions[condition])] - low) @ line / line.square().sum()).numpy()


# --- claims ---


def _identity(tables: Tables, *names: str) -> PerSeed:
    rows = tables["identity"]
    rows = rows[rows["identity"].isin(names)]
    # What is no number is no zero: such a case is unknown, as one is in the worst of anything below.
    return value_per_seed(rows.rename(columns={"case": "seed"}), over="max", value="error")


def _grows(tables: Tables) -> PerSeed:
    """Log-log slope of the largest error over noise against the coupling, of the coupling where it is smallest."""
    errors = tables["errors"].query("unit == 'relative'")
    peaks = errors.groupby(["seed", "coupling", "epsilon"], as_index=False)["value"].max()
    logs = peaks.assign(epsilon=np.log(peaks["epsilon"]), value=np.log(peaks["value"]))
    return smallest([slope(rows, "epsilon", "value") for _, rows in logs.groupby("coupling")])


def _worst_decay(tables: Tables) -> PerSeed:
    """The error at the highest noise over its peak, where it has faded least over couplings and units."""
    errors = tables["errors"]
    last = errors[errors["sigma"] == errors["sigma"].max()]
    by = ["seed", "coupling", "epsilon", "unit"]
    shares = last.set_index(by)["value"] / errors.groupby(by)["value"].max()
    return value_per_seed(shares.rename("value").reset_index(), over="max")


def _rank_with_noise(tables: Tables) -> PerSeed:
    """Spearman's correlation of error and noise over **all** levels, where it is largest."""
    rows = tables["errors"].query("unit == 'relative'")
    ranks = rows.groupby(["seed", "coupling", "epsilon"])[["sigma", "value"]].apply(
        lambda part: part["sigma"].corr(part["value"], method="spearman", min_periods=len(part))
    )
    return value_per_seed(ranks.rename("value").reset_index(), over="max")


_claim = partial(Claim, paper=PAPER, figure="cpc")

CLAIMS = (
    _claim(
        id=f"{PAPER}.cpc.lemma",
        statement="CPC implies local conditional scores, at every noise level (Lemma 1).",
        statistic="largest dependence of a region's score on pixels or conditions of another, relative to the largest",
        measure=lambda tables: _identity(tables, "pixels", "conditions"),
        threshold=_TOLERANCE,
        side="below",
        kind="identity",
    ),
    _claim(
        id=f"{PAPER}.cpc.composition",
        statement="For CPC with a background independent between regions, scores of single conditions add up to the "
        "joint score.",
        statistic="largest difference of composed and joint score, relative to the largest score",
        measure=lambda tables: _identity(tables, "composition"),
        threshold=_TOLERANCE,
        side="below",
        kind="identity",
    ),
    _claim(
        id=f"{PAPER}.cpc.approximate",
        statement="Approximately CPC implies approximately LCS: the LCS error vanishes with the coupling.",
        statistic="log-log slope of the peak relative LCS error against the coupling, the smaller of both couplings",
        measure=_grows,
        threshold=0.5,
        side="above",
    ),
    _claim(
        id=f"{PAPER}.cpc.decay",
        statement="Beyond its peak noise makes an approximately compositional score local, in every unit.",
        statistic="LCS error at the highest noise over its peak; the worst of both couplings, three units, all ε",
        measure=_worst_decay,
        threshold=_FADED,
        side="below",
        transform="log",
    ),
    _claim(
        id=f"{PAPER}.cpc.always",
        statement="More noise always makes the score more local, as the text puts it without a peak.",
        statistic="rank correlation of relative LCS error and noise over all levels, the larger of both couplings",
        measure=_rank_with_noise,
        threshold=-0.9,
        side="below",
        transform="fisher",
        resolution=0.2,  # about 1/√(levels - 3)
    ),
)

FIGURES = (
    Figure(
        id="cpc",
        title="Composition makes scores local",
        shows="Jacobians of exact and nearly CPC scores, LCS error over noise and coupling, composed against joint "
        "sampling",
        tables=_tables,
        draw=draw_cpc,
        claims=CLAIMS,
    ),
)
