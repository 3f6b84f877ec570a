"""Figure `k-sweep`: experiment 3 with more and more of the image in reach, up to all of it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from conceptlab import figures
from conceptlab.denoisers import build as build_denoiser
from conceptlab.studies.bradley2025.claims import K_SWEEP
from conceptlab.studies.bradley2025.drawing import EXPERIMENT_LINES, k_axis, share_lines
from conceptlab.studies.bradley2025.recipes import reach_sweep
from conceptlab.studies.bradley2025.settings import SIZES, TRAINED_SEEDS
from conceptlab.studies.bradley2025.tables import SETTINGS, WHOLE, labelled_metrics, length_tables
from conceptlab.studies.study import Figure, Results, Tables


def sweep_tables(results: Results) -> dict[str, pd.DataFrame]:
    """As for `length`, with the reach that experiment 3 has, how far conditions act in truth, and the number of
    parameters of each network."""
    tables = length_tables(results)
    every = labelled_metrics(results)
    far = every[(every["measure"] == "far_near") & (every["step"] == every["step"].max())]
    largest = far.groupby(["seed", *SETTINGS])["value"].max().rename("far_response").reset_index()
    summary = tables["summary"].merge(largest, how="left", on=["seed", *SETTINGS])
    return {
        "curves": tables["curves"],
        "summary": summary.assign(experiment_reach=SIZES[results.scale].reach),
        "networks": pd.DataFrame(_networks(results)),
    }


def _networks(results: Results) -> list[dict[str, int]]:
    found = {}
    for member in results.members:
        part, world = member.recipe.denoiser, member.world
        reach = int(part.get("reach", WHOLE))
        if reach not in found:
            network = build_denoiser(
                image_shape=world.image_shape, condition_shape=world.condition_shape, seed=0, **part
            )
            found[reach] = sum(parameter.numel() for parameter in network.parameters())
    return [{"reach": reach, "parameters": count} for reach, count in sorted(found.items())]


@figures.house()
def draw_sweep(results: Results, tables: Tables) -> Picture:
    """(a) the share of conditions met against K for each reach; (b) how much of it is kept, (c) how much a condition
    acts far from its place, against the reach."""
    curves, summary = tables["curves"], tables["summary"]
    reaches = sorted(int(reach) for reach in curves["reach"].unique() if reach != WHOLE)
    names = reach_names(reaches)
    looks: dict[object, figures.Line] = {
        reach: figures.Line(figures.setting_colour(place, 0, max(1, len(reaches) - 1)), names[reach], "D")
        for place, reach in enumerate(reaches)
    }
    looks[WHOLE] = figures.Line(EXPERIMENT_LINES["2"].colour, "U-Net", "s", (0, (4, 1.5)))
    page = figures.figure(columns=2, height=4.6)
    grid = page.add_gridspec(2, 2)
    left = page.add_subplot(grid[0, :])
    middle, right = page.add_subplot(grid[1, 0]), page.add_subplot(grid[1, 1])
    figures.panel(left, "a", "Share met, by reach in cells")
    share_lines(left, curves, looks, "reach")
    k_axis(left, int(curves["k"].max()), int(curves["trained"].max()))
    figures.panel(middle, "b", "What is kept beyond training")
    for column, filled in (("kept", True), ("kept_corrected", False)):
        _by_reach(middle, summary, column, looks, names, filled=filled)
    middle.set_ylabel("share kept")
    middle.axhline(1, color="#c9cdd3", lw=0.7, zorder=0)
    figures.panel(right, "c", "What a condition changes far away")
    _by_reach(right, summary, "far_response", looks, names, filled=True)
    right.set(ylabel="far / near", ylim=(min(0, right.get_ylim()[0]), None))
    networks = tables["networks"].set_index("reach")["parameters"]
    figures.caption(
        page,
        f"{figures.seeds_text(curves['seed'].nunique())}. Experiment 3 (one object labelled) has "
        f"{networks.drop(WHOLE, errors='ignore').iloc[0]:,} parameters at every reach, the U-Net (experiment 2) "
        f"{networks.get(WHOLE, 0):,}. (a) Dotted: by chance. (b) Filled: mean share met beyond training over the "
        "share at one condition; open: the same of the share beyond chance; small: seeds. (c) Change more than two "
        "cells from a condition taken away, over that within one; the largest over noise levels.",
    )
    return page


def reach_names(reaches: list[int]) -> dict[int, str]:
    """`2`, and `whole image` for the furthest, which is always the whole image."""
    return {reach: "whole image" if reach == reaches[-1] else f"k = {reach}" for reach in reaches}


def _by_reach(
    ax: Axes,
    summary: pd.DataFrame,
    column: str,
    looks: Mapping[object, figures.Line],
    names: dict[int, str],
    *,
    filled: bool,
) -> None:
    """Seeds as small marks and their mean as a large one, for each reach and for the U-Net."""
    places, means = [*names, WHOLE], []
    for place, reach in enumerate(places):
        values = summary.loc[summary["reach"] == reach, column].to_numpy(dtype=float)
        line = looks[reach]
        face = line.colour if filled else "white"
        ax.plot(
            np.full(len(values), place),
            values,
            line.marker,
            ms=2.2,
            mfc=face,
            mec=line.colour,
            mew=0.4,
            alpha=0.5,
        )
        means.append(float(values.mean()) if len(values) else float("nan"))
        ax.plot([place], means[-1:], line.marker, ms=5, mfc=face, mec=line.colour, mew=1, zorder=3)
    ax.plot(
        range(len(names)),
        means[:-1],
        color="#8a8f98",
        lw=0.8,
        ls="-" if filled else (0, (1.5, 1.5)),
        zorder=1,
    )
    labels = [names[reach].replace("k = ", "").replace(" ", "\n") for reach in names]
    ax.set_xticks(range(len(places)), [*labels, "U-Net"])
    ax.set(xlim=(-0.5, len(places) - 0.5), xlabel="reach k, cells")


FIGURES = (
    Figure(
        id="k-sweep",
        title="How local is local enough",
        shows="share of conditions met when a cell of the image sees 0, 1, 2 … cells around it, up to the whole image, "
        "with equal parameters; what a condition changes far from its place",
        tables=sweep_tables,
        draw=draw_sweep,
        recipes=reach_sweep,
        claims=K_SWEEP,
        seeds=TRAINED_SEEDS,
    ),
)
