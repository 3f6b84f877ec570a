"""From what was measured to the tables behind the figures of the experiments."""

from __future__ import annotations

import pandas as pd

from conceptlab.measures import k_max, kept_share
from conceptlab.recipe import Recipe
from conceptlab.store import Member
from conceptlab.studies.bradley2025.settings import Size
from conceptlab.studies.study import Results

SETTINGS = ("experiment", "trained", "reach")
_COLUMNS = ["seed", *SETTINGS, "step", "k", "variable", "measure", "value"]
LEAST_BASE = 0.5
"""A member that meets less than this share within training has learned too little for any of it to be kept: its K_max
is 0 and its kept share unknown. (A network of single cells meets one condition in fifty at any K: nothing is lost.)"""
WHOLE = -1
"""The reach of a network that is not limited."""


def labelled_metrics(results: Results) -> pd.DataFrame:
    """All measurements with what tells the members apart: `experiment` ("1", "2", "3"), `trained` (the largest
    number of objects in training), `reach` in cells (`WHOLE` for the U-Net), and `k`, the number of conditions, where
    the class is one."""
    parts = []
    for member in results.members:
        rows = judged_metrics(member)
        for experiment in _experiments(member.recipe):
            named = dict(zip(SETTINGS, (experiment, trained_on(member.recipe), _reach(member.recipe))))
            parts.append(rows.assign(seed=member.recipe.seed, **named))
    every = pd.concat(parts, ignore_index=True)
    return every.assign(k=pd.to_numeric(every["class"], errors="coerce"))


def _experiments(recipe: Recipe) -> tuple[str, ...]:
    if recipe.denoiser["name"] == "cells":
        return ("3",)
    # Where images hold one object, one label is all labels.
    if trained_on(recipe) == 1:
        return "1", "2"
    return ("2",) if recipe.world.get("labelled") == "one" else ("1",)


def judged_metrics(member: Member) -> pd.DataFrame:
    """What was measured of the weights that are judged: the moving average, where one was kept."""
    rows = member.metrics
    return rows[rows["weights"] == member.recipe.evaluation.weights[-1]]


def trained_on(recipe: Recipe) -> int:
    """The largest number of objects in training."""
    return max(int(code) for code in recipe.train)


def _reach(recipe: Recipe) -> int:
    return int(recipe.denoiser.get("reach", WHOLE))


def is_main(rows: pd.DataFrame, size: Size) -> pd.Series:
    """The three experiments themselves, trained on the range at which the reach is varied."""
    return (rows["trained"] == size.sweep_trained) & rows["reach"].isin((WHOLE, size.reach))


def length_tables(results: Results) -> dict[str, pd.DataFrame]:
    """`curves`: every measure against K at the end of training; `summary`: one row for each member."""
    every = labelled_metrics(results)
    last = every[(every["step"] == every["step"].max()) & every["k"].notna()]
    return {"curves": last[_COLUMNS].astype({"k": int}).reset_index(drop=True), "summary": summary(last)}


def summary(last: pd.DataFrame) -> pd.DataFrame:
    """For each member the share at its base, K_max, and how much of the base is kept beyond the training range."""
    found = []
    for key, rows in last.groupby(["seed", *SETTINGS], sort=True):
        named = dict(zip(("seed", *SETTINGS), key))
        found.append({**named, **_kept(rows, base_of(str(named["experiment"]), int(str(named["trained"]))))})
    return pd.DataFrame(found)


def base_of(experiment: str, trained: int) -> int:
    """The largest number of conditions that training had: all objects of experiment 1, otherwise one."""
    return trained if experiment == "1" else 1


def _kept(rows: pd.DataFrame, base: int) -> dict[str, float]:
    shares, corrected = by_k(rows, "share_met"), by_k(rows, "share_corrected")
    trained = int(rows["trained"].iloc[0])
    learned = shares[base] >= LEAST_BASE
    return {
        "base": base,
        "base_share": shares[base],
        "base_corrected": corrected[base],
        "k_max": k_max(shares, base) if learned else 0,
        "most": max(shares),
        "kept": kept_share(shares, base, trained) if learned else float("nan"),
        "kept_corrected": kept_share(corrected, base, trained) if learned else float("nan"),
    }


def by_k(rows: pd.DataFrame, measure: str) -> dict[int, float]:
    chosen = rows[(rows["measure"] == measure) & (rows["variable"] == "")]
    return dict(zip(chosen["k"].astype(int), chosen["value"].astype(float)))


def first_member(results: Results, experiment: str, trained: int) -> Member | None:
    """The member of the first seed, for pictures of what it drew."""
    for member in results.members:
        if experiment in _experiments(member.recipe) and trained_on(member.recipe) == trained:
            return member
    return None
