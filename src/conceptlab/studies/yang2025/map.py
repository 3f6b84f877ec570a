"""The map: how often Swing-by happens, which the paper does not say. Thousands of random starts for every cell.

For d > 2 the strength ratio is that of the largest to the smallest, with the strengths between them spaced
geometrically. The stratum is the sign of Σ_{i≠j} mu_i mu_j w_ij(0): whether the initial minor entries pull the output
towards the composition or away from it.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pandas as pd
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from conceptlab import figures
from conceptlab.figures.style import ink_on
from conceptlab.studies.study import Figure, Results, Scale, Tables
from conceptlab.studies.yang2025.settings import FINE_LEVEL, LEVEL, SIZES
from conceptlab.studies.yang2025.swing_claims import MAP
from conceptlab.theory import Cell, CellResult, grid, run_cell

_GRIDS: dict[Scale, list[Cell]] = {
    "tiny": grid(dimensions=(2, 4), scales=(1e-3, 0.1), ratios=(1.0, 4.0)),
    "small": grid(),
    "paper": grid(),
}
_WORTH_PROCESSES = 10_000  # starts; below this, starting processes takes longer than they save
_STRATA = {"all": (-1, 0, 1), "towards": (1,), "away": (-1,)}


def run_cells(cells: Sequence[Cell], seeds: Sequence[int]) -> list[CellResult]:
    """All cells, in order; on several cores where it pays. Results do not depend on how many."""
    workers = min(os.cpu_count() or 1, len(cells))
    if workers == 1 or len(cells) * len(seeds) < _WORTH_PROCESSES:
        return [run_cell(cell, seeds, noise=LEVEL) for cell in cells]
    # The largest cells first: a long one that starts last would be waited for alone.
    order = sorted(range(len(cells)), key=lambda place: -cells[place].d)
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _one_thread) as pool:
        found: Iterable[CellResult] = pool.map(_run_cell, [(cells[place], seeds) for place in order])
        by_place = dict(zip(order, found, strict=True))
    return [by_place[place] for place in range(len(cells))]


def _one_thread() -> None:
    torch.set_num_threads(1)


def _run_cell(job: tuple[Cell, Sequence[int]]) -> CellResult:
    cell, seeds = job
    return run_cell(cell, seeds, noise=LEVEL)


def _tables(results: Results) -> dict[str, pd.DataFrame]:
    """`starts`: every start of every cell, so that any level can be applied later; `cells`: shares by stratum."""
    found = run_cells(_GRIDS[results.scale], range(SIZES[results.scale].starts))
    starts = [
        pd.DataFrame(
            {
                "d": result.cell.d,
                "scale": result.cell.scale,
                "ratio": result.cell.ratio,
                "seed": result.seeds,
                "swing": result.swing,
                "descents": result.descents,
                "pull": result.pull,
                "settled": result.settled,
            }
        )
        for result in found
    ]
    everything = pd.concat(starts, ignore_index=True)
    return {"starts": everything, "cells": cell_shares(everything)}


def cell_shares(starts: pd.DataFrame) -> pd.DataFrame:
    """The share of starts that swing in each cell, stratum and level, and the number of starts it rests on."""
    rows = []
    for level in (LEVEL, FINE_LEVEL):
        for stratum, pulls in _STRATA.items():
            chosen = starts[starts["pull"].isin(pulls)]
            swings = (chosen["swing"] > level).groupby([chosen[c] for c in ("d", "scale", "ratio")])
            table = swings.agg(["mean", "size"]).reset_index()
            rows.append(
                table.rename(columns={"mean": "share", "size": "starts"}).assign(stratum=stratum, level=level)
            )
    return pd.concat(rows, ignore_index=True)


@figures.house()
def _draw(results: Results, tables: Tables) -> Picture:
    cells = tables["cells"]
    cells = cells[cells["level"] == LEVEL]
    dimensions = sorted(cells["d"].unique())
    page = figures.figure(columns=2, height=5.0)
    axes = page.subplots(len(_STRATA), len(dimensions), squeeze=False)
    letters = iter("abcdefghijklmnop")
    for row, stratum in zip(axes, _STRATA):
        for ax, d in zip(row, dimensions):
            name = {"all": "all starts", "towards": "towards", "away": "away"}[stratum]
            figures.panel(ax, next(letters), f"d = {d}, {name}")
            chosen = cells[(cells["stratum"] == stratum) & (cells["d"] == d)]
            _heat(
                ax,
                chosen.pivot_table(index="scale", columns="ratio", values="share"),
                float(cells["share"].max()),
            )
        row[0].set_ylabel("initial scale τ")
    for ax in axes[-1]:
        ax.set_xlabel("strength ratio")
    unsettled = int((~tables["starts"]["settled"]).sum())
    figures.caption(
        page,
        f"Percent of {SIZES[results.scale].starts} random starts U(0) ~ N(0, τ²) of the UUᵀ flow (s = d) whose OOD "
        f"loss falls, rises by more than {LEVEL:.0%} of its start and falls again. Towards, away: of those whose "
        "initial minor entries (w₁₂ for d = 2) pull to or from the composition. Ratio: largest over smallest "
        f"strength, geometric between. {unsettled} starts not settled.",
    )
    return page


def _heat(ax: Axes, shares: pd.DataFrame, highest: float) -> None:
    """Shares as numbers, and as shades from none to the highest of all panels."""
    values = shares.to_numpy(float)
    shades = figures.setting_colours()
    highest = max(highest, 1e-9)  # nothing swings: all shades are the lowest
    ax.imshow(values, vmin=0, vmax=highest, cmap=shades, origin="lower", aspect="auto")
    for i, j in np.ndindex(values.shape):
        if np.isfinite(values[i, j]):
            red, green, blue, _ = shades(values[i, j] / highest)
            percent = 100 * values[i, j]
            text = "0" if percent == 0 else f"{percent:.1f}" if percent < 9.95 else f"{percent:.0f}"
            ax.text(j, i, text, ha="center", va="center", fontsize=6.5, color=ink_on((red, green, blue)))
    ax.set_xticks(range(len(shares.columns)), [f"{ratio:g}" for ratio in shares.columns])
    ax.set_yticks(range(len(shares.index)), [f"{scale:g}" for scale in shares.index])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


FIGURES = (
    Figure(
        id="map",
        title="How often Swing-by happens",
        shows="share of random starts that swing, over dimension, initial scale, strength ratio and the sign of the "
        "initial minor entries",
        tables=_tables,
        draw=_draw,
        claims=MAP,
    ),
)
