"""What probes read in the images that members drew, and how well they read real ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from conceptlab.concepts import Split
from conceptlab.errors import InputError
from conceptlab.figures import distance_colour, select
from conceptlab.figures.style import ink_on
from conceptlab.store import Member


def drawn_at_the_end(rows: pd.DataFrame, split: Split) -> list[dict[str, Any]]:
    """For each class at the last evaluation: accuracy, also corrected for what the probe misreads where that is
    measured; what was drawn instead, how often two probes disagree."""
    space = split.space
    raw = rows[rows["weights"] == "raw"]
    last = raw[raw["step"] == raw.groupby("member")["step"].transform("max")]
    members = last["member"].nunique()
    accuracy = select(last, "accuracy").groupby("class")["value"].mean()
    corrected = select(last, "corrected").groupby("class")["value"].mean()
    disagreement = last[last["measure"] == "disagreement"].groupby("class")["value"].mean()
    shares = last[last["measure"] == "drawn"].groupby(["class", "variable"])["value"].sum() / members
    found = []
    for cls in sorted(space, key=lambda c: (split.distance(c), c)):
        code = space.code(cls)
        instead = shares[code].drop(code, errors="ignore").nlargest(3) if code in shares else pd.Series()
        colour = distance_colour(split.distance(cls))
        found.append(
            {
                "code": code,
                "words": space.words(cls),
                "distance": split.distance(cls),
                "colour": colour,
                "ink": ink_on(colour),
                "accuracy": accuracy.get(code),
                "corrected": corrected.get(code),
                "instead": [(str(other), float(share)) for other, share in instead.items() if share >= 0.005],
                "disagreement": disagreement.get(code),
            }
        )
    return found


def probes_of(
    members: Sequence[Member], labels: Mapping[str, str], problems: list[str]
) -> list[dict[str, Any]]:
    """Every probe that judged, once, with its validation on real images. Where there are several in one role, each
    says in which settings it judged, `labels` of its members."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    settings: dict[tuple[str, str], list[str]] = {}
    for member in members:
        try:
            for role, record in member.probe.items():
                key = role, str(record.get("probe"))
                found.setdefault(key, _probe(role, record))
                settings.setdefault(key, []).append(labels[member.id])
        except (InputError, AttributeError, TypeError) as error:
            problems.append(f"The probes of member {member.id} cannot be shown: {error}")
    of_role = Counter(role for role, _ in found)
    for key, probe in found.items():
        probe["judged"] = _listed(settings[key]) if of_role[key[0]] > 1 else ""
    return list(found.values())


def _listed(labels: Sequence[str]) -> str:
    """Two settings by their names; of more, how many there are."""
    names = [label for label in dict.fromkeys(labels) if label]
    return " · ".join(names[:2]) + (f" · {len(names) - 2} more" if len(names) > 2 else "")


def _probe(role: str, record: Mapping[str, Any]) -> dict[str, Any]:
    validation = record.get("validation", {})
    codes = list(validation.get("per_class", {}))
    return {
        "role": "judges" if role == "judge" else "second opinion",
        "name": record.get("name", validation.get("kind", "probe")),
        "validation": validation,
        "images": _held_out(validation),
        "codes": codes,
        "rows": [(code, list(row)) for code, row in zip(codes, validation.get("confusion", []))],
    }


def _held_out(validation: Mapping[str, Any]) -> str:
    """How many real images a probe was validated on. Of finitely many it was shown the few of a class again and again;
    its percentages are as rough as these are few."""
    shown = f"{validation.get('images_per_class')} held-out images of each class"
    different = list(validation.get("different", {}).values())
    if not different or min(different) >= validation.get("images_per_class", 0):
        return shown
    few, many = min(different), max(different)
    return f"{shown}, of which only {few if few == many else f'{few} to {many}'} differ and the others repeat them"
