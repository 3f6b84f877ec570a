"""Figures 1, 4, 6 and `masking`: concept space, what the loss hides, the data, and hidden colours."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from conceptlab import figures
from conceptlab.studies.park2024 import drawing
from conceptlab.studies.park2024.recipes import TARGET
from conceptlab.studies.park2024.tables import curve, signal_of
from conceptlab.studies.study import Results, Tables
from conceptlab.worlds import World


@figures.house()
def draw_fig1(results: Results, tables: Tables) -> Picture:
    """Ways through concept space, how far along the edge from 01 to 11 class 11 is over training, and the time at which
    its colour is learned by signal."""
    curves, times = tables["curves"], tables["times"]
    page = figures.figure(columns=2, height=2.7)
    space, edge, signal = page.subplots(1, 3, width_ratios=(1.15, 1.35, 1.0))
    figures.panel(space, "a", "Concept space")
    drawing.space_axes(space)
    drawing.draw_paths(space, curves, times, "separation")
    figures.panel(edge, "b", "Class 11: from 01 to 11")
    _along_the_edge(edge, curves, times)
    drawing.colour_bar(page, edge, curves["separation"], "colour separation")
    figures.panel(signal, "c", "Sooner with signal")
    never = _times_by_signal(signal, times, signal_of(tables["signal"]))
    drawing.seeds_caption(
        page,
        curves,
        "a: mean ways since every training class is drawn in all seeds (ring) to the end (disc); dashed, training "
        f"classes; solid, class 11. b: mean over seeds of its place along the upper edge. {drawing.since_text(times)} "
        f"c: a mark for each run, those alike side by side; signal on a small circle; {never} never reach .5 "
        "(triangles).",
        bands=False,
    )
    return page


def _along_the_edge(ax: Axes, curves: pd.DataFrame, times: pd.DataFrame) -> None:
    """Size is learned first: what is left of the way is colour."""
    shades = drawing.colours(curves["separation"])
    for value, runs in curves.groupby("separation", sort=True):
        way = curve(runs, "coordinate", "colour").rename("value").reset_index()
        way = drawing.since_drawn(way, times[times["separation"] == value])
        ax.plot(way["step"], way["value"], color=shades[float(str(value))], lw=1.3)
    ax.set(xlim=(0, float(curves["step"].max())), ylim=(-0.05, 1.05))
    ax.set_yticks((0, 0.5, 1), ("01", "0.5", "11"))
    ax.set(xlabel="training step", ylabel="colour: red → blue")


def _times_by_signal(ax: Axes, times: pd.DataFrame, signal: dict[float, float]) -> int:
    """Times are those of evaluations, and several runs may share one: their marks stand side by side."""
    shades, ends = drawing.colours(times["separation"]), [1000 * signal[d] for d in times["separation"]]
    low, high = min(ends), max(ends)
    aside = max(high / low, 2) ** 0.034  # about the width of a mark
    never = times["colour"].isna()
    shown = times.assign(never=never, height=times["colour"].fillna(times["last"]))
    for _, runs in shown.groupby(["separation", "height"]):
        separation, height = (float(runs[name].iloc[0]) for name in ("separation", "height"))
        shade, middle = shades[separation], 1000 * signal[separation]
        for place, late in enumerate(runs["never"]):
            at = middle * aside ** (place - (len(runs) - 1) / 2)
            look = {"mfc": "none", "mec": shade} if late else {"mfc": shade, "mec": "white", "mew": 0.4}
            ax.plot(at, height, "^" if late else "o", ms=3.4 if late else 3.8, **look)
    # Signals lie close together where they are small.
    ax.set_xscale("log")
    ticks = figures.log_ticks(low, high)
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    ax.set(xlabel="colour signal, × 1000", ylabel="steps to colour accuracy .5", ylim=(0, None))
    return int(never.sum())


@figures.house()
def draw_fig4(results: Results, tables: Tables) -> Picture:
    """Loss, accuracy and concept space side by side, with the time of capability on each."""
    curves, times = tables["curves"], tables["times"]
    page = figures.figure(columns=2, height=2.5)
    axes = page.subplots(1, 3, width_ratios=(1, 1, 1.15))
    shades = drawing.colours(curves["separation"])
    figures.panel(axes[0], "a", "Loss")
    figures.panel(axes[1], "b", "Accuracy of class 11")
    figures.panel(axes[2], "c", "Concept space")
    figures.accuracy_axes(axes[1])
    drawing.space_axes(axes[2])
    for value, runs in curves.groupby("separation", sort=True):
        shade, own = shades[float(str(value))], times[times["separation"] == value]
        capable = drawing.median_time(own, "capability")
        shown = (
            (axes[0], runs[runs["measure"] == "loss"]),
            (axes[1], drawing.since_drawn(figures.select(runs, "accuracy", cls=TARGET), own)),
        )
        for ax, rows in shown:
            mean = figures.over_seeds(rows).set_index("step")["mean"]
            ax.plot(mean.index, mean, color=shade)
            if np.isfinite(capable) and len(mean):
                ax.plot(
                    capable,
                    np.interp(capable, mean.index, mean),
                    "*",
                    ms=9,
                    color=shade,
                    mec="white",
                    zorder=5,
                )
        drawing.draw_path(axes[2], drawing.path(runs, TARGET, own), shade, held_out=True)
        if np.isfinite(capable):
            at = _place_when_capable(runs, own)
            axes[2].plot(*at, "*", ms=9, color=shade, mec="white", zorder=6)
    losses = curves.loc[curves["measure"] == "loss", "value"]
    axes[0].set_yscale("log" if (losses > 0).all() else "symlog")
    axes[0].set(xlabel="training step", ylabel="training loss")
    axes[1].set_xlim(0, 1.03 * float(curves["step"].max()))
    drawing.colour_bar(page, axes[2], curves["separation"], "colour separation")
    text = (
        "Means; Figures 2 and 8 show how seeds differ. Stars: median time at which held-out capability reaches .5. "
        "Lines begin in b when half of the seeds draw every training class, in c when all do; stars in c: mean over "
        "seeds of the place at their own such times."
    )
    drawing.seeds_caption(page, curves, text, bands=False)
    return page


def _place_when_capable(runs: pd.DataFrame, times: pd.DataFrame) -> np.ndarray:
    """Where class 11 is in concept space when a seed becomes capable, mean over those that do. Seeds draw at different
    times, so the mean path may begin after most of them are capable: it cannot tell."""
    places = []
    for run in times.dropna(subset=["capability"]).to_dict("records"):
        own = runs[runs["seed"] == run["seed"]]
        ways = [curve(own, "coordinate", name) for name in ("colour", "size")]
        places.append([np.interp(run["capability"], way.index, way) for way in ways])
    return np.mean(places, axis=0)


@figures.house()
def draw_fig6(results: Results, tables: Tables) -> Picture:
    """Real images of the two extreme separations, and the concept signal of all."""
    worlds = {float(m.recipe.world["colour_separation"]): m.world for m in results.members}
    ends = sorted(worlds)[:: max(1, len(worlds) - 1)]
    page = figures.figure(columns=2, height=2.3)
    axes = page.subplots(1, 3, width_ratios=(1, 1, 1.1))
    for ax, letter, value in zip(axes, "ab", ends):
        figures.panel(ax, letter, f"Separation {value:g}")
        _examples(ax, worlds[value])
    for ax in axes[len(ends) : 2]:
        ax.axis("off")
    signal = tables["signal"]
    figures.panel(axes[2], "c", "Concept signal")
    for (variable, cls), rows in signal.groupby(["variable", "class"], sort=True):
        _signal_line(axes[2], str(variable), str(cls), rows)
    axes[2].set(yscale="log", xlabel="colour separation", ylabel="mean squared difference")
    # Room for the names below the lowest line.
    axes[2].set_ylim(bottom=float(signal["signal"].min()) / 12)
    axes[2].legend(loc="lower right", handlelength=2.5)
    text = "a, b: a row of images for each class. c: one concept flipped, all else held, no jitter."
    figures.caption(page, f"Digits: (colour, size). {text}")
    return page


def _signal_line(ax: Axes, variable: str, base: str, rows: pd.DataFrame) -> None:
    """One concept's signal over separations; on a small circle there is less of colour to see."""
    colour = figures.variable_colours(["colour", "size"])[variable]
    dashes, where = ("-", "big") if base == "00" else ((0, (3, 1.5)), "small")
    name = f"{variable}, {where} circle" if variable == "colour" else variable
    ax.plot(rows["separation"], rows["signal"], "o", ls=dashes, ms=3, color=colour, label=name)


def _examples(ax: Axes, world: World, count: int = 5) -> None:
    classes = list(world.space)
    images = np.stack([world.sample(cls, count, seed=0).images.numpy() for cls in classes])
    pictures = np.rint(255 * images).astype(np.uint8)
    figures.strip(ax, pictures, [world.space.code(cls) for cls in classes], [""] * count, xlabel="")


@figures.house()
def draw_masking(results: Results, tables: Tables) -> Picture:
    """Class 11 when a share of the red images hide their colour: (a) its accuracy over training, (b) when models can
    draw it and when they do, (c) how often they do in the end."""
    curves, times = tables["curves"], tables["times"]
    shades = drawing.colours(curves["hidden"])
    page = figures.figure(columns=2, height=2.6)
    over_time, when, at_end = page.subplots(1, 3, width_ratios=(1.25, 1, 1))
    figures.panel(over_time, "a", "Accuracy of class 11")
    figures.accuracy_axes(over_time)
    for value, runs in curves.groupby("hidden", sort=True):
        share = float(str(value))
        rows = drawing.since_drawn(
            figures.select(runs, "accuracy", cls=TARGET), times[times["hidden"] == value]
        )
        mean = rows.groupby("step")["value"].mean()
        over_time.plot(mean.index, mean, color=shades[share], lw=1.3)
    over_time.set_xlim(0, float(curves["step"].max()))
    drawing.colour_bar(page, over_time, curves["hidden"], "red images with hidden colour")
    figures.panel(when, "b", "First drawn")
    _times_by_share(when, times)
    figures.panel(at_end, "c", "At the end")
    for _, run in times.groupby("seed"):
        at_end.plot(run["hidden"], run["final_behaviour"], "-", color="#c9cdd3", lw=0.8, zorder=1)
    for run in times.to_dict("records"):
        at_end.plot(run["hidden"], run["final_behaviour"], "o", ms=4, color=shades[run["hidden"]])
    at_end.set(ylim=(-0.03, 1.03), ylabel="final accuracy of 11")
    for ax in (when, at_end):
        ax.set_xlabel("hidden share")
        ax.set_xticks(sorted(shades), [f"{share:g}" for share in sorted(shades)])
    separation = ", ".join(f"{value:g}" for value in sorted(times["separation"].unique()))
    late = " Open: not within the run." if times[["capability", "behaviour"]].isna().any(axis=None) else ""
    text = f"Separation {separation}. a: means. {drawing.since_text(times)}"
    way = "b: right half of the time, asked plainly or for a bluer blue."
    drawing.seeds_caption(page, curves, f"{text} {way}{late}", bands=False)
    return page


def _times_by_share(ax: Axes, times: pd.DataFrame) -> None:
    """When each seed can draw class 11 and when it does; an open mark at the end of the run where it never does."""
    shares = sorted(times["hidden"].unique())
    aside = 0.12 * (shares[1] - shares[0] if len(shares) > 1 else 1)
    for side, kind, line in ((-1, "capability", drawing.CAPABILITY), (1, "behaviour", drawing.BEHAVIOUR)):
        reached = times[kind].notna()
        for rows, face in ((times[reached], line.colour), (times[~reached], "none")):
            at = rows[kind].fillna(rows["last"])
            ax.plot(rows["hidden"] + side * aside, at, line.marker, ms=3.5, mfc=face, mec=line.colour)
        ax.plot([], [], line.marker, ms=3.5, color=line.colour, label=line.label)
    ax.set_ylim(0, 1.2 * float(times["last"].max()))  # with room for names
    ax.set_yticks([step for step in ax.get_yticks() if step <= 1.1 * times["last"].max()])
    ax.set_ylabel("training step")
    ax.legend(loc="upper left", ncols=2, handletextpad=0.1, columnspacing=0.8, borderaxespad=0.1)
