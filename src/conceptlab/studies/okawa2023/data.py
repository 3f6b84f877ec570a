"""What the training data decide: tables of Figures 8 and 9 and of `frequency`, `centres`, `correlation`, `finetune`,
`distance` and `threshold`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product
from typing import Any

import pandas as pd

from conceptlab.claims import PerSeed, student_interval, tied
from conceptlab.measures import critical_number
from conceptlab.recipe import Recipe
from conceptlab.store import Member
from conceptlab.studies.emergence_claims import THRESHOLD
from conceptlab.studies.okawa2023 import recipes
from conceptlab.studies.okawa2023.order import prediction_errors
from conceptlab.studies.okawa2023.signatures import signatures
from conceptlab.studies.okawa2023.tables import (
    among_drawn,
    at_common_steps,
    emergence,
    final,
    joint,
    labelled,
    shown,
)
from conceptlab.studies.study import Results
from conceptlab.worlds import RenderedWorld, concept_signal

_PAIRS = 256
"""Pairs of images from which concept signal is measured: its standard error is then below 3 %."""

# --- Figure 8, threshold ---


def sample_tables(results: Results) -> dict[str, pd.DataFrame]:
    """`samples`: final accuracy of every class and variable against the number of samples of one training class;
    `critical`: the number from which on it stays at the threshold (as `time`, censored like one)."""
    parts = []
    for series, variable in recipes.SERIES.items():
        curves = labelled(results, lambda recipe, s=series: _count(recipe, s))
        if len(curves):
            rows = final(curves, ["seed", "number"]).query("measure == 'accuracy'")
            parts.append(rows.assign(series=series, teaches=variable))
    samples = pd.concat(parts, ignore_index=True)
    samples["role"] = [_role(cls, series) for cls, series in zip(samples["class"], samples["series"])]
    return {
        "samples": samples.drop(columns=["step", "distance"]),
        "critical": _critical(samples),
        "signatures": signatures(results, lambda recipe: {"train": _text(recipe.train)}),
    }


def _count(recipe: Recipe, series: str) -> Mapping[str, Any] | None:
    count = recipes.count_of(recipe, series)
    return None if count is None else {"number": count}


def _role(cls: str, series: str) -> str:
    """The class itself, a class that needs the value it teaches but is never seen, or neither."""
    if cls == series:
        return "in"
    place = series.index("1")
    return "out" if cls[place] == "1" else "other"


def _critical(samples: pd.DataFrame) -> pd.DataFrame:
    rows = []
    keys = ["seed", "series", "teaches", "class", "role", "variable"]
    for key, curve in samples[samples["role"] != "other"].groupby(keys):
        number = critical_number(curve["number"], curve["value"], THRESHOLD)
        tried = sorted(curve["number"].unique())
        bounds = {"first": float(next((n for n in tried if n), 1)), "last": float(tried[-1])}
        rows.append({**dict(zip(keys, key)), "time": number, **bounds})
    return pd.DataFrame(rows)


def threshold_tables(results: Results) -> dict[str, pd.DataFrame]:
    """As Figure 8, and `predicted`: critical numbers told from concept signal alone. The rule was fixed before any run:
    a sample teaches in proportion to how much of the image it changes, so n* ∝ 1 / signal, with the one constant
    taken from the paper's own number, about 10 for colour."""
    tables = sample_tables(results)
    signal = signals(results.members[0])
    rows = []
    own = tables["critical"].query("role == 'in'")
    for row in own[own["variable"] == own["teaches"]].to_dict("records"):
        predicted = 10.0 * signal["colour"] / signal[row["teaches"]]
        rows.append({**row, "signal": signal[row["teaches"]], "predicted": predicted})
    return {**tables, "predicted": pd.DataFrame(rows)}


def signals(member: Member) -> dict[str, float]:
    """Concept signal of every variable, averaged over classes."""
    world = member.world
    assert isinstance(world, RenderedWorld)
    return {name: concept_signal(world, name, n=_PAIRS).value for name in world.space.names}


# --- Figure 9, finetune ---


def tuning_tables(results: Results) -> dict[str, pd.DataFrame]:
    """`finals`: final accuracies before and after fine-tuning, with the role of every class: `old` (in the adversarial
    set), `new` (added), `unseen`; `drawn`: what was drawn instead; `curves` of the whole way."""
    curves = labelled(results, recipes.tuning_of)
    keys = ["seed", "set", "added", "mode", "rate"]
    last = final(curves, keys)
    rows = joint(last)
    finals = rows.assign(role=[_seen(c, s, a) for c, s, a in zip(rows["class"], rows["set"], rows["added"])])
    drawn = last[last["measure"] == "drawn"].rename(columns={"variable": "drawn"})
    return {
        "curves": shown(curves),
        "finals": finals[[*keys, "class", "role", "value"]],
        "drawn": drawn[[*keys, "class", "drawn", "value"]],
        "signatures": signatures(results, recipes.tuning_of),
    }


def _seen(cls: str, trained: str, added: str) -> str:
    return "old" if cls in trained.split() else "new" if cls == added else "unseen"


# --- frequency, centres, correlation ---


def frequency_tables(results: Results) -> dict[str, pd.DataFrame]:
    """Emergence times by the way in which the rare class is rare and by its share; `role` as in Figure 8."""

    def label(recipe: Recipe) -> Mapping[str, Any]:
        way, share = recipes.rarity_of(recipe)
        return {"way": way, "share": share}

    curves = at_common_steps(labelled(results, label), ["way", "share"])
    times = emergence(curves, ["way", "share"])
    times["role"] = [_role(cls, recipes.RARE) for cls in times["class"]]
    return {"curves": joint(curves), "times": times, "signatures": signatures(results, label)}


def centre_tables(results: Results) -> dict[str, pd.DataFrame]:
    """Figure 5's times for every centre of the training set."""

    def label(recipe: Recipe) -> Mapping[str, Any]:
        return {"centre": recipes.centre_of(recipe)}

    curves = at_common_steps(labelled(results, label), ["centre"])
    return {
        "curves": joint(curves),
        "times": emergence(curves, ["centre"]),
        "signatures": signatures(results, label),
    }


def correlation_tables(results: Results) -> dict[str, pd.DataFrame]:
    """`departures`: how far the joint accuracy of classes against the correlation (small circles, large triangles)
    lies above the product of its single accuracies, mean over training since the model draws; `leaves`: whether that
    differs from what it is without correlation; `rules` as in Figure 6."""

    def label(recipe: Recipe) -> Mapping[str, Any]:
        return {"correlation": recipes.correlation_of(recipe)}

    curves = labelled(results, label)
    wide = among_drawn(curves, ["correlation"])
    departure = (wide[""] - wide.drop(columns="").prod(axis=1)).rename("value").reset_index()
    against = departure[departure["class"].str[0] != departure["class"].str[1]]
    # A member that never draws has a row without a number: its seed is unknown, not missing.
    every = curves.groupby(["seed", "correlation"]).size().index
    mean = against.groupby(["seed", "correlation"])["value"].mean().reindex(every).reset_index()
    return {
        "curves": joint(curves),
        "departures": mean,
        "leaves": leaving(mean),
        "rules": prediction_errors(curves, ["correlation"]),
        "signatures": signatures(results, label),
    }


def leaving(departures: pd.DataFrame) -> pd.DataFrame:
    """For every correlation the mean over seeds of the paired difference from none, with its interval at 95 % (each by
    itself: this describes, it does not decide), and whether that excludes zero."""
    wide = departures.pivot(index="seed", columns="correlation", values="value")
    if 0.0 not in wide:
        return pd.DataFrame(columns=["correlation", "difference", "low", "high", "leaves"])
    rows = []
    for rho in (column for column in wide if column != 0):
        paired = (wide[rho] - wide[0.0]).dropna()
        low = high = math.nan
        if len(paired) > 1 and not tied(paired.to_numpy()):
            low, high = student_interval(PerSeed.exact(paired), 0.05)
        leaves = bool(low > 0 or high < 0)
        rows.append(
            {"correlation": rho, "difference": paired.mean(), "low": low, "high": high, "leaves": leaves}
        )
    return pd.DataFrame(rows)


# --- distance ---


def distance_tables(results: Results) -> dict[str, pd.DataFrame]:
    """Times of classes for all centres, with two distances: Hamming from training (`distance`, Def 4), and `weighted`,
    in which every variable that differs from the centre counts as much as its signal is weak. From the nearest training
    class instead, which has one of them for nothing, hardly any two classes would differ."""
    tables = centre_tables(results)
    member = results.members[0]
    space, signal = member.world.space, signals(member)
    mean = sum(signal.values()) / len(signal)
    cost = [mean / signal[name] for name in space.names]
    weighted = {}
    for centre, cls in product(tables["times"]["centre"].unique(), space):
        altered = zip(cost, cls, space.parse(centre))
        weighted[centre, space.code(cls)] = sum(c for c, own, theirs in altered if own != theirs)
    times = tables["times"]
    times["weighted"] = [weighted[key] for key in zip(times["centre"], times["class"])]
    signal_table = pd.DataFrame({"variable": list(signal), "signal": list(signal.values()), "cost": cost})
    return {"times": times, "signals": signal_table, "signatures": tables["signatures"]}


def _text(train: Mapping[str, int]) -> str:
    return " ".join(f"{cls}:{count}" for cls, count in train.items())
