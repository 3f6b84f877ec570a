"""The named figures: `frequency`, `centres`, `correlation`, `distance`, `threshold`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd
import scipy
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from conceptlab import figures
from conceptlab.figures import Line
from conceptlab.figures.style import FIELD, MUTED
from conceptlab.measures import critical_number
from conceptlab.studies.emergence_claims import THRESHOLD
from conceptlab.studies.okawa2023.draw_data import count_axis
from conceptlab.studies.okawa2023.draw_order import seeds_of
from conceptlab.studies.okawa2023.tables import final
from conceptlab.studies.study import Results, Tables

_WAYS = {
    "drawn rarely": Line("#0072B2", "drawn rarely, many images", "o"),
    "natural": Line("#D55E00", "few images, drawn as they come", "s"),
    "balanced": Line("#009E73", "few images, drawn evenly", "^"),
}
_RULES = {"product": "#56B4E9", "minimum": "#CC79A7", "Fréchet bound": "#8C6D31", "middle": "#8a8f98"}


def seed_times(times: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Each seed's geometric mean over classes; NaN where a class never emerged."""
    logs = times.assign(time=np.log(times["time"]))
    mean = logs.groupby(["seed", *by])["time"].agg(lambda t: np.exp(t.mean(skipna=False)))
    return mean.reset_index()


def time_marks(ax: Axes, at: float, times: Sequence[float], last: float, line: Line) -> None:
    """One group of seeds: their times as small dots, the median as a mark, seeds that never got there above the end."""
    values = np.asarray(times, dtype=float)
    never = np.isnan(values)
    shown = np.where(never, 1.3 * last, values)
    ax.plot(
        np.full(len(shown), at),
        shown,
        line.marker,
        ms=2.4,
        color=line.colour,
        alpha=0.5,
        mec="none",
        clip_on=False,
    )
    middle = np.median(shown)
    face = "white" if middle > last else line.colour
    ax.plot([at], [middle], line.marker, ms=5, mfc=face, mec=line.colour, mew=1, clip_on=False)


def time_axis(ax: Axes, times: pd.DataFrame) -> None:
    """Times on a logarithmic axis from the earliest one, with a field above the end for what was never reached."""
    last = float(times["last"].max())
    ax.set(yscale="log", ylim=(0.7 * float(times["time"].fillna(last).min()), 1.5 * last))
    ax.axhspan(1.1 * last, 1.5 * last, color=FIELD, lw=0, zorder=0)
    ax.set_ylabel(f"step of reaching {THRESHOLD:g}")
    ticks = figures.log_ticks(ax.get_ylim()[0], last)
    ax.set_yticks([*ticks, 1.3 * last], [*(f"{tick:g}" for tick in ticks), "never"])
    ax.minorticks_off()


NEVER = "Small marks: seeds; large: their median; in the grey field: not within the run."


@figures.house()
def draw_frequency(results: Results, tables: Tables) -> Picture:
    """Emergence time against the share of a class, for three ways of being rare: (a) unseen classes that need its
    value, (b) the class itself."""
    times = tables["times"]
    times = times[times["role"].isin(["in", "out"])]
    last = float(times["last"].max())
    page = figures.figure(columns=2, height=2.9)
    axes = page.subplots(1, 2, sharey=True)
    for ax, letter, role, title in zip(
        axes, "ab", ("out", "in"), ("Unseen combinations", "The rare class itself")
    ):
        figures.panel(ax, letter, title)
        time_axis(ax, times)
        own = seed_times(times[times["role"] == role], ["way", "share"])
        for way, line in _WAYS.items():
            rows = own[own["way"].isin([way, "base"])]
            for share, group in rows.groupby("share"):
                time_marks(ax, float(str(share)), list(group["time"]), last, line)
            middle = rows.assign(time=rows["time"].fillna(1.3 * last)).groupby("share")["time"].median()
            ax.plot(middle.index, middle, color=line.colour, lw=1, label=line.label)
        ax.set_xscale("log")
        shares = sorted(own["share"].unique())
        ax.set_xticks(shares, [f"{100 * share:g}" for share in shares])
        ax.minorticks_off()
        ax.set_xlabel("share of 001, %")
    page.legend(*axes[1].get_legend_handles_labels(), loc="outside upper right", ncols=3, fontsize=6.4)
    figures.caption(
        page,
        f"{figures.seeds_text(times['seed'].nunique(), band='')}, "
        f"as many steps for all. {NEVER} 25 % is Figure 5 itself.",
    )
    return page


def time_groups(ax: Axes, times: pd.DataFrame, column: str, names: Sequence[Hashable]) -> None:
    """For each name on the horizontal axis the times of all distances side by side."""
    last = float(times["last"].max())
    time_axis(ax, times)
    own = seed_times(times, [column, "distance"])
    distances = sorted(own["distance"].unique())
    for place, name in enumerate(names):
        for shift, distance in enumerate(distances):
            rows = own[(own[column] == name) & (own["distance"] == distance)]
            if len(rows):
                at = place + 0.22 * (shift - (len(distances) - 1) / 2)
                time_marks(ax, at, list(rows["time"]), last, figures.distance_line(distance))
    for line in map(figures.distance_line, distances):
        ax.plot([], [], line.marker, color=line.colour, label=line.label)
    ax.set_xlim(-0.6, len(names) - 0.4)


@figures.house()
def draw_centres(results: Results, tables: Tables) -> Picture:
    """Emergence times by distance for every corner as the centre of the training set."""
    times = tables["times"]
    names = sorted(times["centre"].unique())
    page = figures.figure(columns=2, height=2.8)
    ax = page.subplots()
    ax.set_title("Every corner as the centre of training")
    time_groups(ax, times, "centre", names)
    ax.set_xticks(range(len(names)), names)
    ax.set_xlabel("centre of the training set")
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    order = results.members[0].world.space.order
    figures.caption(
        page,
        f"{figures.seeds_text(times['seed'].nunique(), band='')}. Digits: {order}. {NEVER} 000 is Figure 5.",
    )
    return page


@figures.house()
def draw_correlation(results: Results, tables: Tables) -> Picture:
    """Against the training correlation (a) what becomes of classes that go against it, (b) how far their joint accuracy
    leaves the product, (c) the error of each rule."""
    page = figures.figure(columns=2, height=2.4)
    ends_at, departs, told = page.subplots(1, 3)
    figures.panel(ends_at, "a", "Classes against it")
    figures.accuracy_axes(ends_at, "final accuracy")
    last = final(tables["curves"], ["seed", "correlation"])
    against = [code for code in sorted(last["class"].unique()) if code[0] != code[1]]
    colours = figures.class_colours(against)
    looks = [Line(colours[code], code, "o") for code in against]
    ends = figures.bands(
        ends_at, [(last[last["class"] == look.label], look) for look in looks], x="correlation"
    )
    figures.name_ends(ends_at, ends)
    figures.panel(departs, "b", "Joint less product")
    figures.band(departs, tables["departures"], Line("#1a1c20"), x="correlation")
    departs.set_ylabel("joint - product")
    departs.axhline(0, color="#8a8f98", lw=0.8, ls=(0, (2, 2)), zorder=1)
    low, high = departs.get_ylim()
    departs.set_ylim(min(low, -0.05), max(high, 0.05))  # differences of less are no departure to be looked at
    leaves = tables["leaves"]
    where = ", ".join(f"{rho:g}" for rho in leaves.query("leaves")["correlation"])
    # Where it comes back at a larger correlation it has not left yet.
    since = critical_number(leaves["correlation"], leaves["leaves"], 1)
    if np.isfinite(since):
        departs.axvline(since, color="#8a8f98", lw=0.8, zorder=1)
    figures.panel(told, "c", "Error of each rule")
    rules = tables["rules"]
    lines = [(rules[rules["rule"] == rule], Line(colour, rule)) for rule, colour in _RULES.items()]
    ends = figures.bands(told, lines, x="correlation", y="error")
    told.set(ylabel="mean absolute error", ylim=(0, None))
    figures.name_ends(told, ends)
    for ax in (ends_at, departs, told):
        ax.set_xlabel("training correlation")
    figures.caption(
        page,
        f"{seeds_of(tables['departures'])}. Correlation is of shape and size; small circles (010, 011) and large "
        "triangles (100, 101) go against it, and at 1 none is shown. b: of those, mean over training; it differs from "
        f"what it is at 0 at {where or 'no correlation tried'} (95 %; line: from where on). c: held-out classes with "
        "two or more variables in [.2, .9]; no point where there were none.",
    )
    return page


@figures.house()
def draw_distance(results: Results, tables: Tables) -> Picture:
    """Emergence time of held-out classes against (a) Hamming and (b) signal-weighted distance from training."""
    times = tables["times"].query("distance > 0")
    last = float(times["last"].max())
    page = figures.figure(columns=2, height=2.7)
    axes = page.subplots(1, 2, sharey=True)
    parts = (("a", "Hamming distance", "distance"), ("b", "Signal-weighted distance", "weighted"))
    for ax, (letter, title, column) in zip(axes, parts):
        time_axis(ax, times)
        for distance, rows in times.groupby("distance"):
            line = figures.distance_line(distance)
            shift = 0.0 if column == "weighted" else 0.06 * (rows["seed"] - rows["seed"].mean())
            ax.plot(
                rows[column] + shift, rows["time"].fillna(1.3 * last), line.marker, ms=3, color=line.colour, alpha=0.6,
                mec="none", label=line.label,
            )  # fmt: skip
        ranks = scipy.stats.rankdata(times["time"].fillna(np.inf))
        rho = np.corrcoef(scipy.stats.rankdata(times[column]), ranks)[0, 1] if np.ptp(ranks) else np.nan
        figures.panel(ax, letter, f"{title}: ρ = {rho:.2f}" if np.isfinite(rho) else title)
        ax.set_xlabel(f"{title} from {'the centre of training' if column == 'weighted' else 'training'}")
    axes[0].set_xticks(sorted(times["distance"].unique()))
    axes[0].legend(loc="center")  # between two distances, where no point can be
    _name_altered(axes[1], times, list(tables["signals"]["variable"]))
    costs = ", ".join(
        f"{v} {c:.2g}" for v, c in zip(tables["signals"]["variable"], tables["signals"]["cost"])
    )
    figures.caption(
        page,
        f"{figures.seeds_text(times['seed'].nunique(), band='')}, "
        "all centres; in the grey field: not within the run. In b, below: what differs from the centre. ρ: Spearman "
        f"over all points (never reached: last). Cost of altering a variable, mean signal over its signal: {costs}.",
    )
    return page


def _name_altered(ax: Axes, times: pd.DataFrame, variables: Sequence[str]) -> None:
    """Under each weighted distance the variables that differ from the centre: which they are is what it tells apart."""
    codes = times.drop_duplicates("weighted").sort_values("weighted")
    for place, (at, centre, cls) in enumerate(zip(codes["weighted"], codes["centre"], codes["class"])):
        altered = [name for name, own, theirs in zip(variables, cls, centre) if own != theirs]
        text = "all" if len(altered) == len(variables) else " + ".join(altered)
        # In two rows: variables of nearly the same signal give nearly the same distances.
        height = 0.03 + 0.06 * (place % 2)
        ax.text(at, height, text, transform=ax.get_xaxis_transform(), ha="center", fontsize=6, color=MUTED)
    ax.set_ylim(bottom=0.7 * ax.get_ylim()[0])
    ax.margins(x=0.12)


def _told(group: tuple[Hashable, pd.DataFrame]) -> float:
    return float(group[1]["predicted"].iloc[0])


@figures.house()
def draw_threshold(results: Results, tables: Tables) -> Picture:
    """(a) accuracy of each variable in the class that teaches it against its samples, (b) predicted and measured
    critical numbers."""
    samples, predicted = tables["samples"], tables["predicted"]
    page = figures.figure(columns=2, height=2.7)
    left, right = page.subplots(1, 2)
    figures.panel(left, "a", "Each variable against its samples")
    figures.accuracy_axes(left, "final accuracy of the variable")
    colours = figures.variable_colours(sorted(samples["teaches"].unique()))
    own = samples[(samples["role"] == "in") & (samples["variable"] == samples["teaches"])]
    lines = [(rows, Line(colours[str(name)], str(name))) for name, rows in own.groupby("teaches")]
    ends = figures.bands(left, lines, x="number")
    count_axis(left, sorted(own["number"].unique()))
    figures.name_ends(left, ends)
    figures.panel(right, "b", "Predicted from concept signal")
    last = float(predicted["last"].max())
    # Names stand to the left of the first mark and to the right of the others: predictions may be close together.
    for place, (name, rows) in enumerate(sorted(predicted.groupby("teaches"), key=_told)):
        line = Line(colours[str(name)])
        # None at all is drawn as one: a logarithmic axis has no zero.
        time_marks(right, float(rows["predicted"].iloc[0]), list(rows["time"].clip(lower=1.0)), last, line)
        middle = float(rows["time"].fillna(1.3 * last).clip(lower=1.0).median())
        # Below the mark where it stands in the grey field: above it is the title.
        right.annotate(
            str(name), (float(rows["predicted"].iloc[0]), middle), (6 if place else -6, -12 if middle > last else 3),
            textcoords="offset points", fontsize=6.8, color=line.colour, ha="left" if place else "right",
        )  # fmt: skip
    right.set(xscale="log", yscale="log", xlabel="predicted number", ylabel="measured critical number")
    right.set(xlim=(1, max(100, 3 * predicted["predicted"].max())), ylim=(0.8, 1.5 * last))
    numbers = [10**power for power in range(1 + int(np.log10(last)))]
    told = [number for number in numbers if number <= right.get_xlim()[1]]
    right.set_xticks(told, [f"{number:,}" for number in told])
    right.set_yticks(numbers, ["≤ 1", *(f"{number:,}" for number in numbers[1:])])
    right.axhspan(1.1 * last, 1.5 * last, color=FIELD, lw=0, zorder=0)
    right.plot([1, last], [1, last], color="#8a8f98", lw=0.8, ls=(0, (2, 2)), zorder=1)
    figures.caption(
        page,
        f"{seeds_of(samples)}. b, prediction: n* ∝ 1 / signal, 10 for colour as the paper reports; dotted: as "
        "predicted. Small marks: seeds; large: their median; ≤ 1: reached without any sample, too; in the grey field: "
        "with no number that was tried.",
    )
    return page
