"""`locality`: which pixels and which conditions the score of each model depends on, and whether that tells who
generalises. Everything was measured while the models lived (measurements `locality` and `composition`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd

from conceptlab.claims import SHARE, Claim, NoData, PerSeed, Tables, correlation, value_per_seed
from conceptlab.errors import InputError
from conceptlab.recipe import Recipe
from conceptlab.studies.bradley2025.draw_locality import draw_locality
from conceptlab.studies.bradley2025.recipes import experiments, reach_sweep
from conceptlab.studies.bradley2025.settings import PAPER, SIZES, TRAINED_SEEDS
from conceptlab.studies.bradley2025.tables import SETTINGS, is_main, labelled_metrics, summary
from conceptlab.studies.study import Figure, Results, Scale
from conceptlab.worlds import ObjectWorld

_SCALARS = ("pixel_reach", "condition_share", "far_near", "moved_far_near", "near_gain")
_MAPS = ("pixel_map", "removed_map", "moved_map")
_BY_DISTANCE = ("removed_change", "removed_mass", "moved_change", "moved_mass")


def _recipes(scale: Scale, seeds: Sequence[int]) -> list[Recipe]:
    """At paper scale two training ranges are six models to rank; elsewhere there is one, and reaches are ranked too."""
    every = [*experiments(scale, seeds), *(reach_sweep(scale, seeds) if scale != "paper" else ())]
    return list({recipe.hash: recipe for recipe in every}.values())


def _tables(results: Results) -> dict[str, pd.DataFrame]:
    rows = measured(results)
    if not rows["measure"].isin(_SCALARS).any():
        raise InputError(
            "bradley2025.locality needs the measurement 'locality'; evaluation.measurements lacks it"
        )
    rows = of_other_pixels(rows)
    maps = rows[rows["measure"].isin(_MAPS) & is_main(rows, SIZES[results.scale])]
    by_offset = ["experiment", "measure", "level", "first", "second"]
    return {
        "levels": _plain(rows[rows["measure"].isin(_SCALARS)], ["level"]),
        "mass": _plain(rows[rows["measure"] == "pixel_mass"], ["level", "first"]).rename(
            columns={"first": "radius"}
        ),
        "distance": _plain(rows[rows["measure"].isin(_BY_DISTANCE)], ["level", "first"]).rename(
            columns={"first": "cells"}
        ),
        "near": _plain(rows[rows["measure"] == "near_change"], ["level", "first"]).rename(
            columns={"first": "asked"}
        ),
        "maps": maps.groupby(by_offset)["value"].mean().reset_index(),
        "kept": kept_table(rows),
        "composition": _plain(rows[rows["measure"].isin(("joint_share", "composed_share"))], ["k"]),
    }


def measured(results: Results) -> pd.DataFrame:
    """The last evaluation of every member, with the side of a cell in pixels and the parts of a variable such as `4|3`
    as numbers: `level`, `first`, `second`."""
    every = labelled_metrics(results)
    rows = every[every["step"] == every["step"].max()]
    parts = rows["variable"].str.split("|", expand=True).reindex(columns=range(3))
    names = ("level", "first", "second")
    return rows.assign(
        cell=_cell(results), **{n: pd.to_numeric(parts[i], errors="coerce") for i, n in enumerate(names)}
    )


def of_other_pixels(rows: pd.DataFrame) -> pd.DataFrame:
    """Pixel responses without that to the pixel itself: the estimate holds the noisy image by construction, so that a
    network that was never trained would depend on its neighbours, of which it is the nearest."""
    by = ["seed", *SETTINGS, "level"]
    is_own = (rows["measure"] == "pixel_mass") & (rows["first"] == 0)
    own = rows[is_own].set_index(by)["value"].reindex(pd.MultiIndex.from_frame(rows[by])).to_numpy()
    others = np.where(own < 1, 1 - own, np.nan)  # of nothing there is no share
    measure, value = rows["measure"], rows["value"].to_numpy()
    is_middle = (measure == "pixel_map") & (rows["first"] == 0) & (rows["second"] == 0)
    changed = np.select(
        [measure == "pixel_mass", measure == "pixel_reach", is_middle],
        [(value - own) / others, value / others, np.nan],
        value,
    )
    return rows.assign(value=changed)


def _cell(results: Results) -> int:
    """All members of a scale have worlds of one grid."""
    world = results.members[0].world
    assert isinstance(world, ObjectWorld)
    return world.cell


def _plain(rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    return rows.loc[:, ["seed", *SETTINGS, "cell", "measure", *by, "value"]].reset_index(drop=True)


def kept_table(rows: pd.DataFrame) -> pd.DataFrame:
    """A row for each member: what `summary` tells of it, and `gain`, the near-response gain at the highest noise."""
    gains = rows[(rows["measure"] == "near_gain") & (rows["level"] == rows["level"].max())]
    named = gains.rename(columns={"value": "gain"})[["seed", *SETTINGS, "gain"]]
    return summary(rows[rows["k"].notna()]).merge(named, on=["seed", *SETTINGS], how="left")


# --- claims ---


def _rank(tables: Tables) -> PerSeed:
    kept = tables["kept"]
    # On one object, experiments 1 and 2 are the same; what never learned has nothing to keep.
    kept = kept[(kept["trained"] > 1) & kept["kept"].notna()]
    if kept.empty or kept.groupby("seed").size().min() < 3:
        raise NoData("fewer than three models in a seed: nothing to rank")
    return correlation(kept, "gain", "kept")


def _ends(tables: Tables, measure: str) -> tuple[pd.Series, pd.Series]:
    """A measure at the lowest and at the highest noise, by seed and model."""
    rows = tables["levels"]
    rows = rows[(rows["measure"] == measure) & (rows["trained"] > 1)]
    by = ["seed", *SETTINGS]
    low, high = (
        rows[rows["level"] == end].set_index(by)["value"]
        for end in (rows["level"].min(), rows["level"].max())
    )
    return low, high


def _decided(tables: Tables) -> PerSeed:
    low, high = _ends(tables, "condition_share")
    margin = pd.concat([0.5 - low, high - 0.5]).rename("value")
    # A model without a number, whose estimate nothing changes, makes its seed unknown: a minimum would pass it over.
    return value_per_seed(margin.reset_index(), over="min")


def _neighbours(tables: Tables) -> PerSeed:
    rows = tables["mass"]
    rows = rows[
        (rows["level"] == rows["level"].min()) & (rows["radius"] == rows["cell"]) & (rows["trained"] > 1)
    ]
    if rows.empty:
        raise NoData("no response was measured within one cell")
    return value_per_seed(rows, over="min")  # as above: a model without a response leaves its seed unknown


_claim = partial(Claim, paper=PAPER, figure="locality")

CLAIMS = (
    _claim(
        id=f"{PAPER}.locality.gain",
        statement="The near-response gain at high noise ranks models as the share of conditions they keep does.",
        statistic="rank correlation over models of the gain and the kept share, within each seed",
        measure=_rank,
        threshold=0.0,
        side="above",
        transform="fisher",
        resolution=0.5,  # about 1/√(models - 3)
    ),
    _claim(
        id=f"{PAPER}.locality.conditions",
        statement="High noise is decided by the conditions, low noise by the image.",
        statistic="condition share above one half at the highest noise and below it at the lowest: the smallest margin",
        measure=_decided,
        threshold=0.0,
        side="above",
        limits=(-0.5, 0.5),  # of a share from one half
    ),
    _claim(
        id=f"{PAPER}.locality.neighbours",
        statement="At low noise the score of a pixel depends on its neighbours.",
        statistic="share of the response to other pixels that lies within one cell, at the lowest noise, of the model "
        "where it is smallest",
        measure=_neighbours,
        threshold=0.5,
        side="above",
        limits=SHARE,
    ),
)

FIGURES = (
    Figure(
        id="locality",
        title="How local the scores are",
        shows="heat maps of the pixels and conditions a score depends on, their reach over noise, near-response gain "
        "against generalisation, and sampling by composed scores",
        tables=_tables,
        draw=draw_locality,
        recipes=_recipes,
        claims=CLAIMS,
        seeds=TRAINED_SEEDS,
    ),
)
