"""Drawing Figures 2, 11 and 12."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from conceptlab import figures
from conceptlab.figures.style import INK
from conceptlab.studies.study import Results, Tables
from conceptlab.studies.yang2025 import drawing
from conceptlab.studies.yang2025.settings import SIZES, concept_names

_MU_COLOURS = ("#0072B2", "#5c626b", "#D55E00")


def draw_order(network: str) -> Callable[[Results, Tables], Picture]:
    """The drawing for one kind of network; a table `deep` adds a panel with the four-layer network."""

    @figures.house()
    def draw(results: Results, tables: Tables) -> Picture:
        deep, one_layer = tables.get("deep"), "deep" in tables
        page = figures.figure(columns=2, height=4.9 if one_layer else 2.65)
        axes = page.subplots(2, 2).ravel() if one_layer else page.subplots(1, 3)
        figures.panel(axes[0], "a", "By signal strength µ")
        _by_mu(axes[0], tables["paths"].query("panel == 'mu'"))
        figures.panel(axes[1], "b", "By diversity σ₁, µ = (1, 2)")
        _by_sigma(axes[1], tables["paths"].query("panel == 'sigma'"))
        figures.panel(axes[2], "c", "Half-learning time")
        _half_times(axes[2], tables["half"].query("panel == 'sigma'"), predicted=one_layer)
        if deep is not None:
            figures.panel(axes[3], "d", "Four layers, µ = (1, 2)")
            drawing.concept_plane(axes[3], (1, 2))
            drawing.path(axes[3], deep, "#7A1F4F")
        size, seeds = SIZES[results.scale], len(results.seeds)
        dashed = " Dashed in c: ln 2 / a_p." if one_layer else ""
        figures.caption(
            page,
            f"A {network}, d = {size.d}; {figures.seeds_text(seeds)} (c); {drawing.thin_text(seeds)}. "
            f"Discs: centres of training clusters; star: the composition x_b.{dashed}",
        )
        return page

    return draw


def _by_mu(ax: Axes, paths: pd.DataFrame) -> None:
    drawing.concept_plane(ax, None)
    for colour, (key, rows) in zip(_MU_COLOURS, paths.groupby(["mu1", "mu2"], sort=True)):
        mu1, mu2 = (float(str(number)) for number in key)
        drawing.path(ax, rows, colour)
        drawing.star(ax, (mu1, mu2), colour)
        ax.annotate(
            concept_names((mu1, mu2)),
            (mu1, mu2),
            (0, 7),
            textcoords="offset points",
            color=colour,
            ha="center",
        )
    ax.margins(x=0.12, y=0.14)


def _by_sigma(ax: Axes, paths: pd.DataFrame) -> None:
    drawing.concept_plane(ax, (1, 2))
    sigmas = sorted(paths["sigma1"].unique())
    for sigma in sigmas:
        colour = figures.setting_colour(float(np.log(sigma)), np.log(sigmas[0]), np.log(sigmas[-1]))
        drawing.path(ax, paths[paths["sigma1"] == sigma], colour)
        ax.plot([], [], color=colour, label=f"{sigma:g}")
    drawing.key(ax, title="σ₁", title_fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _half_times(ax: Axes, half: pd.DataFrame, *, predicted: bool) -> None:
    ax.set(xscale="log", yscale="log")
    for concept, rows in half.groupby("concept", sort=True):
        number = int(str(concept))
        look = figures.Line(drawing.CONCEPTS[number - 1], marker="os"[number - 1])
        found = figures.band(ax, rows, look, x="sigma1", y="time")
        if len(found):
            # the left ends lie apart: mu = 1 and 2 with little diversity
            start = found.iloc[0][["sigma1", "mean"]].to_numpy(float)
            drawing.label_at(ax, start, f"concept {number}", look.colour, (0, 8))
        if predicted:
            theory = rows.groupby("sigma1")["predicted"].first()
            # over the measured line, which it would vanish under where the prediction is right
            ax.plot(theory.index, theory, color=INK, lw=0.9, ls=(0, (3, 2)), zorder=3)
    ticks = (0.5, 1, 2, 4, 8, 16, 32)
    ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    sigmas = sorted(half["sigma1"].unique())
    ax.set_xticks(sigmas, [f"{sigma:g}" for sigma in sigmas])
    ax.minorticks_off()
    times = half["time"][half["time"] > 0]
    if len(times):
        ax.set_ylim(max(times.min() / 1.5, 0.25), times.max() * 1.6)
    ax.set(xlabel="diversity σ₁ of concept 1", ylabel="epochs until half learnt")
