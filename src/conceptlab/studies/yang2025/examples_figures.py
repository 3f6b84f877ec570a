"""Drawing Figures 5, 8, 9, 17 and 18."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from conceptlab import figures
from conceptlab.figures.style import INK, MUTED
from conceptlab.studies.study import Results, Tables
from conceptlab.studies.yang2025 import drawing
from conceptlab.studies.yang2025.settings import FINE_LEVEL, starts_text
from conceptlab.studies.yang2025.symmetric_runs import PICKED, turning_points

_TITLES = {"random": "a random start", "clear": "a correlated start"}
_FLOOR = 1e-4
_LABELLED = 4  # more turning points than this lie too close for numbers beside them
_NEAR = 0.18  # width of such a number, as a share of the panel's
_MINOR = "#D55E00"
_ROLES: dict[str, dict[str, Any]] = {
    "major": {"lw": 1.8, "zorder": 3},
    "minor": {"color": _MINOR, "lw": 1.1, "zorder": 2},
    "irrelevant": {"color": "#9aa0a8", "lw": 0.9, "zorder": 1},
}
_OOD, _TRAINING = "#7A1F4F", figures.distance_colour(0)
_LOSSES = {"training": "training", "ood": "OOD"}


def _runs(tables: Tables) -> list[str]:
    return [run for run in _TITLES if (tables["curves"]["run"] == run).any()]


def _of(tables: Tables, name: str, run: str) -> pd.DataFrame:
    return tables[name][tables[name]["run"] == run]


def _caption(page: Picture, tables: Tables, more: str = "") -> None:
    starts = tables["starts"]
    shown = int(starts.loc[starts["shown"], "seed"].iloc[0])
    figures.caption(page, f"{starts_text(shown, len(starts), PICKED)}{more}")


@figures.house()
def draw_entries(results: Results, tables: Tables) -> Picture:
    """Figures 5, 8 and 9: one row a run, entries and OOD loss; last column, what all random starts do."""
    runs = _runs(tables)
    page = figures.figure(columns=2, height=0.6 + 2.15 * len(runs))
    band = ""
    axes = page.subplots(len(runs), 3, squeeze=False)
    letters = iter("abcdef")
    for row, run in zip(axes, runs):
        figures.panel(row[0], next(letters), f"Jacobian, {_TITLES[run]}")
        entries(row[0], _of(tables, "entries", run), _horizon(_of(tables, "curves", run)))
        figures.panel(row[1], next(letters), "Loss at the composition")
        _ood_loss(row[1], _of(tables, "curves", run))
        if run == "random":
            figures.panel(row[2], next(letters), "All random starts")
            _descents(row[2], tables["starts"])
        else:
            letter = next(letters)
            band = f" {letter}: median and the middle 80 % of starts."
            figures.panel(row[2], letter, f"First {tables['band']['seed'].nunique()} random starts")
            drawing.log_band(row[2], tables["band"], "step", "ood", figures.Line(MUTED))
            drawing.loss_axes(row[2], "OOD loss / its start", "step", floor=_FLOOR)
            row[2].set_xlim(0, 1.5 * _horizon(_of(tables, "curves", "random")))
    _caption(
        page,
        tables,
        f" Dots: turning points by more than {FINE_LEVEL:g} of the starting loss{_values(tables)}.{band}",
    )
    return page


def _values(tables: Tables) -> str:
    """The levels of the turning points of the random start, where they are too many to stand in the panel."""
    found = turning_points(_of(tables, "curves", "random")["ood"].to_numpy()).value[0]
    inner = found[np.isfinite(found)][1:-1]
    return ": " + ", ".join(f"{level:#.3g}" for level in inner) if len(inner) > _LABELLED else ""


def entries(ax: Axes, table: pd.DataFrame, until: float) -> None:
    """Major entries in the colours of their concepts, minor ones orange, irrelevant ones grey."""
    for role, look in _ROLES.items():
        rows = table[table["role"] == role]
        for number, (entry, curve) in enumerate(rows.groupby("entry", sort=True)):
            name = role if number == 0 else None
            if role == "major":
                look = {**look, "color": drawing.CONCEPTS[int(str(entry)[0]) - 1]}
                name = f"$w_{{{entry}}}$"
            ax.plot(curve["step"], curve["value"], label=name, **look)
    ax.set(xlabel="step", ylabel="entry of W")
    ax.set(xlim=(0, until), ylim=(None, 1.1 * max(1.0, float(table["value"].max()))))
    drawing.key(ax, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _horizon(curves: pd.DataFrame) -> float:
    """The step at which the OOD loss has fallen to 1e-4 of its start: nothing happens afterwards."""
    return _horizon_of(curves["step"].to_numpy(), curves["ood"].to_numpy())


def _horizon_of(steps: np.ndarray, loss: np.ndarray) -> float:
    learnt = steps[loss < _FLOOR * loss[0]]
    return float(learnt[0] if len(learnt) else steps[-1])


def _ood_loss(ax: Axes, curves: pd.DataFrame) -> None:
    steps, loss = curves["step"].to_numpy(), curves["ood"].to_numpy()
    ax.plot(steps, loss, color=_OOD)
    _mark_turns(ax, steps, loss)
    _loss_window(ax, "OOD loss", curves)


def _loss_window(ax: Axes, name: str, curves: pd.DataFrame) -> None:
    start = float(curves["ood"].iloc[0])
    drawing.loss_axes(ax, name, "step", floor=_FLOOR * start)
    ax.set(ylim=(None, 3 * start), xlim=(0, _horizon(curves)))


def _mark_turns(ax: Axes, steps: np.ndarray, loss: np.ndarray) -> None:
    found = turning_points(loss)
    inner = found.index[0][found.index[0] >= 0][1:-1]
    ax.plot(steps[inner], loss[inner], "o", ms=4, color=INK, mec="white", mew=0.6, zorder=5)
    near = _NEAR * _horizon_of(steps, loss)
    for number, index in enumerate(inner if len(inner) <= _LABELLED else ()):
        # Beyond the number two before it, which stands on the same side, where it would touch that.
        beyond = number >= 2 and steps[index] - steps[inner[number - 2]] < near
        offset = (0, -17 if beyond else -9) if number % 2 == 0 else (0, 12 if beyond else 4)
        drawing.label_at(ax, (float(steps[index]), float(loss[index])), f"{loss[index]:#.3g}", INK, offset)


def _descents(ax: Axes, starts: pd.DataFrame) -> None:
    """Share of starts by their number of descents."""
    shares = starts["descents"].value_counts(normalize=True)
    numbers = range(1, max(4, int(starts["descents"].max())) + 1)
    heights = [float(shares.get(number, 0.0)) for number in numbers]
    ax.bar(list(numbers), heights, width=0.6, color=_OOD)
    for number, height in zip(numbers, heights):
        ax.text(number, height + 0.02, f"{height:.1%}" if height else "0", ha="center", fontsize=6.8)
    ax.set_xticks(list(numbers))
    ax.set_ylim(0, min(1.15, max(heights) + 0.15))
    ax.set(xlabel="number of descents", ylabel=f"share of {len(starts)} starts")


@figures.house()
def draw_losses(results: Results, tables: Tables) -> Picture:
    """Figure 17: entries above, OOD and training loss below."""
    runs = _runs(tables)
    page = figures.figure(columns=2, height=4.6)
    axes = page.subplots(2, len(runs), squeeze=False)
    for column, run in enumerate(runs):
        figures.panel(axes[0, column], "ab"[column], f"Jacobian, {_TITLES[run]}")
        ax, curves = axes[1, column], _of(tables, "curves", run)
        entries(axes[0, column], _of(tables, "entries", run), _horizon(curves))
        figures.panel(ax, "cd"[column], "Training and OOD loss")
        for (name, label), colour in zip(_LOSSES.items(), (_TRAINING, _OOD)):
            ax.plot(curves["step"], curves[name], color=colour, label=label)
        _mark_turns(ax, curves["step"].to_numpy(), curves["ood"].to_numpy())
        _loss_window(ax, "loss", curves)
        drawing.key(ax, loc="upper right")
    curves = [_of(tables, "curves", run) for run in runs]
    told = ", ".join(
        f"{label} {max(_rise(own[name]) for own in curves):.2g}" for name, label in _LOSSES.items()
    )
    _caption(
        page, tables, f" Largest rise of a loss over the least before it, as a share of its start: {told}."
    )
    return page


def _rise(loss: pd.Series) -> float:
    """Rounding apart, which of a loss that has come down to nothing is all that is left."""
    rise = float((loss - loss.cummin()).max() / loss.iloc[0])
    return rise if rise > 1e-9 else 0.0


@figures.house()
def draw_centres(results: Results, tables: Tables) -> Picture:
    """Figure 18: where the composition and the training centres are mapped to, above; OOD loss below."""
    runs = _runs(tables)
    page = figures.figure(columns=2, height=4.8)
    axes = page.subplots(2, len(runs), squeeze=False)
    for column, run in enumerate(runs):
        ax, outputs = axes[0, column], _of(tables, "outputs", run)
        figures.panel(ax, "ab"[column], f"Outputs, {_TITLES[run]}")
        last = outputs[outputs["epoch"] == outputs["epoch"].max()].set_index("point")
        mu = (float(last.loc["centre 1", "x1"]), float(last.loc["centre 2", "x2"]))  # pyright: ignore
        drawing.concept_plane(ax, mu)
        for point, colour in zip(("centre 1", "centre 2", "composition"), (*drawing.CONCEPTS[:2], _MINOR)):
            drawing.path(ax, outputs[outputs["point"] == point], colour, seeds=False)
            ax.plot(
                [], [], color=colour, label=f"at the {point}" if point == "composition" else f"at {point}"
            )
        drawing.key(ax, loc="center right")
        figures.panel(axes[1, column], "cd"[column], "Loss at the composition")
        _ood_loss(axes[1, column], _of(tables, "curves", run))
    _caption(
        page, tables, " Discs: training centres; star: the composition x_b; rings: outputs at the start."
    )
    return page
