"""`ablation`: Figure 5 under each switch that paper and code disagree on, and by how much each switch moves it."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from conceptlab import figures
from conceptlab.claims import PerSeed, ratio
from conceptlab.claims.interval import centre, student_interval
from conceptlab.errors import InputError
from conceptlab.recipe import Recipe
from conceptlab.studies.okawa2023 import recipes
from conceptlab.studies.okawa2023.claim_parts import TIME_RESOLUTION
from conceptlab.studies.okawa2023.draw_sweeps import NEVER, time_groups
from conceptlab.studies.okawa2023.settings import SETTINGS
from conceptlab.studies.okawa2023.signatures import signatures
from conceptlab.studies.okawa2023.tables import at_common_steps, emergence, joint, labelled, times_by
from conceptlab.studies.study import Results, Scale, Tables

BASE, JUDGED = "base", "probability product"
_ALPHA = 0.05
_WIDEST = 10.0
"""The largest ratio to the base that its panel has room for."""


def tables(results: Results) -> dict[str, pd.DataFrame]:
    """Figure 5's times under each switch, and `shifts`; `probability product` is the base judged by §3.1's product of
    probabilities in place of Eq. 2's product of indicators."""

    def label(recipe: Recipe) -> Mapping[str, Any]:
        return {"switch": recipes.switch_of(recipe, results.scale)}

    curves = at_common_steps(labelled(results, label), ["switch"])
    base = curves[curves["switch"] == BASE]
    if base.empty:
        raise InputError(
            "okawa2023.ablation: no member without a switch has finished, so there is nothing to compare with; "
            "see done.json in the members' folders, and take more seeds (--seeds)"
        )
    judged = emergence(base, ["switch"], measure="probability").assign(switch=JUDGED)
    times = pd.concat([emergence(curves, ["switch"]), judged], ignore_index=True)
    return {
        "curves": joint(curves),
        "times": times,
        "shifts": shifts(times, names(times, results.scale)),
        "signatures": signatures(results, label),
    }


def names(times: pd.DataFrame, scale: Scale) -> list[str]:
    """The switches that there are times of, as the settings list them: first the base, last the other judge."""
    return [name for name in (BASE, *SETTINGS[scale].switches, JUDGED) if (times["switch"] == name).any()]


def shifts(times: pd.DataFrame, switches: Sequence[str]) -> pd.DataFrame:
    """For every switch and distance `ratio`, the geometric mean over seeds of the emergence time over that of the base
    with the same seed, with its 95 % Student interval on the log scale, `low` to `high`; `moved` where that excludes 1.

    A time that was never reached is not dropped but bounded by the run's end (`censored` counts such seeds): the ratio
    is then the median or a bound on it, as `note` says, and an end that stays open is 0 or infinite."""
    found = {name: times_by(times[times["switch"] == name]) for name in switches}
    rows = []
    for name in switches:
        for distance, own in found[name].items():
            if name != BASE and distance in found[BASE]:
                shift = _shift(ratio(own, found[BASE][distance]))
                rows.append({"switch": name, "distance": distance, **shift})
    return pd.DataFrame(
        rows, columns=["switch", "distance", "ratio", "low", "high", "moved", "seeds", "censored", "note"]
    )


def _shift(factor: PerSeed) -> dict[str, Any]:
    with np.errstate(divide="ignore"):
        logs = factor.map_increasing(np.log)
    middle, note, _ = centre(logs)
    # One seed shows no spread, and so no interval.
    ends = student_interval(logs, _ALPHA, TIME_RESOLUTION) if len(logs) > 1 else (-math.inf, math.inf)
    low, high = (float(np.exp(end)) for end in ends)
    return {
        "ratio": math.nan if middle is None else float(np.exp(middle)),
        "low": low,
        "high": high,
        "moved": low > 1 or high < 1,
        "seeds": len(logs),
        "censored": logs.censored,
        "note": note,
    }


@figures.house()
def draw(results: Results, tables: Tables) -> Picture:
    """(a) emergence times by distance under each switch, beside the base, (b) their ratio to the base."""
    times, found = tables["times"], tables["shifts"]
    switches = names(times, results.scale)
    page = figures.figure(columns=2, height=4.6)
    above, below = page.subplots(2, 1, sharex=True, height_ratios=(1.15, 1))
    figures.panel(above, "a", "Figure 5 under each switch")
    time_groups(above, times, "switch", switches)
    above.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    figures.panel(below, "b", "Which switch moves it: time over that of the base")
    _ratios(below, found, switches)
    figures.caption(
        page,
        f"{figures.seeds_text(times['seed'].nunique(), band='')}. "
        f"a: {NEVER} b: geometric mean over seeds of the ratio to the base with the "
        "same seed, with its 95 % interval; filled: the interval excludes 1. Bars that leave the panel are open, "
        "since a time was not reached or one seed shows no spread.",
    )
    return page


def _ratios(ax: Axes, found: pd.DataFrame, switches: Sequence[str]) -> None:
    distances = sorted(found["distance"].unique())
    reach = _reach(found)
    ax.axhline(1, color="#8a8f98", lw=0.8, zorder=1)
    for row in found.itertuples():
        line = figures.distance_line(str(row.distance))
        place = switches.index(str(row.switch)) + 0.22 * (
            distances.index(row.distance) - (len(distances) - 1) / 2
        )
        low, high = float(str(row.low)), float(str(row.high))
        ax.plot([place] * 2, [max(low, 1 / reach / 2), min(high, 2 * reach)], color=line.colour, lw=1)
        ax.plot(
            [place], [float(str(row.ratio))], line.marker, ms=5, mec=line.colour, mew=1,
            mfc=line.colour if row.moved else "white",
        )  # fmt: skip
    ax.set(
        yscale="log", ylim=(1 / reach, reach), ylabel="ratio to the base", xlim=(-0.6, len(switches) - 0.4)
    )
    ticks = figures.log_ticks(1 / reach, reach)
    ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    ax.set_xticks(range(len(switches)), [*_wrapped(switches)], fontsize=6.4)


def _reach(found: pd.DataFrame) -> float:
    """As far above and below 1 as ratios and closed ends of intervals go, and twice at least."""
    values = found[["ratio", "low", "high"]].to_numpy(dtype=float).ravel()
    values = values[np.isfinite(values) & (values > 0)]
    furthest = float(np.exp(np.abs(np.log(values)).max())) if len(values) else 1.0
    return min(max(1.15 * furthest, 2.0), _WIDEST)


def _wrapped(switches: Sequence[str]) -> Iterator[str]:
    """Names in short lines that never part an equation."""
    for name in switches:
        yield textwrap.fill(name.replace(" = ", "\u00a0=\u00a0"), 11, break_long_words=False)
