"""Figure 4: major, minor and irrelevant entries of the Jacobian, what turns a minor one, and where it must swing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import torch

from conceptlab.claims import Claim, PerSeed
from conceptlab.studies.study import Figure, Results
from conceptlab.studies.yang2025.jacobian_figures import draw_jacobian
from conceptlab.studies.yang2025.settings import LEVEL, SIGMA, SIZES, claim_of
from conceptlab.studies.yang2025.swing_claims import share, share_claim
from conceptlab.theory import (
    Sim,
    crossing_times,
    entry_terms,
    roles,
    run_playground,
    swing_size,
    symmetric,
    turning_level,
)

_MU = (1.0, 2.0)
_SHOWN = Sim(_MU, SIGMA, d=4)
_START = 0.1
_CORRELATION = 0.99
_CORRELATIONS = (-_CORRELATION, -0.9, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 0.9, _CORRELATION)
"""Of the starts of random tasks: from pointing away from the composition to pointing to it."""
_AWAY = ", ".join(f"{c:g}" for c in sorted(_CORRELATIONS, reverse=True) if c <= 0)
_NEARLY_ZERO = 1e-8
_STARTS = (0.1, 1e-2, 1e-4, _NEARLY_ZERO)  # sizes of W(0) whose turning points are compared


def _tables(results: Results) -> dict[str, pd.DataFrame]:
    w, rate = minor_paths(_STARTS)
    errors = [entry_equation_errors(range(10)), turning_errors(_STARTS, w, rate)]
    return {
        "roles": role_table(_SHOWN),
        "entries": entry_sizes(results.seeds),
        "turns": turning_table(_STARTS, w),
        "identity": pd.concat(errors, ignore_index=True),
        "tasks": correlated_tasks(range(SIZES[results.scale].tasks)),
    }


def role_table(sim: Sim) -> pd.DataFrame:
    """Which entry plays which role: `i`, `j` (from 1), `role`."""
    parts = roles(sim.dimension, sim.s)
    rows = [
        {"role": role, "i": int(i) + 1, "j": int(j) + 1}
        for role in parts._fields
        for i, j in getattr(parts, role).nonzero().tolist()
    ]
    return pd.DataFrame(rows).sort_values(["i", "j"], ignore_index=True)


def entry_sizes(seeds: Sequence[int]) -> pd.DataFrame:
    """Mean |w_ij| of each role along the flow from small Gaussian starts: `seed`, `time`, `role`, `value`."""
    u0 = symmetric.gaussian_start(_START, _SHOWN.dimension, seeds)
    times = np.linspace(0, 12, 121)
    w = symmetric.jacobian(symmetric.flow(u0, _SHOWN.strengths, times.tolist())).abs()
    parts = []
    for role, mask in roles(_SHOWN.dimension, _SHOWN.s)._asdict().items():
        sizes = w[:, :, mask].mean(-1).numpy()
        columns = {"time": np.repeat(times, len(seeds)), "seed": np.tile(np.asarray(seeds), len(times))}
        parts.append(pd.DataFrame({**columns, "role": role, "value": sizes.ravel()}))
    return pd.concat(parts, ignore_index=True)


def minor_paths(starts: Sequence[float], points: int = 600) -> tuple[np.ndarray, np.ndarray]:
    """W (T, B, 2, 2) from W(0) = start·[[1, c], [c, 1]] past the turn of w_12, and the rate dw_12/dt (T, B)."""
    a = Sim(_MU, SIGMA).strengths
    # the smallest start grows by e^{4 a_2 t} before anything else happens; the turn is over soon after
    horizon = (2 - np.log(min(starts))) / (4 * float(a[1])) + 1.5
    u0 = torch.stack([symmetric.correlated_start(start, _CORRELATION) for start in starts])
    u = symmetric.flow(u0, a, np.linspace(0, horizon, points).tolist())
    v = symmetric.velocity(u, a)
    rate = (v @ u.mT + u @ v.mT)[..., 0, 1]
    return symmetric.jacobian(u).numpy(), rate.numpy()


def turning_table(starts: Sequence[float], w: np.ndarray) -> pd.DataFrame:
    """w_12 over its peak against w_22, for starts of several sizes: `start`, `w22`, `w12`, `predicted`."""
    predicted = turning_level(*Sim(_MU, SIGMA).strengths.tolist())
    parts = []
    for member, start in enumerate(starts):
        minor = w[:, member, 0, 1]
        columns = {"start": start, "w22": w[:, member, 1, 1], "w12": minor / minor.max()}
        parts.append(pd.DataFrame({**columns, "predicted": predicted}))
    return pd.concat(parts, ignore_index=True)


def entry_equation_errors(cases: Sequence[int]) -> pd.DataFrame:
    """2(G - S - N) of every entry against dW/dt = VUᵀ + UVᵀ, relative to the largest rate, at random U."""
    a = Sim((1.0, 2.0, 3.0), (0.05, 0.5, 1.0), d=5).strengths
    rows = []
    for case in cases:
        generator = torch.Generator().manual_seed(case)
        u = torch.randn(5, 5, generator=generator, dtype=torch.float64)
        v = symmetric.velocity(u, a)
        rate = v @ u.mT + u @ v.mT
        error = float((entry_terms(u @ u.mT, a).rate - rate).abs().max() / rate.abs().max())
        rows.append({"identity": "entry equation", "case": f"U {case}", "error": error})
    return pd.DataFrame(rows)


def turning_errors(starts: Sequence[float], w: np.ndarray, rate: np.ndarray) -> pd.DataFrame:
    """Where w_12 really turns, against the exact condition for d = 2 and against its small-start limit.

    Exact: w_11(3a_1+a_2) + w_22(3a_2+a_1) = 2(a_1+a_2). Limit w_11 → 0: w_22 = 2(a_1+a_2)/(3a_2+a_1).
    """
    a1, a2 = Sim(_MU, SIGMA).strengths.tolist()
    samples = np.arange(len(rate), dtype=float)
    rows = []
    for member, (start, turn) in enumerate(zip(starts, crossing_times(samples, -rate, 0.0), strict=True)):
        w11, w22 = (float(np.interp(turn, samples, w[:, member, p, p])) for p in (0, 1))
        exact = abs(w11 * (3 * a1 + a2) + w22 * (3 * a2 + a1) - 2 * (a1 + a2)) / (2 * (a1 + a2))
        rows.append({"identity": "turning point", "case": f"W(0) {start:g}", "error": exact})
        if start == _NEARLY_ZERO:
            error = abs(w22 - turning_level(a1, a2))
            rows.append({"identity": "turning level", "case": f"W(0) {start:g}", "error": error})
    return pd.DataFrame(rows)


def correlated_tasks(seeds: Sequence[int]) -> pd.DataFrame:
    """Random two-concept tasks, each from starts that point to the composition or away from it by any `correlation`.

    mu_2/mu_1 in [1.5, 3], W(0) of size .01 to .1, between the reference runs. `swing` is a share of the starting loss;
    theory predicts one for a start that points straight to the composition and none for one that does not point there.
    """
    rows = []
    for seed in seeds:
        rng = np.random.default_rng([seed, 4])
        mu = (1.0, float(rng.uniform(1.5, 3.0)))
        task = {"seed": seed, "mu2": mu[1], "start": float(10 ** rng.uniform(-2, -1))}
        for correlation in _CORRELATIONS:
            loss = run_playground(mu, SIGMA, task["start"], correlation).ood_loss
            rows.append(task | {"correlation": correlation, "swing": float(swing_size(loss / loss[0])[0])})
    return pd.DataFrame(rows)


def _as_predicted(tasks: pd.DataFrame) -> PerSeed:
    """Whether each task swings from the start that points to the composition most, and from none that does not."""
    towards = tasks[tasks["correlation"] == _CORRELATION].set_index("seed")["swing"] > LEVEL
    away = tasks[tasks["correlation"] <= 0]
    return share(towards & ~(away["swing"] > LEVEL).groupby(away["seed"]).any())


def _identity(name: str, statement: str, identity: str, statistic: str, tolerance: float) -> Claim:
    return claim_of(
        f"fig4.{name}",
        statement=statement,
        statistic=statistic,
        measure=lambda tables: PerSeed.exact(
            tables["identity"]
            .query("identity == @name", local_dict={"name": identity})
            .set_index("case")["error"]
        ),
        threshold=tolerance,
        side="below",
        kind="identity",
    )


CLAIMS = (
    _identity(
        "entry-equation",
        "Growth, suppression and noise make up the flow: dw_ij/dt = 2(G - S - N).",
        "entry equation",
        "largest difference from the matrix equation, relative to the largest rate",
        1e-12,
    ),
    _identity(
        "turning-point",
        "In two dimensions w₁₂ turns where w₁₁(3a₁+a₂) + w₂₂(3a₂+a₁) = 2(a₁+a₂).",
        "turning point",
        "relative error of the condition at the measured turn",
        1e-3,
    ),
    _identity(
        "turning-level",
        "From a vanishing start w₁₂ turns when w₂₂ passes 2(a₁+a₂)/(3a₂+a₁).",
        "turning level",
        f"distance of w₂₂ from the formula at the turn, W(0) of size {_NEARLY_ZERO:g}",
        1e-3,
    ),
    share_claim(
        "fig4.predicted",
        statement="Swing-by happens where it is predicted: from a start that points straight to the composition, never "
        "from one that is uncorrelated with it or points away.",
        statistic=f"share of random tasks that swing by more than {LEVEL:.0%} from a start correlated by "
        f"{_CORRELATION} and from none correlated by {_AWAY}",
        measure=lambda tables: _as_predicted(tables["tasks"]),
        threshold=0.95,
        side="above",
    ),
)

FIGURES = (
    Figure(
        id="fig4",
        title="Major, minor and irrelevant entries",
        shows="the roles of the entries, their sizes over training, where a minor entry turns, and which starts swing",
        tables=_tables,
        draw=draw_jacobian,
        claims=CLAIMS,
    ),
)
