"""`across`: the measures of this paper on the models of two others. Is the network that generalises earlier also more
local, and are its concepts at right angles?

The networks are those of okawa2023's `ablation` (they differ) and of park2024's sweep (one network, separations of the
colour), looked into at the end of their training (`studies.inside`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from conceptlab.claims import CORRELATION, Claim, NoData, PerSeed, Tables, correlation, within_correlation
from conceptlab.figures import select
from conceptlab.measures import draws_by, emergence_table
from conceptlab.recipe import Recipe
from conceptlab.studies.bradley2025.draw_across import draw_across
from conceptlab.studies.bradley2025.settings import PAPER
from conceptlab.studies.okawa2023 import recipes as okawa2023
from conceptlab.studies.okawa2023.settings import SWEEP_SEEDS
from conceptlab.studies.park2024 import recipes as park2024
from conceptlab.studies.study import Figure, Results, Scale

THRESHOLD = 0.5
"""The accuracy of held-out classes at which a network counts as generalising."""


def _recipes(scale: Scale, seeds: Sequence[int]) -> list[Recipe]:
    networks = okawa2023.ablation(scale, seeds[: SWEEP_SEEDS[scale]])
    separations = park2024.once_more(park2024.sweep(scale, seeds), scale)
    if scale == "tiny":  # one network of each paper proves the pipeline
        return [networks[0], *separations[: len(seeds)]]
    return networks + separations


def setting_of(recipe: Recipe, scale: Scale) -> tuple[str, str]:
    """The study a member belongs to, and what tells it from the others there."""
    if recipe.world["name"] == "circles":
        return "park2024", f"{recipe.world['colour_separation']:g}"
    return "okawa2023", okawa2023.switch_of(recipe, scale)


def _tables(results: Results) -> dict[str, pd.DataFrame]:
    """`members`: for each when it generalises, its reach at the highest noise and the angles of its concepts; `levels`:
    its reach, and how much its condition decides, over noise."""
    rows = [
        (member.id, *setting_of(member.recipe, results.scale), member.recipe.seed)
        for member in results.members
    ]
    named = pd.DataFrame(rows, columns=["member", "study", "setting", "seed"])
    metrics = results.metrics
    levels = reach_by_level(metrics)
    highest = levels[levels["level"] == levels["level"].max()].set_index("member")["pixel_reach"]
    angles = metrics[metrics["measure"] == "orthogonality"]
    angles = angles.pivot(index="member", columns="variable", values="value").add_prefix("orthogonality_")
    members = named.join(highest.rename("reach"), on="member").join(angles, on="member")
    return {
        "members": members.join(generalisation_times(metrics), on="member"),
        "levels": named.merge(levels, on="member"),
    }


def reach_by_level(metrics: pd.DataFrame) -> pd.DataFrame:
    """`level`, `pixel_reach` and `condition_share` of every member. Reach is that of the response to other pixels: the
    estimate holds the noisy pixel itself by construction (as in `locality`)."""
    names = ["pixel_reach", "condition_share"]
    by = ["member", "variable"]
    found = metrics[metrics["measure"].isin(names)].pivot(index=by, columns="measure", values="value")
    own = metrics[(metrics["measure"] == "pixel_mass") & metrics["variable"].str.endswith("|0")]
    own = own.assign(variable=own["variable"].str.removesuffix("|0")).set_index(by)["value"]
    others = (1 - own).where(own < 1)  # of nothing there is no share
    found["pixel_reach"] /= others
    return found[names].reset_index().assign(level=lambda rows: rows["variable"].astype(float))


def generalisation_times(metrics: pd.DataFrame) -> pd.DataFrame:
    """For each member `time`, the geometric mean of its held-out classes' emergence times (infinite if one never
    comes), `final`, their mean final accuracy, and `last`, the last step.

    Nothing counts until a member draws every training class: a judge takes the noise of an untrained network for some
    class, which would seem to have come at the first evaluations."""
    rows = select(metrics, "accuracy")
    draws = draws_by(rows, rows[rows["distance"] == 0], ["member"], THRESHOLD)
    held_out = rows.assign(value=rows["value"].where(draws, 0.0))[rows["distance"] > 0]
    times = emergence_table(held_out, THRESHOLD, by=["member", "class"])
    logs = times.assign(time=np.log(times["time"].fillna(np.inf)))
    found = logs.groupby("member")[["time", "final", "last"]].mean()
    return found.assign(time=np.exp(found["time"]))


# --- claims ---


def _over_networks(tables: Tables, column: str) -> PerSeed:
    """okawa2023: networks that differ, ranked within a seed."""
    rows = tables["members"].query("study == 'okawa2023'")
    if rows.groupby("seed").size().min() < 3:
        raise NoData("fewer than three networks in a seed: nothing to rank")
    return correlation(rows, column, "time")


def _over_seeds(tables: Tables, column: str) -> PerSeed:
    """park2024: one network; the trend over separations, which times follow anyway, is taken out. Ranks within each: a
    network that never generalises comes after those that do, and all such share a rank."""
    rows = tables["members"].query("study == 'park2024'")
    ranks = rows.groupby("setting")[[column, "time"]].rank(na_option="keep")
    return within_correlation(rows[["seed", "setting"]].join(ranks), column, "time", by="setting")


def _networks(name: str, statement: str, column: str, statistic: str, side: str) -> Claim:
    return Claim(
        id=f"{PAPER}.across.{name}",
        paper=PAPER,
        figure="across",
        statement=statement,
        statistic=statistic,
        measure=lambda tables: _over_networks(tables, column),
        threshold=0.0,
        side="above" if side == "above" else "below",
        transform="fisher",
        resolution=0.5,  # about 1/√(networks - 3)
    )


CLAIMS = (
    _networks(
        "local",
        "Of networks that differ, the one that generalises earlier is more local (okawa2023).",
        "reach",
        "rank correlation over networks of time to generalise and pixel reach at the highest noise, within each seed",
        "above",
    ),
    _networks(
        "orthogonal",
        "Of networks that differ, the one that generalises earlier has its concepts more at right angles (okawa2023).",
        "orthogonality_bottleneck",
        "rank correlation over networks of time to generalise and orthogonality in the bottleneck, within each seed",
        "below",
    ),
    Claim(
        id=f"{PAPER}.across.seeds",
        paper=PAPER,
        figure="across",
        statement="Of seeds of one network, the one that generalises earlier is more local (park2024).",
        statistic="rank correlation of time and pixel reach over seeds, within each separation; never: last",
        measure=lambda tables: _over_seeds(tables, "reach"),
        threshold=0.0,
        side="above",
        limits=CORRELATION,
    ),
)

FIGURES = (
    Figure(
        id="across",
        title="Locality in the other papers' models",
        shows="pixel reach over noise, and orthogonality of concepts, of okawa2023's and park2024's networks, against "
        "when they generalise",
        tables=_tables,
        draw=draw_across,
        recipes=_recipes,
        claims=CLAIMS,
    ),
)
