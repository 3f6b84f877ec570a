"""`park2024.width`: does the width of the condition set the pace?

The public code tells its networks eleven numbers, of which seven are always zero: places for concepts that these images
do not vary. They carry nothing, but the first layer of every condition MLP starts with weights of at most 1/sqrt(11)
instead of 1/sqrt(4). Ours are told colour and size alone, and learn sooner than the published curves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from conceptlab import figures
from conceptlab.claims import PerSeed, group_times, ratio, student_interval
from conceptlab.measures import last_start
from conceptlab.recipe import Recipe
from conceptlab.studies.park2024 import drawing
from conceptlab.studies.park2024.recipes import SIZES, TARGET, sweep
from conceptlab.studies.park2024.tables import THRESHOLD, curves, reached
from conceptlab.studies.study import Figure, Results, Scale, Tables

BLANKS = 7
LEARNED = 0.95
"""The accuracy at which the published training classes are timed; capability and behaviour are at one half."""

# Steps read off the authors' published figures, means over seeds: training classes at .95, capability and behaviour of
# 11 at .5. They are good to a few hundred steps.
PUBLISHED: dict[float, tuple[float, float, float]] = {
    0.175: (6000, 5300, 10_000),
    0.2: (6000, 4700, 9000),
    0.225: (5500, 4000, 7500),
    0.25: (6000, 3900, 7000),
    0.275: (6000, 3400, 5700),
    0.3: (5500, 3300, 4700),
}
CURVES = {"training": LEARNED, "capability": THRESHOLD, "behaviour": THRESHOLD}
"""What is compared, in the order of `PUBLISHED`, and at which level."""
LOWEST = "lowest"
"""The training class that is drawn worst: before it is drawn a judge reads class 11 into noise."""
_LINES = {"training": drawing.TRAINING, "capability": drawing.CAPABILITY, "behaviour": drawing.BEHAVIOUR}
_NAMES = {
    "training": "training classes",
    "capability": f"capability of {TARGET}",
    "behaviour": f"behaviour of {TARGET}",
}
_DASHES: dict[bool, str | tuple[float, tuple[float, ...]]] = {False: "-", True: (0, (4, 1.5))}


def recipes(scale: Scale, seeds: Sequence[int]) -> list[Recipe]:
    """Some of the sweep, each with the condition as it is and as the public code has it."""
    narrow = [r for r in sweep(scale, seeds) if r.world["colour_separation"] in SIZES[scale].widened]
    return [*narrow, *(r.with_settings({"world.blanks": BLANKS}) for r in narrow)]


def tables(results: Results) -> dict[str, pd.DataFrame]:
    """`curves`: what is compared, run by run; `times`: when it is reached, run by run; `means`: when their mean over
    seeds does, beside the published times (NaN: never, or not published)."""
    width = {member.id: member.world.condition_shape[0] for member in results.members}
    every = curves(results, "member")
    by_run = compared(every.assign(width=every["member"].map(width)))
    mean = by_run.groupby(["separation", "width", "step", "curve"])["value"].mean().reset_index()
    means = beside_published(times_of(mean))
    # Steps of other networks are no others' steps.
    means = means if results.scale == "paper" else means.assign(published=math.nan)
    return {"curves": by_run, "times": times_of(by_run), "means": means}


def compared(every: pd.DataFrame) -> pd.DataFrame:
    """A row for each separation, width, seed, step and curve."""
    run = ["separation", "width", "seed", "step"]
    joint = every[(every["measure"] == "accuracy") & (every["variable"] == "")]
    taught = joint[joint["class"] != TARGET].groupby(run)["value"]
    best = every[(every["measure"] == "best_prompt") & (every["variable"] == "over-prompting")]
    found = {
        "training": taught.mean(),
        LOWEST: taught.min(),
        "capability": best.groupby(run)["value"].mean(),
        "behaviour": joint[joint["class"] == TARGET].groupby(run)["value"].mean(),
    }
    parts = [values.rename("value").reset_index().assign(curve=name) for name, values in found.items()]
    return pd.concat(parts, ignore_index=True)[[*run, "curve", "value"]]


def times_of(rows: pd.DataFrame) -> pd.DataFrame:
    """When curves of runs, or of means over them, reach their level for three evaluations in a row, counted since every
    training class is right half of the time."""
    by = [name for name in ("separation", "width", "seed") if name in rows]
    found = []
    for key, own in rows.groupby(by, sort=True):
        run = own.pivot_table(index="step", columns="curve", values="value")
        since = reached(run[LOWEST], 0.0)
        found += [(*key, name, level, reached(run[name], since, level)) for name, level in CURVES.items()]
    return pd.DataFrame(found, columns=[*by, "curve", "level", "step"])


def beside_published(times: pd.DataFrame) -> pd.DataFrame:
    place = {name: number for number, name in enumerate(CURVES)}
    unknown = (math.nan,) * len(CURVES)
    told = [PUBLISHED.get(d, unknown)[place[c]] for d, c in zip(times["separation"], times["curve"])]
    return times.assign(published=told)


def delays(times: pd.DataFrame, first: float, last: float) -> dict[str, PerSeed]:
    """How many times as long the wider condition takes, by curve and seed: geometric means over separations. A time
    that was never reached is a bound. Nothing where only one width was trained."""
    found = {}
    for name, own in times.rename(columns={"step": "time"}).groupby("curve", sort=False):
        by_width = list(group_times(own, "width", first=first, last=last).values())
        if len(by_width) == 2:
            found[str(name)] = ratio(by_width[1], by_width[0])
    return found


@figures.house()
def draw_width(results: Results, tables: Tables) -> Picture:
    """A panel for each separation: training classes, capability and behaviour over training, by the width of the
    condition; stars where the published curves pass the same level."""
    by_run, means = tables["curves"], tables["means"]
    page = drawing.page_for(by_run)
    widths = sorted(by_run["width"].unique())
    for place, (ax, separation, rows) in enumerate(drawing.panels(page, by_run)):
        figures.accuracy_axes(ax)
        for width in widths:
            _curves(ax, rows[rows["width"] == width], _DASHES[width != widths[0]])
        _stars(ax, means[means["separation"] == separation])
        if place == drawing.corner(by_run):
            _legend(ax, widths)
    drawing.seeds_caption(page, by_run, _caption(results, tables))
    return page


def _curves(ax: Axes, rows: pd.DataFrame, dashes: str | tuple[float, tuple[float, ...]]) -> None:
    looks = [(rows[rows["curve"] == name], replace(look, dashes=dashes)) for name, look in _LINES.items()]
    figures.bands(ax, looks)


def _stars(ax: Axes, means: pd.DataFrame) -> None:
    published = means.dropna(subset=["published"]).drop_duplicates("curve")
    for name, step, level in published[["curve", "published", "level"]].to_numpy():
        ax.plot(step, level, "*", ms=8, color=_LINES[name].colour, mec="white", mew=0.6, zorder=5)


def _legend(ax: Axes, widths: Sequence[int]) -> None:
    for name, look in _LINES.items():
        ax.plot([], [], color=look.colour, lw=1.5, label=_NAMES[name])
    for width in widths:
        ax.plot([], [], color="#5c626b", ls=_DASHES[width != widths[0]], lw=1.3, label=f"{width} numbers")
    ax.legend(loc="upper left", bbox_to_anchor=(1.02, 1))


def _caption(results: Results, tables: Tables) -> str:
    text = "Capability: best of five over-prompts, as in the paper."
    steps = tables["curves"]["step"]
    if tables["curves"]["seed"].nunique() > 1:
        later = delays(tables["times"], float(steps.min()), last_start(steps.unique()))
        told = ", ".join(f"{_NAMES[name]} {_interval_text(ratios)}" for name, ratios in later.items())
        text += f" Times with the wider condition over those with the narrower one, 95 % over seeds: {told}."
    if results.scale == "paper":
        text += " Stars: the authors' published means at the same level, read off their figures."
    return text


def _interval_text(ratios: PerSeed) -> str:
    with np.errstate(divide="ignore"):  # log 0 = -inf: an open end
        low, high = np.exp(student_interval(ratios.map_increasing(np.log), 0.05))
    return f"{low:.2f} … {high:.2f}".replace("inf", "∞")


FIGURE = Figure(
    "width",
    "The condition's width",
    "when training classes, capability and behaviour come if the condition is padded with zeros, as in the public code",
    tables,
    draw_width,
    recipes,
)
