"""The tables that all figures of okawa2023 share: labelled curves and emergence times."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from conceptlab.claims import PerSeed, group_times
from conceptlab.measures import emergence_table
from conceptlab.recipe import Recipe
from conceptlab.store import gather
from conceptlab.studies.emergence_claims import THRESHOLD, begun
from conceptlab.studies.study import Results

Label = Callable[[Recipe], Mapping[str, Any] | None]
"""What a member is in a sweep, as columns; None where it does not belong."""

COLUMNS = ["seed", "step", "class", "distance", "variable", "measure", "value"]


def plain(recipe: Recipe) -> Mapping[str, Any]:
    return {}


def labelled(results: Results, label: Label = plain) -> pd.DataFrame:
    """All measurements of the raw weights of the members that belong, with their labels as columns."""
    parts = []
    for member in results.members:
        found = label(member.recipe)
        if found is not None:
            rows = gather([member]).query("weights == 'raw'")
            parts.append(rows[COLUMNS].assign(**found))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COLUMNS)


def at_common_steps(curves: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Only the evaluations that all members have, which `by` tells apart: times read off finer curves are earlier."""
    steps = [set(own["step"]) for _, own in curves.groupby(["seed", *by])]
    return curves[curves["step"].isin(set.intersection(*steps))].reset_index(drop=True)


def shown(curves: pd.DataFrame) -> pd.DataFrame:
    """The rows that pictures are drawn from: without what was drawn in place of what, and with coordinates of images in
    which something is drawn. An empty one counts as halfway along every variable, and a class that is half empty would
    seem to float in the middle of the cube; where most images are empty there is no coordinate."""
    keys = [name for name in curves.columns if name not in ("distance", "variable", "measure", "value")]
    empty = curves[(curves["measure"] == "drawn") & (curves["variable"] == "nothing")]
    share = curves[keys].join(empty.set_index(keys)["value"], on=keys)["value"].fillna(0.0)
    among = ((curves["value"] - share / 2) / (1 - share)).where(share <= 0.5)
    own = curves.assign(value=curves["value"].where(curves["measure"] != "coordinate", among))
    return own[own["measure"] != "drawn"].reset_index(drop=True)


def joint(curves: pd.DataFrame) -> pd.DataFrame:
    """Accuracies of whole classes (Eq. 2)."""
    return curves[(curves["measure"] == "accuracy") & (curves["variable"] == "")]


def among_drawn(curves: pd.DataFrame, by: Sequence[str] = ()) -> pd.DataFrame:
    """Accuracies with a column for each variable and "" for all, among images in which something is drawn: an empty one
    is wrong in every variable at once, which says nothing about how they go together. Left out are evaluations before
    the model draws, and those at which most images of a class are empty. `by` names what tells members apart."""
    keys, member = ["seed", *by, "class", "step"], ["seed", *by, "step"]
    wide = curves[curves["measure"] == "accuracy"].pivot_table(index=keys, columns="variable", values="value")
    empty = curves[(curves["measure"] == "drawn") & (curves["variable"] == "nothing")]
    drawn = 1 - empty.set_index(keys)["value"].reindex(wide.index).fillna(0.0)
    counted = pd.MultiIndex.from_frame(curves.loc[begun(curves, by=by), member].drop_duplicates())
    kept = (drawn >= 0.5) & pd.MultiIndex.from_frame(wide.index.to_frame()[member]).isin(counted)
    return wide[kept].div(drawn[kept], axis=0)


def final(curves: pd.DataFrame, by: Sequence[str] = ("seed",)) -> pd.DataFrame:
    """The rows of each member's last evaluation; `by` names what tells members apart."""
    last = curves.groupby(list(by))["step"].transform("max")
    return curves[curves["step"] == last]


def credited(curves: pd.DataFrame, by: Sequence[str] = ()) -> pd.DataFrame:
    """Curves with everything set to 0 until the model draws. A judge takes the noise of an untrained network for some
    class, which then seems to emerge at the first evaluation; two training classes at once it cannot take it for."""
    return silent_before(curves, begun(curves, by=by))


def silent_before(curves: pd.DataFrame, draws: pd.Series) -> pd.DataFrame:
    """Curves with everything set to 0 in rows whose model does not draw yet."""
    return curves.assign(value=curves["value"].where(draws, 0.0))


def emergence(curves: pd.DataFrame, by: Sequence[str] = (), measure: str = "accuracy") -> pd.DataFrame:
    """When each class emerges in each seed and setting; `first` and `last` bound what could be seen."""
    return _times(credited(curves, by), by, measure)


def _times(curves: pd.DataFrame, by: Sequence[str], measure: str = "accuracy") -> pd.DataFrame:
    found = emergence_table(
        curves.assign(weights="raw"), THRESHOLD, by=["seed", *by, "class", "distance"], measure=measure
    )
    return found.assign(first=float(curves["step"].min()))


def variable_emergence(curves: pd.DataFrame) -> pd.DataFrame:
    """When each variable of each class emerges by itself."""
    own = credited(curves)
    single = own[(own["measure"] == "accuracy") & (own["variable"] != "")]
    parts = [
        _times(rows.assign(variable=""), ()).assign(variable=variable)
        for variable, rows in single.groupby("variable")
    ]
    return pd.concat(parts, ignore_index=True)


def times_by(times: pd.DataFrame, by: str = "distance") -> dict[Any, PerSeed]:
    """Emergence times of groups of classes, censored at the first and the last evaluation."""
    return group_times(times, by=by, first=float(times["first"].min()), last=float(times["last"].max()))
