"""Drawing Figures 3 and 13–16."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import scipy
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from conceptlab import figures
from conceptlab.studies.study import Results, Tables
from conceptlab.studies.yang2025 import drawing
from conceptlab.studies.yang2025.settings import LEVEL, concept_names

_COLOURS = {"high": "#7A1F4F", "low": "#E69F00"}
_CUT, _WHOLE = "#D55E00", "#5c626b"
_CENTRES = {"centre 1": "#228833", "centre 2": "#4477AA"}


@figures.house()
def draw_dimensions(results: Results, tables: Tables) -> Picture:
    """Figure 3: (a, b) paths of four layers in high and low dimension, (c) OOD loss, (d) how many seeds swing."""
    page = figures.figure(columns=2, height=4.9)
    axes = page.subplots(2, 2).ravel()
    deep = tables["paths"].query("depth == 4")
    names = {}
    for ax, letter, dimension in zip(axes, "ab", ("high", "low")):
        rows = deep[deep["dimension"] == dimension]
        names[dimension] = f"d = {rows['d'].iloc[0]}"
        figures.panel(ax, letter, f"Four layers, {names[dimension]}")
        drawing.concept_plane(ax, (1, 2))
        drawing.path(ax, rows, _COLOURS[dimension])
    figures.panel(axes[2], "c", "Loss at the composition, four layers")
    losses = tables["losses"].query("depth == 4")
    for dimension, name in names.items():
        look = figures.Line(_COLOURS[dimension], name)
        drawing.log_band(axes[2], losses[losses["dimension"] == dimension], "epoch", "ood", look)
        axes[2].plot([], [], color=look.colour, label=name)
    drawing.loss_axes(axes[2], "OOD loss / its start", "epoch")
    drawing.key(axes[2], loc="upper right")
    figures.panel(axes[3], "d", "Seeds that swing, by depth")
    _shares_by_depth(axes[3], tables["swings"], names)
    # The claim about one layer rests on other starts than the bars do, and says the contrary of theirs.
    small = tables["one_layer"].groupby("seed")["swings"].any()
    figures.caption(
        page,
        f"{len(results.seeds)} seeds, µ = (1, 2); {drawing.thin_text(len(results.seeds))}. c: median and "
        f"the middle 80 % of seeds. d: share whose OOD loss falls, rises by more than {LEVEL:.0%} of its start and "
        f"falls again, with exact 95 % intervals; of small starts of one layer, which its claim is about, "
        f"{small.sum()} of {len(small)} do.",
    )
    return page


def _shares_by_depth(ax: Axes, swings: pd.DataFrame, names: dict[str, str]) -> None:
    depths = sorted(swings["depth"].unique())
    for place, (dimension, name) in enumerate(names.items()):
        rows = swings[swings["dimension"] == dimension].groupby("depth")["swings"]
        counts, totals = rows.sum().to_numpy(), rows.count().to_numpy()
        x = np.arange(len(depths)) + (place - 0.5) * 0.36
        ax.bar(x, counts / totals, width=0.32, color=_COLOURS[dimension], label=name)
        low = scipy.stats.beta.ppf(0.025, counts, totals - counts + 1)
        high = scipy.stats.beta.ppf(0.975, counts + 1, totals - counts)
        ends = np.stack([np.nan_to_num(low, nan=0.0), np.nan_to_num(high, nan=1.0)])
        ax.vlines(x, *ends, color="#1a1c20", lw=0.8)
    ax.set_xticks(range(len(depths)), [f"{depth}" for depth in depths])
    ax.set(xlabel="layers", ylabel="share of seeds", ylim=(0, 1.2))
    ax.set_yticks(np.linspace(0, 1, 6))
    drawing.key(ax, loc="upper left", ncols=2)


def draw_three_layers(*, centres: bool, sigma: float) -> Callable[[Results, Tables], Picture]:
    """Figures 13–16: paths for both mu and the OOD loss; with `centres`, also outputs at the training centres."""

    @figures.house()
    def draw(results: Results, tables: Tables) -> Picture:
        page = figures.figure(columns=2, height=2.75)
        axes = page.subplots(1, 3)
        paths, cut = tables["paths"], bool(tables["paths"]["cut"].any())
        for ax, letter, (key, rows) in zip(axes, "ab", paths.groupby(["mu1", "mu2"], sort=True)):
            mu = [float(str(number)) for number in key]
            figures.panel(ax, letter, f"µ = {concept_names(mu)}")
            drawing.concept_plane(ax, mu)
            _paths(ax, rows, centres=centres)
        figures.panel(axes[2], "c", "Loss at the composition")
        _losses(axes[2], tables["losses"])
        swinging = tables["swings"].groupby("cut")["swings"].mean()
        shares = ", ".join(
            f"{share:.0%} {('cut off' if is_cut else 'whole') if cut else 'of runs'}"
            for is_cut, share in swinging.items()
        )
        cut_text = f" Orange: clusters cut off at ½·min µ; grey: whole (σ = {sigma:g})." if cut else ""
        centre_text = " Green and blue: outputs at the two training centres." if centres else ""
        figures.caption(
            page,
            f"Three layers, d = 3; {len(results.seeds)} seeds; {drawing.thin_text(len(results.seeds))}. "
            "c: median and the middle 80 % of seeds."
            f"{cut_text}{centre_text} Swing by more than {LEVEL:.0%}: {shares}.",
        )
        return page

    return draw


def _paths(ax: Axes, rows: pd.DataFrame, *, centres: bool) -> None:
    for is_cut, part in rows.groupby("cut"):
        colour = _CUT if is_cut or not rows["cut"].any() else _WHOLE
        drawing.path(ax, part[part["point"] == "composition"], colour, seeds=colour == _CUT)
        if centres and colour == _CUT:
            for point, look in _CENTRES.items():
                drawing.path(ax, part[part["point"] == point], look, seeds=False)


def _losses(ax: Axes, losses: pd.DataFrame) -> None:
    some_cut = losses["cut"].any()
    for (mu1, mu2, is_cut), rows in losses.groupby(["mu1", "mu2", "cut"], sort=True):
        colour = _CUT if is_cut or not some_cut else _WHOLE
        dashes = "-" if mu1 == losses["mu1"].min() else (0, (4, 1.5))
        drawing.log_band(ax, rows, "epoch", "ood", figures.Line(colour, dashes=dashes))
        if is_cut or not some_cut:
            ax.plot([], [], color=colour, ls=dashes, label=f"µ = ({mu1:g}, {mu2:g})")
    drawing.loss_axes(ax, "OOD loss / its start", "epoch")
    drawing.key(ax, loc="upper right")
