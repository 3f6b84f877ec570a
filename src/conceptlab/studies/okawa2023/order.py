"""Figures 5, 6, 7, 16 and 13–15: their tables. Emergence by distance, by multiplication, and what the probes saw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import torch

from conceptlab.measures import emergence_time, last_start, relative_rise
from conceptlab.probes import Probe, train_probe
from conceptlab.recipe import Recipe
from conceptlab.store import Member
from conceptlab.studies.emergence_claims import THRESHOLD, begun
from conceptlab.studies.okawa2023.recipes import four
from conceptlab.studies.okawa2023.settings import base
from conceptlab.studies.okawa2023.signatures import signatures
from conceptlab.studies.okawa2023.tables import (
    among_drawn,
    credited,
    emergence,
    final,
    joint,
    labelled,
    shown,
)
from conceptlab.studies.sampling_check import sampling_tables
from conceptlab.studies.study import Results, Scale
from conceptlab.theory.toy import critical_time, fit_rate, simulate, success_probability
from conceptlab.training.threads import one_thread
from conceptlab.worlds import World

P_TOY, LEVEL = 0.05, 0.5
"""Figure 7's toy model is drawn with this learning probability and this level P*."""
SIMULATED = 20_000
"""Learners simulated: an error of .02 is then more than five standard errors."""


def emergence_tables(results: Results) -> dict[str, pd.DataFrame]:
    """Figures 5 and 16."""
    curves = labelled(results)
    return {"curves": shown(curves), "times": emergence(curves), "signatures": signatures(results)}


# --- Figure 6 ---


def multiplicative_tables(results: Results) -> dict[str, pd.DataFrame]:
    """`rises`: how sudden product and mean are; `bottleneck`: when the furthest class emerges, and when its slowest
    variable; `rules`: how well each rule predicts the joint accuracy of held-out classes from single ones."""
    curves = labelled(results)
    return {
        "curves": shown(curves),
        "rises": suddenness(curves),
        "bottleneck": _bottleneck(curves),
        "rules": prediction_errors(curves),
        "signatures": signatures(results),
    }


def furthest(curves: pd.DataFrame) -> str:
    own = joint(curves)
    return str(own[own["distance"] == own["distance"].max()]["class"].max())


def suddenness(curves: pd.DataFrame) -> pd.DataFrame:
    """How sudden the two are since the model draws: what a judge makes of noise is no bottom to rise from."""
    own, rows = curves.assign(drawing=begun(curves)), []
    own = own[(own["class"] == furthest(curves)) & (own["variable"] == "")]
    for seed, mine in own.groupby("seed"):
        wide = mine.pivot_table(index="step", columns="measure", values="value").sort_index()
        wide = wide[wide.index.isin(mine[mine["drawing"]]["step"])]
        steps = wide.index.to_numpy()
        rows.append({"seed": seed, "product": relative_rise(steps, wide["accuracy"]),
                     "mean": relative_rise(steps, wide["additive"])})  # fmt: skip
    return pd.DataFrame(rows)


def _bottleneck(curves: pd.DataFrame) -> pd.DataFrame:
    """`time` of the joint accuracy and of every single variable of the furthest class."""
    own = credited(curves)
    own = own[(own["class"] == furthest(curves)) & (own["measure"] == "accuracy")]
    rows = []
    for (seed, variable), mine in own.sort_values("step").groupby(["seed", "variable"]):
        time = emergence_time(mine["step"], mine["value"], THRESHOLD)
        rows.append({"seed": seed, "variable": variable or "joint", "time": time})
    return pd.DataFrame(rows).assign(first=float(own["step"].min()), last=float(last_start(own["step"])))


def prediction_errors(curves: pd.DataFrame, by: Sequence[str] = ()) -> pd.DataFrame:
    """Mean absolute error of each rule for the joint accuracy since the model draws, where it can be told apart from
    the others: at least two variables between .2 and .9. Under independence the joint is the product of single
    accuracies; it can never exceed their minimum nor fall below the Fréchet bound, max(0, Σ - (n - 1)). So a guess that
    knows nothing lies in the middle between these."""
    wide = among_drawn(curves, by)
    trained = set(curves[curves["distance"] == 0].groupby(["seed", *by, "class"]).groups)
    wide = wide[np.array([key[:-1] not in trained for key in wide.index], dtype=bool)]
    single = wide.drop(columns="")
    undecided = wide[((single >= 0.2) & (single <= 0.9)).sum(axis=1) >= 2]
    single = undecided.drop(columns="")
    most, least = single.min(axis=1), (single.sum(axis=1) - (single.shape[1] - 1)).clip(lower=0)
    rules = {
        "product": single.prod(axis=1),
        "minimum": most,
        "Fréchet bound": least,
        "middle": (most + least) / 2,
    }
    errors = [
        (rule - undecided[""]).abs().groupby(level=["seed", *by]).agg(["mean", "size"]).assign(rule=name)
        for name, rule in rules.items()
    ]
    return pd.concat(errors).rename(columns={"mean": "error", "size": "points"}).reset_index()


# --- Figure 7 ---


def toy_recipes(scale: Scale, seeds: Sequence[int]) -> list[Recipe]:
    return base(scale, seeds) + four(scale, seeds)


def toy_tables(results: Results) -> dict[str, pd.DataFrame]:
    """`toy`: closed form and simulation; `critical`: t* against n; `fits`: p from distance 1, and how well P(n) then
    tells the curves at larger distances (`rmse`), beside two guesses that know nothing of multiplication: distance 1's
    own curve for all of them (`null`), and none of them ever (`never`)."""

    def label(recipe: Recipe) -> dict[str, int]:
        return {"variables": len(next(iter(recipe.train)))}

    curves = joint(labelled(results, label))
    steps = np.arange(0, 201)
    toy = pd.concat([_toy(n, steps) for n in (1, 2, 3, 4)])
    critical = pd.DataFrame(
        [{"n": n, "p": p, "t": critical_time(p, n, LEVEL)} for p in (0.02, P_TOY, 0.1) for n in range(1, 21)]
    )
    return {
        "toy": toy,
        "critical": critical,
        "fits": toy_fits(curves),
        "curves": curves.groupby(["variables", "distance", "seed", "step"])["value"].mean().reset_index(),
        "signatures": signatures(results, label),
    }


def _toy(n: int, steps: np.ndarray) -> pd.DataFrame:
    closed = success_probability(steps, P_TOY, n)
    simulated = simulate(P_TOY, n, len(steps) - 1, SIMULATED, seed=n)
    return pd.DataFrame({"n": n, "t": steps, "closed": closed, "simulated": simulated})


def toy_fits(curves: pd.DataFrame) -> pd.DataFrame:
    """The toy model fitted to each seed and number of variables."""
    return pd.DataFrame([fit for _, mine in curves.groupby(["seed", "variables"]) for fit in _fits(mine)])


def _fits(curves: pd.DataFrame) -> list[dict[str, float]]:
    mean = curves.groupby(["distance", "step"])["value"].mean()
    steps = mean[1].index.to_numpy()
    p = fit_rate(steps, mean[1].to_numpy(), 1)
    keys = {"seed": curves["seed"].iloc[0], "variables": curves["variables"].iloc[0]}
    found = []
    for distance in sorted(set(mean.index.get_level_values(0)) - {0}):
        told = {
            "rmse": success_probability(steps, p, int(distance)),
            "null": mean[1].to_numpy(),
            "never": np.zeros(len(steps)),
        }
        measured = mean[distance].to_numpy()
        errors = {name: float(np.sqrt(np.mean((curve - measured) ** 2))) for name, curve in told.items()}
        found.append({**keys, "distance": distance, "p": p, **errors})
    return found


# --- Figures 13–15 ---


def probe_tables(results: Results) -> dict[str, pd.DataFrame]:
    """`readings`: the share of each class's final images on which each reader finds each variable right (all of them
    where `variable` is empty): the judge of the run, and on the kept images the analytic readout and the paper's linear
    probes. `empty`: what linear probes, which cannot say "nothing", read in an image of the ground alone.
    `disagreement`: the share of final images that judge and second probe read differently."""
    curves = final(labelled(results))
    judged = curves[curves["measure"] == "accuracy"][["seed", "class", "variable", "value"]]
    others = [reading for member in results.members for reading in _readings(member)]
    return {
        "readings": pd.concat([judged.assign(reader="judge"), pd.DataFrame(others)], ignore_index=True),
        "empty": _empty_reading(results.members[0].world),
        "disagreement": curves[curves["measure"] == "disagreement"],
        "signatures": signatures(results),
    }


def _readings(member: Member) -> Iterator[dict[str, Any]]:
    space = member.world.space
    for cls, drawn in zip(space, member.samples().float() / 255):
        for kind in ("analytic", "linear"):
            right = _reader(member.world, kind).predict(drawn) == torch.tensor(cls)
            shares = (*right.double().mean(0).tolist(), right.all(1).double().mean().item())
            for variable, value in zip((*space.names, ""), shares):
                yield {"seed": member.recipe.seed, "class": space.code(cls), "variable": variable, "value": value,
                       "reader": kind}  # fmt: skip


def _empty_reading(world: World) -> pd.DataFrame:
    space = world.space
    shown = world.sample(space.classes[0], 1, seed=0).images
    ground = shown[..., :1, :1].expand_as(shown)  # objects stay clear of the corners
    read = _reader(world, "linear").predict(ground)[0].tolist()
    values = [variable.values[at] for variable, at in zip(space.concepts, read)]
    return pd.DataFrame({"variable": space.names, "read": values})


@lru_cache(maxsize=4)
def _reader(world: World, kind: str) -> Probe:
    with one_thread():  # what it reads must not depend on how many cores a machine has
        return train_probe(world, kind)


# --- sampling ---


def agreement_tables(results: Results) -> dict[str, pd.DataFrame]:
    """What `sampling` shows, and the signatures that come with every figure that trains."""
    return {**sampling_tables(results), "signatures": signatures(results)}
