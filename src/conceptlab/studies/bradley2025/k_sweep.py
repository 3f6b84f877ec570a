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
from conceptlab.studies.bradley2025.settings import SIZES
from conceptlab.studies.bradley2025.tables import WHOLE, length_tables
from conceptlab.studies.study import Figure, Results, Tables


def sweep_tables(results: Results) -> dict[str, pd.DataFrame]:
    """As for `length`, with the reach that experiment 3 has, and the number of parameters of each network."""
    tables = length_tables(results)
    own = SIZES[results.scale].reach
    return {
        "curves": tables["curves"],
        "summary": tables["summary"].assign(experiment_reach=own),
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
    """(a) the share of conditions met against K for each reach; (b) how much of it is kept, against the reach."""
    curves, summary = tables["curves"], tables["summary"]
    reaches = sorted(int(reach) for reach in curves["reach"].unique() if reach != WHOLE)
    names = reach_names(reaches)
    looks: dict[object, figures.Line] = {
        reach: figures.Line(figures.setting_colour(place, 0, max(1, len(reaches) - 1)), names[reach], "D")
        for place, reach in enumerate(reaches)
    }
    looks[WHOLE] = figures.Line(EXPERIMENT_LINES["2"].colour, "U-Net", "s", (0, (4, 1.5)))
    page = figures.figure(columns=2, height=2.9)
    left, right = page.subplots(1, 2, width_ratios=(1.25, 1))
    figures.panel(left, "a", "share met, by reach in cells")
    share_lines(left, curves, looks, "reach")
    k_axis(left, int(curves["k"].max()), int(curves["trained"].max()))
    figures.panel(right, "b", "what is kept beyond training")
    _kept(right, summary, looks, names)
    networks = tables["networks"].set_index("reach")["parameters"]
    figures.caption(
        page,
        f"{figures.seeds_text(curves['seed'].nunique())}. Experiment 3 (one object labelled) has "
        f"{networks.drop(WHOLE, errors='ignore').iloc[0]:,} parameters at every reach, the U-Net of experiment 2 "
        f"{networks.get(WHOLE, 0):,}. (a) Dashed: by chance. (b) Filled: mean share met beyond training over the "
        "share at one condition; open: the same of the share beyond chance; small: seeds.",
    )
    return page


def reach_names(reaches: list[int]) -> dict[int, str]:
    """`2`, and `whole image` for the furthest, which is always the whole image."""
    return {reach: "whole image" if reach == reaches[-1] else f"k = {reach}" for reach in reaches}


def _kept(
    ax: Axes, summary: pd.DataFrame, looks: Mapping[object, figures.Line], names: dict[int, str]
) -> None:
    places = [*names, WHOLE]
    for column, filled in (("kept", True), ("kept_corrected", False)):
        means = []
        for place, reach in enumerate(places):
            values = summary.loc[summary["reach"] == reach, column].to_numpy(dtype=float)
            line = looks[reach]
            ax.plot(
                np.full(len(values), place),
                values,
                line.marker,
                ms=2.2,
                color=line.colour,
                alpha=0.5,
                mec="none",
            )
            mean = float(values.mean()) if len(values) else float("nan")
            means.append(mean)
            face = line.colour if filled else "white"
            ax.plot([place], [mean], line.marker, ms=5, mfc=face, mec=line.colour, mew=1, zorder=3)
        style = "-" if filled else (0, (1.5, 1.5))
        ax.plot(range(len(places) - 1), means[:-1], color="#8a8f98", lw=0.8, ls=style, zorder=1)
    labels = [names[reach].replace("k = ", "").replace(" ", "\n") for reach in names]
    ax.set_xticks(range(len(places)), [*labels, "U-Net"])
    ax.set_xlim(-0.5, len(places) - 0.5)
    ax.set_xlabel("reach k, cells")
    ax.set_ylabel("share kept")
    ax.axhline(1, color="#c9cdd3", lw=0.7, zorder=0)


FIGURES = (
    Figure(
        id="k-sweep",
        title="How local is local enough",
        shows="share of conditions met when a cell of the image sees 0, 1, 2 … cells around it, up to the whole image, "
        "with equal parameters",
        tables=sweep_tables,
        draw=draw_sweep,
        recipes=reach_sweep,
        claims=K_SWEEP,
    ),
)
