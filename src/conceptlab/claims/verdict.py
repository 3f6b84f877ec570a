"""The record of one judged claim: the stable form of `claims.json` and of everything shown to a reader."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

from conceptlab.atomic import replacing
from conceptlab.claims.interval import BOUNDS, Bound
from conceptlab.errors import InputError, unwritten

Outcome = Literal["reproduced", "not reproduced", "inconclusive"]
OUTCOMES = ("reproduced", "not reproduced", "inconclusive")
STRENGTHS = ("firm", "indicative")


@dataclass(frozen=True)
class Verdict:
    """One claim with its number, its deciding interval and what follows; `None` where there is no number. `failed` is
    how many seeds of the figure have a member whose training failed, `floor` the lower threshold of a claim that a
    value lies within two, `why` what leaves a claim open though its numbers do not show it, `transform` the scale on
    which its interval was taken: that of ratios is logarithmic, `resolution` the spread over seeds that it was taken to
    be at least, on that scale, `bound` which bound the value is where it is only one, as with censored seeds."""

    id: str
    paper: str
    figure: str
    kind: str
    statement: str
    statistic: str
    value: float | None
    ci_low: float | None
    ci_high: float | None
    threshold: float
    verdict: Outcome
    strength: Literal["firm", "indicative"]
    seeds: int
    censored: int
    note: str
    failed: int = 0
    floor: float | None = None
    why: str | None = None
    transform: str = "none"
    resolution: float | None = None
    bound: Bound | None = None

    def __post_init__(self) -> None:
        # JSON has no NaN and no infinity; an open end is "none".
        for name in ("value", "ci_low", "ci_high"):
            number = getattr(self, name)
            if number is not None and not math.isfinite(number):
                object.__setattr__(self, name, None)


_KEYS = tuple(field.name for field in fields(Verdict))
# Written later than the others: a file without them tells of no failure, of one threshold, of no reason, of no
# transform and of no resolution.
_LATER: dict[str, Any] = {
    "failed": 0, "floor": None, "why": None, "transform": "none", "resolution": None,
}  # fmt: skip
_TEXTS = ("id", "paper", "figure", "kind", "statement", "statistic", "note", "transform")


def to_json(verdicts: Sequence[Verdict]) -> list[dict[str, Any]]:
    """The verdicts as plain dictionaries, one per claim, always with the same keys."""
    return [asdict(verdict) for verdict in verdicts]


def write_claims(path: str | Path, verdicts: Sequence[Verdict]) -> Path:
    """Write `claims.json` in one step: a reader finds the old file or the new one, never half of either."""
    path = Path(path)
    text = json.dumps(to_json(verdicts), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
    except OSError as error:
        raise unwritten(path, error) from error
    return path


def read_claims(path: str | Path) -> list[Verdict]:
    """The verdicts of a finished run."""
    path = Path(path)
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"cannot read {path}: {error.strerror or error}; name the claims.json of a run"
        ) from error
    except ValueError as error:
        raise InputError(f"{path} is damaged ({error}); run the study again to write it anew") from error
    if not isinstance(entries, list):
        raise InputError(f"{path} is not a list of claims; name the claims.json of a run")
    return [_read_entry(entry, f"{path}, claim {i + 1}") for i, entry in enumerate(entries)]


def _read_entry(entry: object, where: str) -> Verdict:
    found: dict[str, Any] = {}
    if isinstance(entry, Mapping):
        found = {**_LATER, "bound": _bound_in(entry.get("note")), **entry}
    if set(found) != set(_KEYS):
        wrong = ", ".join(sorted(map(str, set(found) ^ set(_KEYS))))
        raise InputError(
            f"{where}: missing or unexpected keys ({wrong}); run the study again to write it anew"
        )
    if not _is_sound(found):
        raise InputError(f"{where}: a value has the wrong type; run the study again to write it anew")
    return Verdict(**found)


def _is_sound(entry: Mapping[str, Any]) -> bool:
    """Is every value of the kind that a verdict has?"""
    numbers = [entry[key] for key in ("value", "ci_low", "ci_high", "floor", "resolution")]
    counts = [entry[key] for key in ("seeds", "censored", "failed")]
    return (
        all(isinstance(entry[key], str) for key in _TEXTS)
        and all(number is None or _is_number(number) for number in numbers)
        and (entry["why"] is None or isinstance(entry["why"], str))
        and _is_number(entry["threshold"])
        and all(isinstance(count, int) and not isinstance(count, bool) and count >= 0 for count in counts)
        and entry["verdict"] in OUTCOMES
        and entry["strength"] in STRENGTHS
        and entry["bound"] in (None, *BOUNDS)
    )


def _bound_in(note: object) -> Bound | None:
    """Which bound the value of a file is that was written before there was a key for it: its note says so."""
    parts = note.split("; ") if isinstance(note, str) else []
    return next((bound for bound, words in BOUNDS.items() if words in parts), None)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
