"""Figures 5 and 10–16: what else might tell the time of capability, against accuracies, by separation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from conceptlab import figures
from conceptlab.figures import Line
from conceptlab.studies.park2024 import drawing
from conceptlab.studies.park2024.draw_capability import behaviour, capability, training
from conceptlab.studies.study import Results, Tables

_INK = "#1a1c20"
_REGAINED = {
    True: "Grey line: median time at which half of the lost disentanglement is regained.",
    False: "Nowhere do half of the seeds regain half of the lost disentanglement.",
}


def draw_probe(
    measure: str, variable: str, cls: str = "", label: str = "", kind: str = ""
) -> Callable[[Results, Tables], Picture]:
    """A drawing of one number over training (black, right axis) with training accuracy, capability and behaviour."""

    @figures.house()
    def draw(results: Results, tables: Tables) -> Picture:
        curves, times = tables["curves"], tables["times"]
        page = drawing.page_for(curves)
        chosen = figures.select(curves, measure, variable, cls)
        low, high = (0.0, 1.0) if measure == "disentanglement" else _range(chosen)
        logarithmic = low > 0 and high > 30 * low
        count, columns, marked = curves["separation"].nunique(), drawing.columns_of(curves), False
        for place, (ax, value, runs) in enumerate(drawing.panels(page, curves)):
            figures.accuracy_axes(ax)
            for rows, line in (
                (training(runs), drawing.TRAINING),
                (behaviour(runs), drawing.BEHAVIOUR),
                (capability(runs), drawing.CAPABILITY),
            ):
                figures.band(ax, rows, Line(line.colour, marker="", dashes=line.dashes))
            drawing.veil(ax, times[times["separation"] == value])
            beside = ax.twinx()
            beside.spines["right"].set_visible(True)
            own = chosen[chosen["separation"] == value]
            if logarithmic:
                _log_band(beside, own)
            else:
                figures.band(beside, own, Line(_INK, marker=""))
            beside.set_yscale("log" if logarithmic else "linear")
            beside.set_ylim(low * 0.8 if logarithmic else max(0.0, low - 0.05 * (high - low)), high * 1.05)
            # Nothing beside it: the row ends here.
            last = place + 1 == count or (place + 1) % columns == 0
            beside.set_ylabel(label if last else "")
            if not last:
                beside.tick_params(labelright=False)
            marked |= _mark(ax, times[times["separation"] == value], kind)
        seen = f" of the embedding, seen from {cls}" if cls else ""
        lines = "Blue dashed: training classes; orange: behaviour, green: capability of class 11."
        scale = " (mean and band of its logarithm)" if logarithmic else ""
        text = f"Black: {label}{seen}{scale}. {lines} {drawing.pale_text(times)}"
        drawing.seeds_caption(page, curves, f"{text} {_REGAINED[marked] if kind else ''}".rstrip())
        return page

    return draw


def _log_band(ax: Axes, rows: pd.DataFrame) -> None:
    """Mean and standard deviation of the logarithm: on such an axis a mean less a deviation may have no place."""
    found = figures.over_seeds(rows[rows["value"] > 0].assign(value=lambda own: np.log(own["value"])))
    at, mean, spread = (found[name].to_numpy(dtype=float) for name in ("step", "mean", "std"))
    ax.plot(at, np.exp(mean), color=_INK)
    ax.fill_between(at, np.exp(mean - spread), np.exp(mean + spread), color=_INK, alpha=0.18, lw=0)


def _range(rows: pd.DataFrame) -> tuple[float, float]:
    """Smallest and largest mean over seeds, so that panels share an axis and no band sets it."""
    means = rows.groupby(["separation", "step"])["value"].mean()
    finite = means[np.isfinite(means)]
    return (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)


def _mark(ax: Axes, times: pd.DataFrame, kind: str) -> bool:
    """A line at the median time of a kind, if half of the seeds reach it; whether they do."""
    median = drawing.median_time(times, kind) if kind else np.inf
    if np.isfinite(median):
        ax.axvline(median, color="#8a8f98", lw=0.9, ls=(0, (2, 2)), zorder=0)
    return bool(np.isfinite(median))
