"""`park2024.width`: does the width of the condition set the pace?

The public code tells its networks eleven numbers, of which seven are always zero: places for concepts that these images
do not vary. They carry nothing, but the first layer of every condition MLP starts with weights of at most 1/sqrt(11)
instead of 1/sqrt(4). Ours are told colour and size alone, and learn sooner than the published curves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from conceptlab import figures
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
_LINES = {"training": drawing.TRAINING, "capability": drawing.CAPABILITY, "behaviour": drawing.BEHAVIOUR}
_DASHES = {False: "-", True: (0, (4, 1.5))}


def recipes(scale: Scale, seeds: Sequence[int]) -> list[Recipe]:
    """Some of the sweep, each with the condition as it is and as the public code has it."""
    narrow = [r for r in sweep(scale, seeds) if r.world["colour_separation"] in SIZES[scale].widened]
    return [*narrow, *(r.with_settings({"world.blanks": BLANKS}) for r in narrow)]


def tables(results: Results) -> dict[str, pd.DataFrame]:
    """`means`: mean over seeds of what is compared, by separation and width; `times`: when it is reached, beside the
    published times (NaN: never, or not published)."""
    width = {member.id: member.world.condition_shape[0] for member in results.members}
    every = curves(results, "member")
    every = every.assign(width=every["member"].map(width))
    found = [_means(own) for _, own in every.groupby(["separation", "width"], sort=True)]
    means = pd.concat(found, ignore_index=True)
    times = times_of(means)
    # Steps of other networks are no others' steps.
    return {"means": means, "times": times if results.scale == "paper" else times.assign(published=math.nan)}


def _means(rows: pd.DataFrame) -> pd.DataFrame:
    """Of members of one separation and width."""
    accuracy = rows[(rows["measure"] == "accuracy") & (rows["variable"] == "")]
    by_class = accuracy.groupby(["step", "class"])["value"].mean().unstack()
    taught = by_class.drop(columns=TARGET)
    best = rows[(rows["measure"] == "best_prompt") & (rows["variable"] == "over-prompting")]
    table = pd.DataFrame(
        {
            "training": taught.mean(axis=1),
            "worst": taught.min(axis=1),
            "capability": best.groupby("step")["value"].mean(),
            "behaviour": by_class[TARGET],
        }
    ).reset_index()
    return table.assign(separation=rows["separation"].iloc[0], width=rows["width"].iloc[0])


def times_of(means: pd.DataFrame) -> pd.DataFrame:
    """When each mean reaches its level for three evaluations in a row, counted since every training class is right half
    of the time: before that a judge reads class 11 into noise."""
    rows = []
    for _, own in means.groupby(["separation", "width"], sort=True):
        separation, width = float(own["separation"].iloc[0]), int(own["width"].iloc[0])
        by_step = own.set_index("step")
        since = reached(by_step["worst"], 0.0)
        for place, (name, level) in enumerate(CURVES.items()):
            published = PUBLISHED.get(separation, (math.nan,) * 3)[place]
            rows.append((separation, width, name, level, reached(by_step[name], since, level), published))
    return pd.DataFrame(rows, columns=["separation", "width", "curve", "level", "step", "published"])


@figures.house()
def draw_width(results: Results, tables: Tables) -> Picture:
    """A panel for each separation: training classes, capability and behaviour over training, by the width of the
    condition; stars where the published curves pass the same level."""
    means, times = tables["means"], tables["times"]
    page = figures.figure(columns=2, height=2.9)
    separations = sorted(means["separation"].unique())
    axes = page.subplots(1, len(separations), sharex=True, sharey=True, squeeze=False)[0]
    for letter, ax, separation in zip("abcd", axes, separations):
        figures.panel(ax, letter, f"Separation {separation:g}")
        _curves(ax, means[means["separation"] == separation])
        _stars(ax, times[times["separation"] == separation])
    axes[0].set_ylabel("accuracy")
    _legend(axes[-1], means)
    figures.caption(page, _caption(results, times))
    return page


def _curves(ax: Axes, means: pd.DataFrame) -> None:
    for width, own in means.groupby("width", sort=True):
        for name, line in _LINES.items():
            dashes = _DASHES[width != means["width"].min()]
            ax.plot(own["step"], own[name], color=line.colour, ls=dashes, lw=1.3)
    ax.set_ylim(-0.03, 1.03)
    ax.set_xlabel("training step")


def _stars(ax: Axes, times: pd.DataFrame) -> None:
    published = times.dropna(subset=["published"]).drop_duplicates("curve")
    for name, step, level in published[["curve", "published", "level"]].to_numpy():
        ax.plot(step, level, "*", ms=8, color=_LINES[name].colour, mec="white", mew=0.6)


def _legend(ax: Axes, means: pd.DataFrame) -> None:
    widths = sorted(means["width"].unique())
    for name, line in _LINES.items():
        ax.plot(
            [],
            [],
            color=line.colour,
            lw=1.5,
            label=f"{name} of {TARGET}" if name != "training" else "training classes",
        )
    for width in widths:
        ax.plot([], [], color="#5c626b", ls=_DASHES[width != widths[0]], lw=1.3, label=f"{width} numbers")
    ax.legend(loc="center left", bbox_to_anchor=(1.02, 0.5))


def _caption(results: Results, times: pd.DataFrame) -> str:
    seeds = len(results.seeds)
    text = f"Means of {seeds} seed{'s' if seeds > 1 else ''}. Capability: best of five over-prompts, as in the paper."
    reached = times.pivot_table(index=["separation", "curve"], columns="width", values="step", dropna=False)
    if reached.shape[1] == 2 and (ratios := (reached.iloc[:, 1] / reached.iloc[:, 0]).dropna()).size:
        least, most = f"{ratios.min():.2f}", f"{ratios.max():.2f}"
        span = least if least == most else f"{least} to {most}"
        text += f" What is reached with both comes {span} times as late with the wider condition."
    if results.scale == "paper":
        text += " Stars: the authors' published curves at the same level, read off their figures."
    return text


FIGURE = Figure(
    "width",
    "The condition's width",
    "when training classes, capability and behaviour come if the condition is padded with zeros, as in the public code",
    tables,
    draw_width,
    recipes,
)
