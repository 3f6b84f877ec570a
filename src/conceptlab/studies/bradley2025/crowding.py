"""Figure `crowding`: are conditions missed because there are many of them, or because others are close by?

A local score cannot know how many conditions there are, only which are near. So where no other condition lies within
reach, a local network should do at any K nearly what it does at K = 1; what it loses beyond, it loses to neighbours.
(Nearly: an object reaches into cells that see one cell further, and over the steps of sampling what one cell saw is
handed on.) A network that sees everything may lose conditions to others far away.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Picture

from conceptlab import figures
from conceptlab.claims import Claim, PerSeed, difference, value_per_seed
from conceptlab.errors import InputError
from conceptlab.measures.length import KEPT
from conceptlab.studies.bradley2025.claims import RANGES, of_experiment, scales_of
from conceptlab.studies.bradley2025.drawing import EXPERIMENT_LINES, k_axis, trained_text, value_lines
from conceptlab.studies.bradley2025.recipes import experiments
from conceptlab.studies.bradley2025.settings import SIZES, TRAINED_SEEDS
from conceptlab.studies.bradley2025.tables import LEAST_BASE, SETTINGS, labelled_metrics, length_tables
from conceptlab.studies.study import Figure, Results, Scale, Tables

_LEAST: dict[Scale, int] = {"tiny": 1, "small": 10, "paper": 10}
"""A K is drawn where every seed has as many conditions (tiny runs have no more): shares of fewer are noise, and a
mean over whichever seeds are left is of other seeds than the mean beside it. Claims count every condition."""
_PLACES = {
    "alone": "Standing alone",
    "crowded": "With a neighbour",
}


def crowding_tables(results: Results) -> dict[str, pd.DataFrame]:
    """`shares`: conditions and how many of them are met, by K and by whether another condition lies within the reach
    of experiment 3; `summary`: for each member both kinds over all K beyond training, relative to its base share."""
    shares = _shares(labelled_metrics(results), SIZES[results.scale].reach)
    member = ["seed", *SETTINGS]
    beyond = shares[shares["k"] > shares["trained"]]
    summary = beyond.groupby([*member, "place"])[["met", "conditions"]].sum().reset_index()
    summary = summary.merge(length_tables(results)["summary"][[*member, "base_share"]], on=member)
    share, base = summary["met"] / summary["conditions"], summary["base_share"]
    # Who has learned nothing has nothing to keep.
    kept = (share / base).where(base >= LEAST_BASE)
    return {"shares": shares, "summary": summary.assign(share=share, kept=kept)}


def _shares(every: pd.DataFrame, reach: int) -> pd.DataFrame:
    last = every[(every["step"] == every["step"].max()) & every["variable"].str.startswith("nearest ")]
    if last.empty:
        raise InputError(
            "bradley2025.crowding needs shares by the distance between conditions, which these members were measured "
            "without, by an earlier version; train them again in another folder"
        )
    distance = last["variable"].str.removeprefix("nearest ").astype(int)
    named = last.assign(place=np.where(distance > reach, "alone", "crowded")).astype({"k": int})
    wide = named.pivot_table(
        index=["seed", *SETTINGS, "k", "place", "variable"], columns="measure", values="value"
    )
    wide = wide.assign(met=wide["share_met"] * wide["conditions"])
    return wide.groupby(level=["seed", *SETTINGS, "k", "place"])[["met", "conditions"]].sum().reset_index()


# --- claims ---


def _kept(experiment: str, trained: int, tables: Tables) -> PerSeed:
    alone = tables["summary"].query("place == 'alone'")
    return value_per_seed(of_experiment(alone, experiment, trained), value="kept")


def _further(trained: int, tables: Tables) -> PerSeed:
    return difference(_kept("3", trained, tables), _kept("2", trained, tables))


_STATISTIC = (
    "share met of all conditions at K beyond training that have no other within the reach of experiment 3, "
    "relative to the share at one condition"
)

CLAIMS = tuple(
    claim
    for trained in RANGES
    for claim in (
        Claim(
            id=f"bradley2025.alone-local-{trained}",
            paper="bradley2025",
            figure="crowding",
            statement=f"A local network keeps the conditions that stand alone (trained on 1–{trained} objects)",
            statistic=f"{_STATISTIC}, experiment 3",
            measure=partial(_kept, "3", trained),
            threshold=KEPT,
            side="above",
            scales=scales_of(trained),
        ),
        Claim(
            id=f"bradley2025.alone-further-{trained}",
            paper="bradley2025",
            figure="crowding",
            statement="Of conditions that stand alone a local network keeps more than a network that sees everything "
            f"(trained on 1–{trained} objects)",
            statistic=f"{_STATISTIC}, experiment 3 less 2",
            measure=partial(_further, trained),
            threshold=0.0,
            side="above",
            scales=scales_of(trained),
        ),
    )
)


# --- drawing ---


@figures.house()
def draw_crowding(results: Results, tables: Tables) -> Picture:
    """The share of conditions met against K, a column for each training range: (a) of those that stand alone, (b) of
    those that have another within reach."""
    shares = tables["shares"]
    ranges = sorted(int(value) for value in shares["trained"].unique())
    most, reach = int(shares["k"].max()), SIZES[results.scale].reach
    least = _LEAST[results.scale]
    enough = with_enough(shares, least)
    beside = len(ranges) == 1
    page = figures.figure(columns=2, height=2.6 if beside else 4.4)
    grid = page.add_gridspec(1 if beside else 2, 2 if beside else len(ranges))
    for row, (letter, (place, text)) in enumerate(zip("ab", _PLACES.items())):
        for column, trained in enumerate(ranges):
            first, last = column == 0, column == len(ranges) - 1
            ax = page.add_subplot(grid[0, row] if beside else grid[row, column])
            rows = enough[(enough["trained"] == trained) & (enough["place"] == place)]
            rows = rows.assign(value=rows["met"] / rows["conditions"])
            ax.set_ylim(-0.03, 1.05)  # before the names, which are placed by it
            value_lines(ax, rows, EXPERIMENT_LINES, "experiment", named=last and (row == 1 or not beside))
            k_axis(ax, most, trained)
            ax.set_ylabel("share met" if first and (row == 0 or not beside) else "")
            figures.panel(ax, letter if first else "", text if first else "")
            ax.set_xlabel(f"conditions K\n{trained_text(trained)}" if row or beside else "")
    figures.caption(
        page,
        f"{figures.seeds_text(shares['seed'].nunique())}. A neighbour: another condition at most {reach} "
        f"{'cell' if reach == 1 else 'cells'} away, as far as the networks of experiment 3 see. Grey: numbers of "
        f"objects in training. A K is shown where every seed has at least {least} such "
        f"{'condition' if least == 1 else 'conditions'}.",
    )
    return page


def with_enough(shares: pd.DataFrame, least: int) -> pd.DataFrame:
    """Rows of those K, by setting and place, at which every seed of the setting has at least so many conditions."""
    settings = [*SETTINGS]
    seeds = shares.groupby(settings)["seed"].transform("nunique")
    enough = shares.assign(enough=shares["conditions"] >= least)
    counted = enough.groupby([*settings, "place", "k"])["enough"].transform("sum")
    return shares[counted == seeds]


FIGURES = (
    Figure(
        id="crowding",
        title="Missed for their number, or for a neighbour",
        shows="share of conditions met by the number of conditions, of those that have another within reach and of "
        "those that have none",
        tables=crowding_tables,
        draw=draw_crowding,
        recipes=experiments,
        claims=CLAIMS,
        seeds=TRAINED_SEEDS,
        measures=("conditions",),
    ),
)
