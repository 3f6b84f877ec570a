"""What the figures of park2024 have in common: colours of a separation, a panel for each of them, concept space."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.ticker import AutoMinorLocator

from conceptlab import figures
from conceptlab.figures import Line, Page
from conceptlab.studies.park2024.recipes import TARGET
from conceptlab.studies.park2024.tables import curve

BEHAVIOUR = Line("#D55E00", "behaviour", "s")
CAPABILITY = Line("#009E73", "capability", "o")
NULL = Line("#8a8f98", "best of redraws", "x", (0, (1, 1.2)))
TRAINING = Line("#0072B2", "training", "^", (0, (4, 1.5)))
FAMILY_LINES = {
    "over-prompting": CAPABILITY,
    "search": Line("#7A1F4F", "search", "D"),
    "latent": Line("#56B4E9", "latent", "v"),
    "guidance": Line("#E69F00", "guidance", "P"),
}

Colour = tuple[float, float, float]


def colours(values: pd.Series) -> dict[float, Colour]:
    """The colour of each value of a setting, dark for the smallest."""
    every = sorted(float(value) for value in values.unique())
    shade = _shade(values, every[0], every[-1])
    return {value: shade(value) for value in every}


def _shade(values: pd.Series, low: float, high: float) -> Callable[[float], Colour]:
    """A separation has one colour everywhere; any other setting has those of its own range."""
    if values.name == "separation":
        return figures.separation_colour
    return lambda value: figures.setting_colour(value, low, high)


def colour_bar(page: Page, ax: Axes, values: pd.Series, label: str) -> None:
    """The scale beside the axes, with a tick for each value that was run."""
    every = sorted(float(value) for value in values.unique())
    low, high = (every[0], every[-1]) if len(every) > 1 else (every[0] - 0.5, every[0] + 0.5)
    shade = _shade(values, low, high)
    shades = ListedColormap([shade(v) for v in np.linspace(low, high, 128)])
    bar = page.colorbar(ScalarMappable(Normalize(low, high), shades), ax=ax, pad=0.02, aspect=28)
    bar.set_ticks(every, labels=[f"{value:g}" for value in every])
    bar.set_label(label)
    bar.outline.set_visible(False)  # pyright: ignore[reportCallIssue]


def columns_of(table: pd.DataFrame) -> int:
    """How many panels stand in a row: up to three, or four where that leaves fewer places empty."""
    count = int(table["separation"].nunique())
    return count if count < 4 else min((3, 4), key=lambda columns: -count % columns)


def panels(page: Page, table: pd.DataFrame) -> Iterator[tuple[Axes, float, pd.DataFrame]]:
    """A panel for each separation, in rows; only the outer ones carry axis labels."""
    every = sorted(float(value) for value in table["separation"].unique())
    columns = columns_of(table)
    rows = -(-len(every) // columns)
    grid = page.add_gridspec(rows, columns)
    first: Axes | None = None
    for place, value in enumerate(every):
        ax = page.add_subplot(grid[divmod(place, columns)], sharex=first, sharey=first)
        first = first or ax
        ax.set_title(f"separation {value:g}")
        ax.locator_params(axis="x", nbins=5 if columns < 4 else 3)
        if columns == 4:  # room for every other number only
            ax.xaxis.set_minor_locator(AutoMinorLocator(2))
        yield ax, value, table[table["separation"] == value]
        if place % columns:
            ax.set_ylabel("")
        if place + columns < len(every):
            ax.set_xlabel("")


def veil(ax: Axes, times: pd.DataFrame) -> None:
    """Pale what comes before half of the seeds draw their training classes."""
    figures.veil(ax, median_time(times, "drawing"))


def pale_text(times: pd.DataFrame) -> str:
    """What `veil` pales, for the caption."""
    return f"Pale: before {_who_draws(times)} every training class."


def _who_draws(times: pd.DataFrame) -> str:
    return "half of the seeds draw" if times["seed"].nunique() > 1 else "the model draws"


def since_text(times: pd.DataFrame) -> str:
    """Where lines begin, for the caption; and what it means where there is none."""
    drawn = [median_time(own, "drawing") for _, own in times.groupby("separation")]
    missing = "" if np.isfinite(drawn).all() else " Where there is none, they do not."
    return f"Lines begin when {_who_draws(times)} every training class.{missing}"


def since_drawn(rows: pd.DataFrame, times: pd.DataFrame) -> pd.DataFrame:
    """What comes once half of the seeds draw their training classes: before, curves of many settings are a tangle."""
    return rows[rows["step"] >= median_time(times, "drawing")]


def corner(table: pd.DataFrame) -> int:
    """The number of the panel at the upper right, beside which names have room."""
    return columns_of(table) - 1


def page_for(table: pd.DataFrame) -> Page:
    """A page as high as its rows of panels."""
    rows = -(-table["separation"].nunique() // columns_of(table))
    return figures.figure(columns=2, height=0.75 + 1.75 * rows)


def space_axes(ax: Axes) -> None:
    """Concept space: colour across, size up, with its corners marked by what they mean."""
    # Room for the corners' names, also in a small panel.
    ax.set(xlim=(-0.18, 1.18), ylim=(-0.18, 1.18))
    ax.set(aspect="equal", xlabel="colour: red → blue", ylabel="size: big → small")
    ticks = (0, 0.5, 1)
    ax.set_xticks(ticks)
    ax.set_yticks(ticks)
    for x in (0, 1):
        for y in (0, 1):
            ax.plot(x, y, "o", ms=4, mfc="white", mec="#5c626b", mew=0.8, zorder=6, clip_on=False)
            away = (0, 8 if y else -8)
            ax.annotate(
                f"{x}{y}", (x, y), away, textcoords="offset points", ha="center", va="center", fontsize=6.8
            )


def path(run: pd.DataFrame, cls: str, times: pd.DataFrame) -> pd.DataFrame:
    """Mean over seeds of a class's way through concept space, colour and size by step, since all of them draw."""
    coordinates = [curve(run, "coordinate", name, cls) for name in ("colour", "size")]
    way = pd.concat(coordinates, axis=1)
    return way[way.index >= times["drawing"].max(skipna=False)]


def draw_path(ax: Axes, along: pd.DataFrame, colour: Colour, *, held_out: bool) -> None:
    way = along.to_numpy(dtype=float)
    if len(way) == 0:
        return
    ax.plot(
        *way.T, color=colour, lw=1.7 if held_out else 1.0, ls="-" if held_out else (0, (3, 1.5)), zorder=3
    )
    if held_out:
        ax.plot(*way[0], "o", ms=3, mfc="white", mec=colour, mew=0.9, zorder=4)
        ax.plot(*way[-1], "o", ms=3.6, color=colour, zorder=5)


def draw_paths(ax: Axes, table: pd.DataFrame, times: pd.DataFrame, by: str) -> None:
    """Training classes dashed, class 11 solid with a ring where it starts, one colour for each value of `by`."""
    shades = colours(table[by])
    for value, runs in table.groupby(by, sort=True):
        shade, own = shades[float(str(value))], times[times[by] == value]
        for cls in sorted(set(runs["class"]) - {""}):
            draw_path(ax, path(runs, str(cls), own), shade, held_out=cls == TARGET)


def seeds_caption(page: Page, table: pd.DataFrame, text: str, *, bands: bool = True) -> None:
    seeds = table["seed"].nunique()
    told = figures.seeds_text(seeds) if bands else f"{seeds} seed{'s' if seeds > 1 else ''}"
    figures.caption(page, f"{told}. {text}")


def median_time(times: pd.DataFrame, kind: str) -> float:
    """The median over seeds, infinite where half of them or more never reach it."""
    return float(times[kind].fillna(np.inf).median()) if len(times) else float("nan")
