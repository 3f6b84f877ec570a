"""Drawing `cpc`."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure as Picture
from matplotlib.ticker import NullLocator, SymmetricalLogLocator

from conceptlab import figures
from conceptlab.figures.style import INK, MUTED, RULE
from conceptlab.studies.study import Results, Tables

SHOWN_LEVEL = 0.7
"""The noise level at which Jacobians are shown."""
COUPLINGS = {"modes": ("#7A1F4F", "o"), "pixels": ("#0072B2", "s")}
_UNITS = {"absolute": (0, (1, 1.2)), "relative": "-", "eps": (0, (4, 1.5))}
_WAYS = {"joint": ("#5c626b", "s", "joint score"), "composed": ("#D55E00", "o", "composed scores")}
_FLOOR = 1e-4


@figures.house()
def draw_cpc(results: Results, tables: Tables) -> Picture:
    page = figures.figure(columns=2, height=6.5)
    axes = page.subplots(3, 3)
    shown = float(tables["errors"]["epsilon"].max())
    for ax, letter, (kind, title) in zip(
        axes[0],
        "abc",
        {
            "exact": "CPC",
            "modes": f"Modes coupled, ε = {shown:g}",
            "pixels": f"Pixels coupled, ε = {shown:g}",
        }.items(),
    ):
        figures.panel(ax, letter, title)
        table = tables["jacobian"]
        _jacobian(ax, table[table["kind"] == kind], table["value"].max())
    errors = tables["errors"]
    middle = sorted(errors["epsilon"].unique())[-2]
    for ax, letter, coupling in zip(axes[1], "de", COUPLINGS):
        figures.panel(ax, letter, f"LCS error, {coupling} coupled")
        _over_noise(ax, errors.query("coupling == @coupling and epsilon == @middle"), coupling)
    figures.panel(axes[1, 2], "f", "Peak error by coupling")
    _over_coupling(axes[1, 2], errors.query("unit == 'relative'"))
    for ax, letter, way in zip(axes[2], "gh", _WAYS):
        figures.panel(ax, letter, f"Sampled by {_WAYS[way][2]}")
        _points(ax, tables["points"].query("way == @way"), _WAYS[way][0])
    figures.panel(axes[2, 2], "i", "Distance from the truth")
    _distances(axes[2, 2], tables["samples"])
    cases = errors["seed"].nunique()
    figures.caption(
        page,
        f"{cases} seeds, each a random distribution: three regions of three pixels with two modes each, two pixels "
        "beyond; band: ± 1 standard deviation over seeds. "
        r"a–c: mean $|\partial s_i / \partial x_j|$ of the score $s$ of one of them at "
        f"σ = {SHOWN_LEVEL:g}; lines separate regions. d, e: ε = {middle:g}. g, h: positions between the modes of two "
        f"regions, modes coupled with ε = {shown:g}. i: axes are linear near zero and logarithmic beyond.",
    )
    return page


def _jacobian(ax: Axes, table: pd.DataFrame, largest: float) -> None:
    square = table.pivot(index="i", columns="j", values="value").to_numpy()
    shown = ax.imshow(
        np.clip(square, _FLOOR, None), cmap="magma_r", norm=LogNorm(_FLOOR, largest), interpolation="nearest"
    )
    for edge in (2.5, 5.5, 8.5):
        ax.axhline(edge, color=RULE, lw=0.7)
        ax.axvline(edge, color=RULE, lw=0.7)
    middles = (1, 4, 7, 9.5)
    ax.set_xticks(middles, ("M₁", "M₂", "M₃", "rest"))
    ax.set_yticks(middles, ("M₁", "M₂", "M₃", "rest"))
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    bar = ax.figure.colorbar(shown, ax=ax, shrink=0.85, pad=0.03)
    bar.outline.set_visible(False)  # pyright: ignore[reportCallIssue]
    bar.ax.tick_params(labelsize=6, length=2)


def _over_noise(ax: Axes, errors: pd.DataFrame, coupling: str) -> None:
    colour = COUPLINGS[coupling][0]
    for unit, dashes in _UNITS.items():
        figures.band(
            ax, errors.query("unit == @unit"), figures.Line(colour, marker="", dashes=dashes), x="sigma"
        )
        ax.plot([], [], color=colour, ls=dashes, label=unit)
    ax.set(xscale="log", yscale="log")
    ax.set(ylim=(max(1e-4, errors["value"].min()), None), xlabel="noise level σ", ylabel="LCS error")
    ax.legend(loc="lower left", handlelength=1.8, labelspacing=0.3, labelcolor=MUTED)


def _over_coupling(ax: Axes, errors: pd.DataFrame) -> None:
    peaks = errors.groupby(["seed", "coupling", "epsilon"], as_index=False)["value"].max()
    for coupling, (colour, marker) in COUPLINGS.items():
        found = figures.band(
            ax, peaks.query("coupling == @coupling"), figures.Line(colour, marker=marker), x="epsilon"
        )
        ax.plot([], [], color=colour, marker=marker, ms=3, label=f"{coupling} coupled")
        if coupling == "modes":
            start = found.iloc[0]
            grid = np.array([start["epsilon"], found["epsilon"].iloc[-1]])
            guide = 0.5 * start["mean"] / start["epsilon"] * grid
            ax.plot(grid, guide, color=MUTED, lw=0.8, ls=(0, (3, 2)))
            # Below the line, whose slope is about one: right of its middle and down.
            ax.annotate(
                "∝ ε", tuple(np.sqrt([grid.prod(), guide.prod()])), (4, -4), textcoords="offset points",
                color=MUTED, fontsize=6.8, ha="left", va="top",
            )  # fmt: skip
    ax.set(xscale="log", yscale="log")
    ax.set(xlabel="coupling ε", ylabel="peak relative LCS error", ylim=(None, 4 * peaks["value"].max()))
    ax.legend(loc="upper left", handlelength=1.5, labelspacing=0.3, labelcolor=MUTED)


def _points(ax: Axes, points: pd.DataFrame, colour: str) -> None:
    for at in (0, 1):
        ax.axhline(at, color=RULE, lw=0.6, zorder=0)
        ax.axvline(at, color=RULE, lw=0.6, zorder=0)
    ax.scatter(points["first"], points["second"], s=5, lw=0, alpha=0.55, color=colour)
    ax.set(xlim=(-0.7, 1.7), ylim=(-0.7, 1.7))
    ax.set_xticks((0, 1), ("mode 1", "mode 2"))
    ax.set_yticks((0, 1), ("mode 1", "mode 2"), rotation=90, va="center")
    ax.set(xlabel="region M₁", ylabel="region M₂")


def _distances(ax: Axes, samples: pd.DataFrame) -> None:
    couplings = sorted(epsilon for epsilon in samples["epsilon"].unique() if epsilon > 0)
    # Couplings go by powers of ten, and one of them is none; what is right has a distance of about zero, both ways.
    ax.set_xscale("symlog", linthresh=couplings[0], linscale=0.4)
    noise = float(samples.loc[samples["way"] == "joint", "distance"].abs().max())
    ax.set_yscale("symlog", linthresh=noise, linscale=0.5)
    # Within the linear part a tick would touch that of zero.
    ax.yaxis.set_major_locator(SymmetricalLogLocator(base=10, linthresh=10.0 ** math.ceil(math.log10(noise))))
    for way, (colour, marker, name) in _WAYS.items():
        figures.band(
            ax, samples[samples["way"] == way], figures.Line(colour, marker=marker), x="epsilon", y="distance"
        )
        ax.plot([], [], color=colour, marker=marker, ms=3, label=name)
    ax.axhline(0, color=INK, lw=0.6)
    ax.set_xticks([0, *couplings], [f"{epsilon:g}" for epsilon in [0, *couplings]])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set(xlabel="coupling ε of modes", ylabel="energy distance", ylim=(None, 4 * samples["distance"].max()))
    ax.legend(loc="upper left", handlelength=1.5, labelspacing=0.3, labelcolor=MUTED)
