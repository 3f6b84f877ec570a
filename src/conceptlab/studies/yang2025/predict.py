"""`predict`: the other direction. From a world's concept signals, before training, the order and the relative times in
which a real network learns its concepts; nobody has tried this.

Each world becomes a SIM task (`worlds.foretell`), whose half-learning times are ln 2 / a_p with
a_p = sigma_p² + mu_p² / (s + 1). The baseline ranks concepts by signal alone: times in proportion to 1 / signal. What
the network does: a concept is half learnt when classes that have it and classes that do not, as drawn, lie half as far
apart in concept space as they should. Only classes of the training set count.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd

from conceptlab.claims import SHARE, NoData, PerSeed, Tables, correlation, difference
from conceptlab.figures import select
from conceptlab.store import Member
from conceptlab.studies.study import Figure, Results
from conceptlab.studies.yang2025.predict_figures import draw_predict
from conceptlab.studies.yang2025.predict_kinds import kind_table
from conceptlab.studies.yang2025.settings import claim_of
from conceptlab.studies.yang2025.worlds import WORLD_SEEDS, Foretold, foretell, members
from conceptlab.worlds import RenderedWorld

HALF = 0.5


def _tables(results: Results) -> dict[str, pd.DataFrame]:
    concepts = pd.concat([concept_table(member) for member in results.members], ignore_index=True)
    pairs = pair_table(concepts)
    return {"concepts": concepts, "pairs": pairs, "kinds": kind_table(pairs)}


def concept_table(member: Member) -> pd.DataFrame:
    """One row for each concept of a member's world: what was foretold, and the `time` it took (infinite: never)."""
    assert isinstance(member.world, RenderedWorld)
    found = foretell(member.world)
    metrics = member.metrics
    times = [
        learning_time(metrics, name, set(member.recipe.train), i) for i, name in enumerate(found.variables)
    ]
    return _rows(member, found).assign(time=times)


def _rows(member: Member, found: Foretold) -> pd.DataFrame:
    world = member.recipe.world
    apart = [
        f"{key.removesuffix('_separation')} {world[key]:g}"
        for key in sorted(world)
        if key.endswith("_separation")
    ]
    name = ", ".join([world["name"], *apart]) if apart else _shape_name(world)
    columns = {"signal": found.signal, "diversity": found.diversity, "predicted": found.time}
    return pd.DataFrame({"variable": found.variables, **columns}).assign(world=name, seed=member.recipe.seed)


def _shape_name(world) -> str:
    """`shapes, background 0.3, colour 0.35, size 0.3`, from the values themselves."""
    (_, light), (_, dark) = world["backgrounds"]
    (_, red), _ = world["colours"]
    (_, large), (_, small) = world["sizes"]
    return f"shapes, background {light[0] - dark[0]:g}, colour {red[0] - red[1]:g}, size {large - small:g}"


def learning_time(metrics: pd.DataFrame, variable: str, train: set[str], place: int) -> float:
    """When a concept's training classes first lie half apart and stay so for two evaluations, between evaluations by
    straight lines; infinite if that never happens."""
    rows = select(metrics, "coordinate", variable)
    rows = rows[rows["class"].isin(train)]
    has_it = rows["class"].str[place] != "0"
    means = rows.groupby(["step", has_it.rename("has")])["value"].mean().unstack("has")
    apart = (means[True] - means[False]).sort_index()
    steps, values = apart.index.to_numpy(dtype=float), apart.to_numpy()
    for i in range(len(values) - 1):
        if values[i] >= HALF and values[i + 1] >= HALF:
            if i == 0:
                return steps[0]
            share = (HALF - values[i - 1]) / (values[i] - values[i - 1])
            return float(steps[i - 1] + share * (steps[i] - steps[i - 1]))
    return math.inf


def pair_table(concepts: pd.DataFrame) -> pd.DataFrame:
    """Every pair of concepts of a world, the one that is foretold to be slower over the other: `measured`, `sim` and
    `baseline` are logarithms of ratios of times. Pairs of which neither was learnt say nothing and are left out."""
    rows = []
    for (world, seed), own in concepts.groupby(["world", "seed"], sort=True):
        for one, two in itertools.combinations(own.to_dict("records"), 2):
            slow, fast = (one, two) if one["predicted"] > two["predicted"] else (two, one)
            if math.isinf(slow["time"]) and math.isinf(fast["time"]):
                continue
            with np.errstate(divide="ignore"):
                measured = float(np.log(slow["time"]) - np.log(fast["time"]))
            sim = math.log(slow["predicted"] / fast["predicted"])
            baseline = math.log(fast["signal"] / slow["signal"])
            rows.append((world, seed, f"{slow['variable']} / {fast['variable']}", measured, sim, baseline))
    return pd.DataFrame(rows, columns=["world", "seed", "pair", "measured", "sim", "baseline"])


# --- claims ---


def _pairs(tables: Tables) -> pd.DataFrame:
    pairs = tables["pairs"]
    if pairs.empty:
        raise NoData("no concept was learnt in any world")
    return pairs


def _of_every_seed(tables: Tables, values: PerSeed) -> PerSeed:
    """A seed in which no pair was learnt has no row among the pairs, and counts against the claim."""
    return values.among(tables["concepts"]["seed"])


def _in_order(tables: Tables) -> PerSeed:
    pairs = _pairs(tables)
    shares = (pairs["measured"] > 0).astype(float).groupby(pairs["seed"]).mean()
    return _of_every_seed(tables, PerSeed.exact(shares))


def _in_time(tables: Tables) -> PerSeed:
    """One seed at a time: seeds may differ in which pairs say nothing, and so in how many there are."""
    found = [correlation(rows, "sim", "measured") for _, rows in _pairs(tables).groupby("seed")]
    low, high = (np.concatenate([getattr(one, end) for one in found]) for end in ("low", "high"))
    return _of_every_seed(tables, PerSeed(tuple(one.seeds[0] for one in found), low, high))


def typical_error(pairs: pd.DataFrame, by: str) -> PerSeed:
    """The median over pairs of |log predicted ratio - log measured ratio|; a median may hold infinite times."""
    away = (pairs[by] - pairs["measured"]).abs()
    return PerSeed.exact(away.groupby(pairs["seed"]).median())


def _better(tables: Tables) -> PerSeed:
    pairs = _pairs(tables)
    found = difference(typical_error(pairs, "baseline"), typical_error(pairs, "sim"))
    return _of_every_seed(tables, found)


CLAIMS = (
    claim_of(
        "predict.order",
        statement="SIM foretells the order in which a diffusion model learns its concepts.",
        statistic="share of pairs of concepts, over all worlds, that are learnt in the order foretold",
        measure=_in_order,
        threshold=0.5,
        side="above",
        limits=SHARE,
    ),
    claim_of(
        "predict.times",
        statement="SIM foretells their relative times.",
        statistic="rank correlation over pairs of foretold and measured ratio of times, within each seed",
        measure=_in_time,
        threshold=0.0,
        side="above",
        transform="fisher",
    ),
    claim_of(
        "predict.better",
        statement="SIM, which knows the diversity of concepts, foretells relative times better than signals alone.",
        statistic="median |log error| of the ratio of times: rank by signal minus SIM",
        measure=_better,
        threshold=0.0,
        side="above",
    ),
)

FIGURES = (
    Figure(
        id="predict",
        title="Foretelling what a network learns when",
        shows="foretold against measured ratios of learning times over 24 worlds, by SIM and by signal alone",
        tables=_tables,
        draw=draw_predict,
        recipes=members,
        claims=CLAIMS,
        seeds=WORLD_SEEDS,
    ),
)
