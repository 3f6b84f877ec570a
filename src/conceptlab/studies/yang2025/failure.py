"""Figure 10: a "failure" in which the first concept is never learnt, and what is left of it on correct integration.

The published run steps the printed entry equation on W with a_p² in place of a_p. Beside it stands the gradient
descent on U that the equation describes, from the same start.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from conceptlab import figures
from conceptlab.claims import PerSeed, Tables
from conceptlab.figures.style import RULE
from conceptlab.studies.study import Figure, Results, Scale
from conceptlab.studies.yang2025 import drawing
from conceptlab.studies.yang2025.settings import SIGMA
from conceptlab.studies.yang2025.swing_claims import share, share_claim
from conceptlab.theory import Sim, symmetric
from conceptlab.theory.artefacts import lowest_eigenvalue, script_strengths, step_on_jacobian

_SIM = Sim((0.7, 1.7, 3.0), SIGMA)
_ETA, _SCALE, _POINTS = 0.01, 0.1, 250
_STEPS: dict[Scale, int] = {"tiny": 2500, "small": 10_000, "paper": 10_000}
_MOST_STARTS = 20  # stepping W is slow
_SCRIPTS, _DESCENT = "as in the scripts", "gradient descent on U"


def _tables(results: Results) -> dict[str, pd.DataFrame]:
    """Diagonal `entries` and the `lowest` eigenvalue of W along both integrations, for the first seeds."""
    steps = _STEPS[results.scale]
    seeds = results.seeds[:_MOST_STARTS]
    starts = symmetric.uniform_start(_SCALE, _SIM.dimension, seeds)
    parts = []
    for seed, u0 in zip(seeds, starts, strict=True):
        scripts = step_on_jacobian(u0 @ u0.T, script_strengths(_SIM.strengths), _ETA, steps)
        descent = symmetric.jacobian(symmetric.descent(u0, _SIM.strengths, _ETA, steps))
        for method, w in ((_SCRIPTS, scripts), (_DESCENT, descent)):
            kept = np.unique(np.geomspace(1, steps, _POINTS).astype(int))
            moments = np.concatenate([[0], kept])
            path = w[torch.from_numpy(moments)]
            columns = {f"w{p}{p}": path[:, p - 1, p - 1].numpy() for p in (1, 2, 3)}
            lowest = lowest_eigenvalue(path).numpy()
            labels = {"method": method, "seed": seed}
            parts.append(pd.DataFrame({"step": moments, **columns, "lowest": lowest, **labels}))
    return {"entries": pd.concat(parts, ignore_index=True)}


def _never_learnt(tables: Tables) -> PerSeed:
    entries = tables["entries"]
    last = entries[(entries["method"] == _DESCENT) & (entries["step"] == entries["step"].max())]
    return share(last.set_index("seed")["w11"] < 0.5)


CLAIMS = (
    share_claim(
        "fig10.failure",
        statement="For mu = (.7, 1.7, 3) the first major entry never grows.",
        statistic="share of starts with w₁₁ below ½ at the end of gradient descent on U",
        measure=_never_learnt,
        threshold=0.5,
        side="above",
    ),
)


@figures.house()
def _draw(results: Results, tables: Tables) -> Picture:
    page = figures.figure(columns=2, height=2.75)
    axes = page.subplots(1, 3)
    entries = tables["entries"]
    shown = results.seeds[0]
    for ax, letter, method in zip(axes, "ab", (_SCRIPTS, _DESCENT)):
        figures.panel(ax, letter, method[0].upper() + method[1:])
        _diagonal(ax, entries[(entries["method"] == method) & (entries["seed"] == shown)])
    figures.panel(axes[2], "c", "Lowest eigenvalue of W")
    _eigenvalues(axes[2], entries)
    last = entries[entries["step"] == entries["step"].max()]
    ended = {method: rows["w11"] for method, rows in last.groupby("method")}
    figures.caption(
        page,
        f"µ = (.7, 1.7, 3), the same start in a and b (seed {shown}). w₁₁ ends above ½ in "
        f"{(ended[_SCRIPTS] > 0.5).mean():.0%} of {len(ended[_SCRIPTS])} starts as in the scripts "
        f"({(~np.isfinite(ended[_SCRIPTS])).mean():.0%} explode) and in {(ended[_DESCENT] > 0.5).mean():.0%} by "
        "descent on U. c: all starts, orange as in the scripts, blue by descent on U; below 0 no U has UUᵀ = W.",
    )
    return page


def _diagonal(ax: Axes, rows: pd.DataFrame) -> None:
    for p in (1, 2, 3):
        values = rows[f"w{p}{p}"].where(rows[f"w{p}{p}"].abs() < 3)
        ax.plot(rows["step"], values, color=drawing.CONCEPTS[p - 1], label=f"$w_{{{p}{p}}}$")
    ax.axhline(0, color=RULE, lw=0.6, zorder=0)
    _steps_axis(ax)
    ax.set(ylim=(-0.35, 1.35), ylabel="entry of W")
    drawing.key(ax, loc="center left")


def _eigenvalues(ax: Axes, entries: pd.DataFrame) -> None:
    colours = {_SCRIPTS: "#D55E00", _DESCENT: figures.distance_colour(0)}
    for (method, _), rows in entries.groupby(["method", "seed"], sort=True):
        ax.plot(rows["step"], rows["lowest"], color=colours[str(method)], lw=0.8, alpha=0.7)
    ax.axhline(0, color=RULE, lw=0.6, zorder=0)
    # An explosion may pass through any power of ten: a symmetric log axis keeps the ordinary range readable.
    ax.set_yscale("symlog", linthresh=1e-3)
    ax.set_ylim(-10, 10)
    ax.set_yticks((-1, -1e-2, 0, 1e-2, 1), ("-1", "-0.01", "0", "0.01", "1"))
    ax.minorticks_off()
    _steps_axis(ax)


def _steps_axis(ax: Axes) -> None:
    ax.set(xscale="log", xlabel="step")


FIGURES = (
    Figure(
        id="fig10",
        title="A failure that is the integrator's",
        shows="diagonal entries as the scripts integrate them and by gradient descent on U; lowest eigenvalue of W",
        tables=_tables,
        draw=_draw,
        claims=CLAIMS,
    ),
)
