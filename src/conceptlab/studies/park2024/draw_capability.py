"""Figures 2, 3, 7, 8, 9 and `elicitation`: what a model can do, and what it shows."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from conceptlab import figures
from conceptlab.figures import Line
from conceptlab.measures.censored_line import CensoredLine, fit_censored_line
from conceptlab.studies.park2024 import drawing
from conceptlab.studies.park2024.recipes import TARGET
from conceptlab.studies.study import Results, Tables

_RESAMPLES = 200


def behaviour(table: pd.DataFrame) -> pd.DataFrame:
    return figures.select(table, "accuracy", cls=TARGET)


def capability(table: pd.DataFrame) -> pd.DataFrame:
    return figures.select(table, "prompt_capability", "over-prompting", TARGET)


def training(table: pd.DataFrame) -> pd.DataFrame:
    rows = figures.select(table, "accuracy")
    return rows[rows["distance"] == 0]


def _drawn(ax: Axes, lines: list[tuple[pd.DataFrame, Line]], *, named: bool) -> None:
    ends = figures.bands(ax, lines)
    if named:
        figures.name_ends(ax, ends)


@figures.house()
def draw_fig2(results: Results, tables: Tables) -> Picture:
    """A panel for each separation: capability, behaviour, and what choosing among redraws would show."""
    curves, times = tables["curves"], tables["times"]
    page = drawing.page_for(curves)
    for place, (ax, value, runs) in enumerate(drawing.panels(page, curves)):
        figures.accuracy_axes(ax, "accuracy of 11")
        null = figures.select(runs, "best_prompt", "redraws", TARGET)
        lines = [
            (null, drawing.NULL),
            (behaviour(runs), drawing.BEHAVIOUR),
            (capability(runs), drawing.CAPABILITY),
        ]
        _drawn(ax, lines, named=place == drawing.corner(curves))
        drawing.veil(ax, times[times["separation"] == value])
    drawing.seeds_caption(
        page,
        curves,
        "Capability: the best of five over-prompts, chosen on half of the images and scored on the other half; grey: "
        f"the largest of five redraws of the ordinary prompt. {drawing.pale_text(times)}",
    )
    return page


@figures.house()
def draw_fig3(results: Results, tables: Tables) -> Picture:
    """Times to one half, with a line that knows of times never reached and its interval over seeds."""
    times = tables["times"]
    page = figures.figure(columns=1, height=3.0)
    ax = page.add_subplot()
    figures.panel(ax, "", "Capability and behaviour times")
    last = float(times["last"].max())
    shades = drawing.colours(times["separation"])
    both = times.dropna(subset=["capability"])
    for run in both.to_dict("records"):
        never, shade = bool(np.isnan(run["behaviour"])), shades[run["separation"]]
        height = last if never else run["behaviour"]
        ax.plot(
            run["capability"], height, "^" if never else "o", ms=5, mec=shade, mfc="none" if never else shade
        )
    grid = np.linspace(0, last, 60)
    text = "too few runs reach both for a line"
    if fit := _fit(both, last):
        resampled = _resampled(both, last)
        ax.plot(grid, fit(grid), color="#1a1c20", lw=1.2, zorder=1)
        if resampled:
            low, high = np.quantile([line(grid) for line in resampled], [0.025, 0.975], axis=0)
            ax.fill_between(grid, low, high, color="#1a1c20", alpha=0.12, lw=0, zorder=0)
        text = f"line: slope {fit.slope:.2g}, censored regression; band: 95 % over resampled seeds"
    ax.plot(grid, grid, color="#c9cdd3", lw=0.8, ls=(0, (2, 2)), zorder=0)
    ax.set(xlim=(0, last * 1.03), ylim=(0, last * 1.03))
    ax.set(xlabel="steps to capability .5", ylabel="steps to behaviour .5")
    drawing.colour_bar(page, ax, times["separation"], "colour separation")
    unseen = int(both["behaviour"].isna().sum())
    neither = len(times) - len(both)
    figures.caption(
        page,
        f"{times['seed'].nunique()} seeds, {len(times)} runs; capable, but never behaving: {unseen} (triangles); "
        f"never capable: {neither}. {text[0].upper()}{text[1:]}.",
    )
    return page


def _fit(times: pd.DataFrame, last: float) -> CensoredLine | None:
    never = times["behaviour"].isna()
    return fit_censored_line(times["capability"], times["behaviour"].fillna(last), never)


def _resampled(times: pd.DataFrame, last: float) -> list[CensoredLine]:
    """Lines through seeds drawn with replacement: seeds are the unit, not runs."""
    rng, seeds = np.random.default_rng(0), times["seed"].unique()
    by_seed = dict(iter(times.groupby("seed")))
    if len(seeds) < 3:
        return []
    draws = [pd.concat([by_seed[s] for s in rng.choice(seeds, len(seeds))]) for _ in range(_RESAMPLES)]
    return [line for draw in draws if (line := _fit(draw, last)) is not None]


@figures.house()
def draw_fig7(results: Results, tables: Tables) -> Picture:
    """All separations together: capability, then behaviour."""
    return _by_separation(tables["curves"], tables["times"], spread=False)


@figures.house()
def draw_fig8(results: Results, tables: Tables) -> Picture:
    """The standard deviation over seeds of capability and of behaviour."""
    return _by_separation(tables["curves"], tables["times"], spread=True)


def _by_separation(curves: pd.DataFrame, times: pd.DataFrame, *, spread: bool) -> Picture:
    page = figures.figure(columns=2, height=2.4)
    axes = page.subplots(1, 2, sharey=True)
    shades = drawing.colours(curves["separation"])
    shown = (("a", "Capability", capability), ("b", "Behaviour", behaviour))
    for ax, (letter, title, chosen) in zip(axes, shown):
        figures.panel(ax, letter, title)
        if spread:
            ax.set(xlabel="training step", ylabel="standard deviation over seeds", ylim=(0, 0.6))
        else:
            figures.accuracy_axes(ax, "accuracy of 11")
        for value, runs in curves.groupby("separation", sort=True):
            rows = drawing.since_drawn(chosen(runs), times[times["separation"] == value])
            found = figures.over_seeds(rows)
            ax.plot(found["step"], found["std" if spread else "mean"], color=shades[float(str(value))])
        ax.set_xlim(0, 1.03 * float(curves["step"].max()))
        ax.locator_params(axis="x", nbins=6)  # five digits take room
    axes[1].set_ylabel("")
    drawing.colour_bar(page, axes[1], curves["separation"], "colour separation")
    text = f"Capability is scored on images that did not choose its prompt. {drawing.since_text(times)}"
    told = text if spread else f"Means; Figures 2 and 8 show how seeds differ. {text}"
    drawing.seeds_caption(page, curves, told, bands=False)
    return page


SHOWN_SEPARATION = 0.25
"""The separation of the paper's Figure 9; the nearest that was run is drawn."""


@figures.house()
def draw_fig9(results: Results, tables: Tables) -> Picture:
    """Every seed's way through capability and behaviour."""
    curves = tables["curves"]
    shown = min(curves["separation"].unique(), key=lambda value: (abs(value - SHOWN_SEPARATION), value))
    runs, times = (table[table["separation"] == shown] for table in (curves, tables["times"]))
    page = figures.figure(columns=1, height=3.2)
    ax = page.add_subplot(projection="3d")
    seeds = sorted(runs["seed"].unique())
    for seed, colour in figures.class_colours(seeds).items():
        own = runs[runs["seed"] == seed]
        # Before it draws its training classes a judge sees class 11 in noise: a tangle that hides the rest.
        since = times[times["seed"] == seed]["drawing"].max()
        own = own[own["step"] >= since]
        can, does = (chosen(own).groupby("step")["value"].mean() for chosen in (capability, behaviour))
        ax.plot(can.index, can, does.reindex(can.index), color=colour, lw=1.4)
        # Shadows on the walls tell the two curves apart.
        ax.plot(can.index, can, 0, color=colour, lw=0.5, alpha=0.5)
        ax.plot(can.index, 1, does.reindex(can.index), color=colour, lw=0.5, alpha=0.5)
    ax.set_xticks(np.linspace(0, float(runs["step"].max()), 4).round(-1))
    ax.set_ylim(0, 1)
    ax.set_zlim(0, 1)  # pyright: ignore[reportAttributeAccessIssue]
    ax.set(xlabel="training step", ylabel="capability")
    ax.set_zlabel("behaviour")  # pyright: ignore[reportAttributeAccessIssue]
    ax.set_title(f"Separation {shown:g}")
    ax.set_box_aspect(None, zoom=0.82)  # pyright: ignore[reportCallIssue, reportArgumentType]
    figures.caption(
        page,
        f"{len(seeds)} seeds, a line for each, since it draws every training class{_without(times)}; thin: its "
        f"projections on floor and back wall.{_claimed_of(curves['separation'].min(), shown)}",
    )
    return page


def _claimed_of(lowest: float, shown: float) -> str:
    """What the claims beside the picture are about, where it shows another separation."""
    if lowest == shown:
        return ""
    return f" The separation is the paper's; claims are about all, or the lowest, {lowest:g}."


def _without(times: pd.DataFrame) -> str:
    """How many seeds have no line, where some never draw."""
    never = int(times["drawing"].isna().sum())
    return f" ({never} never {'do' if never > 1 else 'does'})" if never else ""


@figures.house()
def draw_elicitation(results: Results, tables: Tables) -> Picture:
    """A capability curve for each way of asking, beside behaviour and the best of redraws, which claims start from."""
    curves, times = tables["curves"], tables["times"]
    page = drawing.page_for(curves)
    for place, (ax, value, runs) in enumerate(drawing.panels(page, curves)):
        figures.accuracy_axes(ax, "accuracy of 11")
        ways = {"redraws": drawing.BEHAVIOUR, **drawing.FAMILY_LINES}
        null = figures.select(runs, "agreed_best", "redraws", TARGET)
        lines = [(_agreed(runs, way), _unmarked(line)) for way, line in ways.items()]
        lines.append((_mean(null), _unmarked(drawing.NULL)))
        _drawn(ax, lines, named=place == drawing.corner(curves))
        own = times[times["separation"] == value]
        drawing.veil(ax, own)
        _patched(ax, _agreed(runs, "patch"), drawing.median_time(own, "drawing"))
    drawing.seeds_caption(
        page,
        curves,
        "Only images count that both probes read as 11. Each way is chosen on half of its images, scored on the "
        "other; grey: the largest of five redraws of the ordinary prompt, mean over seeds. Stars: networks of that "
        "step with the last embedding, asked plainly; hollow: before they draw every training class. "
        f"{drawing.pale_text(times)}",
    )
    return page


def _patched(ax: Axes, rows: pd.DataFrame, drawn: float) -> None:
    """Stars for patched networks; hollow where they cannot draw yet (`drawing_from`): a score means nothing there."""
    found = figures.over_seeds(rows)
    for own, face in ((found[found["step"] < drawn], "white"), (found[found["step"] >= drawn], "#1a1c20")):
        ax.errorbar(
            own["step"], own["mean"], own["std"].fillna(0), fmt="*", ms=7, color="#1a1c20", mfc=face,
            elinewidth=0.7, zorder=5,
        )  # fmt: skip


def _agreed(table: pd.DataFrame, family: str) -> pd.DataFrame:
    return figures.select(table, "agreed_capability", family, TARGET)


def _mean(rows: pd.DataFrame) -> pd.DataFrame:
    """The mean over seeds as if it were one: a sixth band would hide the others."""
    return rows.groupby("step", as_index=False)["value"].mean().assign(seed=0)


def _unmarked(line: Line) -> Line:
    name = {drawing.CAPABILITY: "over-prompting", drawing.BEHAVIOUR: "asked plainly"}.get(line, line.label)
    return Line(line.colour, name, "", line.dashes)
