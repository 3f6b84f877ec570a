"""How the members of a sweep are told apart, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from conceptlab.store import METRIC_COLUMNS, Member

_HIDDEN = (*METRIC_COLUMNS, "member", "seed", "start.seed", "distance")
# Settings of each class, told in a list.
_LISTS = ("train", "shares")
_WORLD = "world.name"
# With more keys than this only what a member does not share with most others is told.
_MOST_KEYS = 4


def setting_labels(table: pd.DataFrame, members: Sequence[Member]) -> dict[str, str]:
    """Each member's settings that differ from other members', in words; empty where only seeds differ, or what is
    measured of them."""
    varying = [c for c in table.columns if c not in _HIDDEN and not c.startswith("evaluation.")]
    first = table.drop_duplicates("member").set_index("member")[varying].astype(object)
    told = {member: own for rows in _by_world(first) for member, own in _told_apart(rows).items()}
    exact, short = ({m: _in_words(own, text) for m, own in told.items()} for text in (str, _short))
    # Rounded numbers are easier to read, unless they made two settings one.
    labels = short if len(set(short.values())) == len(set(exact.values())) else exact
    return {member.id: labels.get(member.id, "") for member in members}


def _by_world(settings: pd.DataFrame) -> list[pd.DataFrame]:
    """Of members of several worlds only what differs within each: the worlds differ in nearly everything, and their
    names say so."""
    if _WORLD not in settings:
        return [settings]
    worlds = [rows for _, rows in settings.groupby(_WORLD, sort=False)]
    return [rows[[c for c in rows if c == _WORLD or _differs(rows[c])]] for rows in worlds]


def _differs(column: pd.Series) -> bool:
    return column.astype(str).nunique(dropna=False) > 1


def _told_apart(settings: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """What each member is told by, first of all its world where there are several."""
    several = {str(key) for key in settings if settings[key].dropna().astype(str).nunique() > 1}
    told = {str(member): _told(row.dropna().to_dict(), several) for member, row in settings.iterrows()}
    worlds = {member: {_WORLD: own.pop(_WORLD)} if _WORLD in own else {} for member, own in told.items()}
    return {member: worlds[member] | own for member, own in _without_what_is_common(told).items()}


def _told(settings: Mapping[Any, Any], several: set[str]) -> dict[str, Any]:
    """What only fine-tuned members have is said in one word, unless they differ in it."""
    told = {str(k): v for k, v in settings.items() if k in several or not str(k).startswith("start.")}
    if any(str(key).startswith("start.") for key in settings):
        told["fine-tuned"] = ""
    return told


def _without_what_is_common(told: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Where one setting after the other is switched, the base has all of them, and others what they do not share with
    it. It is what most members have, key by key, if some have just that."""
    keys = list(dict.fromkeys(key for own in told.values() for key in own))
    rows = pd.DataFrame({m: {key: str(_value(own, key)) for key in keys} for m, own in told.items()}).T
    settings = rows.drop_duplicates() if len(keys) else rows
    common = {key: settings[key].mode()[0] for key in keys}
    is_base = (rows == pd.Series(common, dtype=object)).all(axis=1) if len(keys) else pd.Series(dtype=bool)
    if len(keys) <= _MOST_KEYS or len(settings) < 3 or not is_base.any():
        return {m: dict(own) for m, own in told.items()}
    return {
        m: {key: _value(own, key) for key in keys if str(_value(own, key)) != common[key]} or dict(own)
        for m, own in told.items()
    }


def _value(own: Mapping[str, Any], key: str) -> Any:
    """Of a class that is not named training has no image; of anything else that is not, the default holds."""
    return own.get(key, "none" if key.startswith("train.") else "default")


def _in_words(settings: Mapping[str, Any], text: Callable[[Any], str]) -> str:
    """`train 000: 40, 100: 40; learning_rate = 0.1`."""
    words = []
    for name in _LISTS:
        own = {k.removeprefix(f"{name}."): v for k, v in settings.items() if k.startswith(f"{name}.")}
        if own:
            words.append(f"{name} " + ", ".join(f"{cls}: {text(value)}" for cls, value in own.items()))
    words += ["fine-tuned"] if "fine-tuned" in settings else []
    for key, value in settings.items():
        if key == "masking":
            words.append(_masked(value))
        elif key != "fine-tuned" and not key.startswith(tuple(f"{name}." for name in _LISTS)):
            words.append(f"{key} = {text(value)}")
    return "; ".join(words)


def _masked(maskings: Sequence[Mapping[str, Any]]) -> str:
    """`colour hidden in 0.25 of 00, 01`."""
    told = [f"{m['variable']} hidden in {m['share']:g} of {', '.join(m['classes'])}" for m in maskings]
    return ", ".join(told) or "nothing hidden"


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
