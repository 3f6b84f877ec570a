"""`across`: the measures of this paper on the models of two others. Is the network that generalises earlier also more
local, and are its concepts at right angles?

The members are those of okawa2023 (the base and its ablation: networks that differ) and park2024 (separations of the
colour), not copies of them: locality is measured on their last weights, which every member keeps.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import torch

from conceptlab.claims import Claim, NoData, PerSeed, Tables, correlation, within_correlation
from conceptlab.concepts import Class
from conceptlab.evaluation import locality
from conceptlab.evaluation.feature_maps import Bottleneck, concept_features, pixels
from conceptlab.evaluation.locality_rows import seen_pixels
from conceptlab.evaluation.norms import fixed_batch
from conceptlab.executors.draw import load_process
from conceptlab.measures import draws_by, emergence_table, measured_cosines, orthogonality
from conceptlab.recipe import Recipe
from conceptlab.store import Member
from conceptlab.studies.bradley2025.draw_across import draw_across
from conceptlab.studies.bradley2025.settings import PAPER
from conceptlab.studies.okawa2023 import recipes as okawa2023
from conceptlab.studies.okawa2023.settings import SWEEP_SEEDS
from conceptlab.studies.okawa2023.tables import at_common_steps
from conceptlab.studies.park2024 import recipes as park2024
from conceptlab.studies.study import Figure, Results, Scale

THRESHOLD = 0.5
"""The accuracy of held-out classes at which a network counts as generalising."""
_LEVELS: dict[Scale, tuple[float, ...]] = {
    "tiny": (-4.0, 4.0),
    "small": (-4.0, -2.0, 0.0, 2.0, 4.0),
    "paper": (-4.0, -2.0, 0.0, 2.0, 4.0),
}
_IMAGES: dict[Scale, int] = {"tiny": 4, "small": 16, "paper": 16}
_FEATURE_IMAGES: dict[Scale, int] = {"tiny": 20, "small": 200, "paper": 400}
_FEATURE_LEVEL = -2.0
"""The noise at which a bottleneck is read: little, as features of images are asked for."""


def _recipes(scale: Scale, seeds: Sequence[int]) -> list[Recipe]:
    if scale == "tiny":  # one network of each paper proves the pipeline
        return [*okawa2023.base(scale, seeds), *park2024.sweep(scale, seeds)[: len(seeds)]]
    return [*okawa2023.ablation(scale, seeds[: SWEEP_SEEDS[scale]]), *park2024.sweep(scale, seeds)]


def setting_of(recipe: Recipe, scale: Scale) -> tuple[str, str]:
    """The study a member belongs to, and what tells it from the others there."""
    if recipe.world["name"] == "circles":
        return "park2024", f"{recipe.world['colour_separation']:g}"
    return "okawa2023", okawa2023.switch_of(recipe, scale)


def _tables(results: Results) -> dict[str, pd.DataFrame]:
    found = [measure_member(member, results.scale) for member in results.members]
    times = generalisation_times(_comparable(results))
    members = pd.DataFrame([row for row, _ in found])
    members = members.join(times, on="member")
    return {"members": members, "levels": pd.concat([levels for _, levels in found], ignore_index=True)}


def _comparable(results: Results) -> pd.DataFrame:
    """The metrics, those of okawa2023 at the steps that all its members have: its base is measured more often."""
    metrics = results.metrics
    circles = metrics["member"].isin([m.id for m in results.members if m.recipe.world["name"] == "circles"])
    return pd.concat([at_common_steps(metrics[~circles], ["member"]), metrics[circles]], ignore_index=True)


def generalisation_times(metrics: pd.DataFrame) -> pd.DataFrame:
    """For each member `time`, the geometric mean of its held-out classes' emergence times (infinite if one never
    comes), `final`, their mean final accuracy, and `last`, the last step.

    Nothing counts until a member draws every training class: a judge takes the noise of an untrained network for some
    class, which would seem to have come at the first evaluations."""
    rows = metrics[(metrics["measure"] == "accuracy") & (metrics["variable"] == "")]
    rows = rows[rows["weights"] == "raw"]
    draws = draws_by(rows, rows[rows["distance"] == 0], ["member"], THRESHOLD)
    held_out = rows.assign(value=rows["value"].where(draws, 0.0))[rows["distance"] > 0]
    times = emergence_table(held_out, THRESHOLD, by=["member", "class"])
    logs = times.assign(time=np.log(times["time"].fillna(np.inf)))
    found = logs.groupby("member")[["time", "final", "last"]].mean()
    return found.assign(time=np.exp(found["time"]))


def measure_member(member: Member, scale: Scale) -> tuple[dict[str, object], pd.DataFrame]:
    """One row of scalars, and `level`, `pixel_reach`, `condition_share` over noise."""
    recipe, world = member.recipe, member.world
    study, setting = setting_of(recipe, scale)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    denoiser, process = member.model().to(device), load_process(member).to(device)
    batch = fixed_batch(recipe, _IMAGES[scale])
    named = {"member": member.id, "study": study, "setting": setting, "seed": recipe.seed}
    rows = []
    for gamma in _LEVELS[scale]:
        level = locality.Level(denoiser, process, recipe.prediction, gamma)
        seen = seen_pixels(recipe, batch, level, places=2)
        reach = locality.reach_to_others(seen.response, seen.places)
        rows.append(named | {"level": gamma, "pixel_reach": reach, "condition_share": seen.condition_share})
    centre = centre_of(member)
    bottleneck = Bottleneck(
        locality.Level(denoiser, process, recipe.prediction, _FEATURE_LEVEL),
        world.condition(centre),
        recipe.pixels,
    )
    scores = {}
    for name, feature in (("pixels", pixels), ("bottleneck", bottleneck)):
        groups, base = concept_features(world, centre, feature, _FEATURE_IMAGES[scale], recipe.seed)
        scores[f"orthogonality_{name}"] = orthogonality(measured_cosines(groups, base))
    levels = pd.DataFrame(rows)
    return named | {"reach": levels["pixel_reach"].iloc[-1], **scores}, levels


def centre_of(member: Member) -> Class:
    """The training class that has most of the others as neighbours."""
    space, train = member.world.space, member.split.train
    return max(train, key=lambda cls: sum(space.distance(cls, other) == 1 for other in train))


# --- claims ---


def _over_networks(tables: Tables, column: str) -> PerSeed:
    """okawa2023: networks that differ, ranked within a seed."""
    rows = tables["members"].query("study == 'okawa2023'")
    if rows.groupby("seed").size().min() < 3:
        raise NoData("fewer than three networks in a seed: nothing to rank")
    return correlation(rows, column, "time")


def _over_seeds(tables: Tables, column: str) -> PerSeed:
    """park2024: one network; the trend over separations, which times follow anyway, is taken out."""
    rows = tables["members"].query("study == 'park2024'")
    return within_correlation(rows.assign(log_time=np.log(rows["time"])), column, "log_time", by="setting")


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
        statistic="correlation of log time and pixel reach over seeds, within each separation",
        measure=lambda tables: _over_seeds(tables, "reach"),
        threshold=0.0,
        side="above",
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
