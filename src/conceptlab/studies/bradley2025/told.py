"""Figure `told`: do colours carry as far as places?

A place is a local condition: it decides the pixels around it and no others. A colour without a place is not: it may be
answered anywhere, so every pixel depends on every condition. If locality is what carries to more objects than were
trained, places carry further than colours do.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure as Picture

from conceptlab import figures
from conceptlab.claims import Claim, NoData, PerSeed, difference, value_per_seed
from conceptlab.measures import kept_share
from conceptlab.studies.bradley2025.drawing import chance_line, k_axis, value_lines
from conceptlab.studies.bradley2025.recipes import told
from conceptlab.studies.bradley2025.settings import TRAINED_SEEDS
from conceptlab.studies.bradley2025.tables import LEAST_BASE, by_k, judged_metrics, trained_on
from conceptlab.studies.study import Figure, Results, Tables
from conceptlab.worlds import ObjectWorld

LINES = {
    "location": figures.Line("#0072B2", "places", "o"),
    "colour": figures.Line("#CC79A7", "colours", "^"),
    "both": figures.Line("#117733", "both", "D"),
}
_MEASURES = {"location": "share", "colour": "colour", "both": "both"}
"""What is met, by what is told: a place, a colour anywhere, an object of the right colour at the right place."""


def told_tables(results: Results) -> dict[str, pd.DataFrame]:
    """`curves`: the share of what was told that is met, by chance and beyond it, against K; `summary`: for each member
    how much of it is kept beyond training."""
    curves, summary = [], []
    for member in results.members:
        world, trained = member.world, trained_on(member.recipe)
        assert isinstance(world, ObjectWorld)
        rows = judged_metrics(member)
        rows = rows[rows["step"] == rows["step"].max()].assign(k=lambda last: last["class"])
        named = {"seed": member.recipe.seed, "told": world.told, "trained": trained}
        found = {
            kind: by_k(rows, f"{_MEASURES[world.told]}_{kind}") for kind in ("met", "chance", "corrected")
        }
        real = by_k(rows, f"detector_{_MEASURES[world.told]}_met")
        curves += [
            {**named, "k": k, **{kind: shares[k] for kind, shares in found.items()}, "real": real[k]}
            for k in found["met"]
        ]
        # Beyond chance: with few colours many are met by any.
        learned = found["corrected"][trained] >= LEAST_BASE
        kept = {
            name: kept_share(found[kind], trained, trained) if learned else float("nan")
            for name, kind in (("kept", "met"), ("kept_corrected", "corrected"))
        }
        summary.append({**named, "base_share": found["met"][trained], **kept})
    return {"curves": pd.DataFrame(curves), "summary": pd.DataFrame(summary)}


def _kept(what: str, tables: Tables) -> PerSeed:
    rows = tables["summary"]
    rows = rows[rows["told"] == what]
    if rows.empty:
        raise NoData(f"no member is told the {what}")
    return value_per_seed(rows, value="kept_corrected")


def _further(tables: Tables) -> PerSeed:
    return difference(_kept("location", tables), _kept("colour", tables))


CLAIMS = (
    Claim(
        id="bradley2025.places-further",
        paper="bradley2025",
        figure="told",
        statement="Places, which are local conditions, carry further than colours, which are not.",
        statistic="mean share met beyond chance at all K beyond training, relative to that at the largest trained "
        "number, told places less told colours",
        measure=_further,
        threshold=0.0,
        side="above",
    ),
)


@figures.house()
def draw_told(results: Results, tables: Tables) -> Picture:
    """(a) the share of what was told that is met, (b) beyond chance, against K."""
    curves = tables["curves"]
    most, trained = int(curves["k"].max()), int(curves["trained"].max())
    page = figures.figure(columns=2, height=2.7)
    left, right = page.subplots(1, 2)
    figures.panel(left, "a", "Share met")
    figures.panel(right, "b", "Beyond chance")
    lowest = float(curves[["met", "corrected"]].min().min())
    for ax, name in ((left, "share met"), (right, "share met beyond chance")):
        k_axis(ax, most, trained)
        ax.set_ylabel(name)
        ax.set_ylim(max(-0.5, min(-0.03, 1.1 * lowest)), 1.05)  # before the names, which are placed by it
    value_lines(left, curves.assign(value=curves["met"]), LINES, "told", named=False)
    value_lines(right, curves.assign(value=curves["corrected"]), LINES, "told", named=True)
    for what, line in LINES.items():
        rows = curves[curves["told"] == what]
        if len(rows):
            chance_line(left, rows.assign(value=rows["chance"]), line)
    figures.caption(
        page,
        f"{figures.seeds_text(curves['seed'].nunique())}. Experiment 1, told the place, the colour or "
        "both of every object; met is a place, a colour anywhere, or a colour at its place, one to one. Grey: numbers "
        "of objects in training. (a) Dotted: under the conditions of other images. Of real pictures at least "
        f"{curves['real'].min():.2f} is met.",
    )
    return page


FIGURES = (
    Figure(
        id="told",
        title="Places and colours",
        shows="share of what was told that is met, for up to twelve objects, where places, colours or both are told",
        tables=told_tables,
        draw=draw_told,
        recipes=told,
        claims=CLAIMS,
        seeds=TRAINED_SEEDS,
    ),
)
