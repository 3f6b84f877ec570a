"""From what was measured to the tables behind the figures: curves, and one row of times for each run."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import pandas as pd

from conceptlab.measures import drawing_since, emergence_time, last_start
from conceptlab.measures.changepoint import kink_rank, with_kink
from conceptlab.measures.disentanglement import recovery_time
from conceptlab.measures.turning import nearest_approach, turning_point
from conceptlab.store import Member
from conceptlab.studies.park2024.recipes import MEMORISED, TARGET
from conceptlab.studies.study import Results
from conceptlab.worlds import Circles, concept_signal

THRESHOLD = 0.5
"""The accuracy at which something counts as learned (Fig. 3)."""
_COLUMNS = ["seed", "separation", "hidden", "step", "class", "distance", "variable", "measure", "value"]

Maker = Callable[[Results], dict[str, pd.DataFrame]]


def figure_tables(*measures: str) -> Maker:
    """What a figure needs: the curves of some measures, and the times of all runs."""

    def make(results: Results) -> dict[str, pd.DataFrame]:
        every = curves(results)
        chosen = every[every["measure"].isin(measures)].reset_index(drop=True)
        return {"curves": chosen, "times": run_times(every), "signal": signals(results.members)}

    return make


def curves(results: Results, *more: str) -> pd.DataFrame:
    """All measurements of the raw weights, with the colour separation and the share of hidden colours of the run, and
    `more` columns."""
    metrics = results.metrics
    recipes = {member.id: member.recipe for member in results.members}
    separation = {
        id_: float(r.world.get("colour_separation", Circles().colour_separation))
        for id_, r in recipes.items()
    }
    hidden = {id_: sum(m.share for m in r.masking) for id_, r in recipes.items()}
    table = metrics[metrics["weights"] == "raw"].assign(
        separation=metrics["member"].map(separation), hidden=metrics["member"].map(hidden)
    )
    return table[[*more, *_COLUMNS]]


def signals(members: Sequence[Member]) -> pd.DataFrame:
    """Concept signal of every separation, without jitter: flip one concept and hold everything else."""
    worlds = {member.world for member in members if isinstance(member.world, Circles)}
    rows = [row for world in sorted(worlds, key=lambda w: w.colour_separation) for row in _signals(world)]
    return pd.DataFrame(rows, columns=["separation", "variable", "class", "signal", "standard_error"])


@cache
def _signals(world: Circles, pairs: int = 256) -> list[tuple[float, str, str, float, float]]:
    still = Circles(**{**world.settings, "colour_jitter": 0.0, "size_jitter": 0.0})
    found = []
    for variable, base in (("colour", "00"), ("colour", "01"), ("size", "00")):
        signal = concept_signal(still, variable, still.space.parse(base), n=pairs)
        found.append((world.colour_separation, variable, base, signal.value, signal.standard_error))
    return found


def signal_of(signal: pd.DataFrame) -> dict[float, float]:
    """The signal of colour on a small circle, by separation: what class 11 has to be told apart from 01 by."""
    rows = signal[(signal["variable"] == "colour") & (signal["class"] == MEMORISED)]
    return dict(zip(rows["separation"].astype(float), rows["signal"].astype(float)))


def run_times(every: pd.DataFrame) -> pd.DataFrame:
    """One row for each separation, hidden share and seed. A time is NaN where it was never reached by `last`."""
    by, found = ["separation", "hidden", "seed"], []
    for key, run in every.groupby(by, sort=True):
        found.append({**dict(zip(by, key)), **_times(run)})
    return pd.DataFrame(found)


def _times(run: pd.DataFrame) -> dict[str, float]:
    behaviour = curve(run, "accuracy")
    since = drawing_from(run)
    path = pd.concat([curve(run, "coordinate", "colour"), curve(run, "coordinate", "size")], axis=1)
    steps = behaviour.index.to_numpy(dtype=float)
    asked = {
        "behaviour": behaviour,
        "colour": curve(run, "accuracy", "colour"),
        "capability": curve(run, "prompt_capability", "over-prompting"),
        "null": curve(run, "best_prompt", "redraws"),
        # Ways of asking are compared by what both probes see, the null as well.
        "agreed_null": curve(run, "agreed_best", "redraws"),
        **{family: curve(run, "agreed_capability", family) for family in ("search", "latent", "guidance")},
    }
    found = {name: reached(values, since) for name, values in asked.items()}
    drawn = path[path.index >= since]
    found |= {
        "first": float(steps[0]),
        "last": float(last_start(steps)),
        "drawing": since,
        "turn": turning_point(drawn.index, drawn.iloc[:, 0]) if len(drawn) else math.nan,
        "approach": nearest_approach(drawn, _corner(MEMORISED)) if len(drawn) else math.nan,
        "final_distance": float(np.linalg.norm(path.iloc[-1].to_numpy(dtype=float) - _corner(TARGET))),
        "final_behaviour": float(behaviour.iloc[-1]),
        "final_capability": float(asked["capability"].iloc[-1]) if len(asked["capability"]) else math.nan,
        "lead": _evaluations_between(steps, found["capability"], found["behaviour"]),
    }
    apart, loss = curve(run, "disentanglement", cls="00"), curve(run, "loss", cls="")
    found["disentangled"] = recovery_time(apart.index, apart)
    found["kink"] = kink_rank(loss.index, loss, found["capability"])
    control = with_kink(loss.index, loss, found["capability"]) if found["capability"] > 0 else loss
    found["kink_control"] = kink_rank(loss.index, control, found["capability"])
    return found


def drawing_from(run: pd.DataFrame) -> float:
    """Since when the model draws. Every training class, not their mean: big circles are drawn long before small ones,
    and 11 is small."""
    seen = run[(run["measure"] == "accuracy") & (run["variable"] == "") & (run["distance"] == 0)]
    return drawing_since(seen, THRESHOLD)


def _corner(code: str) -> np.ndarray:
    return np.array([float(digit) for digit in code])


def curve(run: pd.DataFrame, measure: str, variable: str = "", cls: str = TARGET) -> pd.Series:
    """One measure of one run over the steps."""
    chosen = run[(run["measure"] == measure) & (run["variable"] == variable) & (run["class"] == cls)]
    return chosen.groupby("step")["value"].mean()


def reached(values: pd.Series, since: float, level: float = THRESHOLD) -> float:
    """When an accuracy reaches a level and stays there for three evaluations (`emergence_time`), `since` the model
    draws."""
    credited = values.where(values.index >= since, 0.0)
    return emergence_time(credited.index.to_numpy(), credited.to_numpy(), level)


def _evaluations_between(steps: np.ndarray, earlier: float, later: float) -> float:
    """How many evaluations lie between two times; a later one that was never seen counts as at the earliest evaluation
    it may have come at, which makes the number a lower bound."""
    if np.isnan(earlier):
        return float("nan")
    end = last_start(steps) if np.isnan(later) else later
    return float(np.searchsorted(steps, end) - np.searchsorted(steps, earlier))


def winners(results: Results) -> pd.DataFrame:
    """Which prompt or intervention won, run by run and step by step."""
    rows = curves(results).query("measure == 'winner'")
    names = rows["variable"].str.partition(": ")
    return rows.assign(family=names[0], prompt=names[2])[
        ["seed", "separation", "step", "class", "family", "prompt", "value"]
    ].reset_index(drop=True)
