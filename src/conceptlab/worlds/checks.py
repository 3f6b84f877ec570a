"""Checks of a world's settings: each raises one line that names the world, the setting and the remedy."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

from conceptlab.errors import InputError, unknown


def whole(world: str, setting: str, value: Any, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise InputError(f"world '{world}': {setting}={value!r} must be a whole number, {least} or more")


def number(world: str, setting: str, value: Any, low: float, high: float = math.inf) -> None:
    if not _within(value, low, high):
        raise InputError(f"world '{world}': {setting}={value!r} must be a number from {low:g} to {high:g}")


def colour(world: str, setting: str, value: Any) -> None:
    if not (isinstance(value, tuple) and len(value) == 3 and all(_within(part, 0, 1) for part in value)):
        raise InputError(f"world '{world}': {setting}={value!r} must be three numbers (R, G, B) from 0 to 1")


def rising(world: str, setting: str, value: Any, low: float, high: float) -> None:
    """A range (lowest, highest)."""
    good = isinstance(value, tuple) and len(value) == 2 and all(_within(part, low, high) for part in value)
    if not good or value[0] > value[1]:
        raise InputError(
            f"world '{world}': {setting}={value!r} must be (lowest, highest) in {low:g} to {high:g}"
        )


def pairs(world: str, setting: str, value: Any, least: int = 1) -> None:
    """Names with values, in an order that counts: (("large", .6), ("small", .4))."""
    good = isinstance(value, tuple) and all(isinstance(item, tuple) and len(item) == 2 for item in value)
    if not (good and len(value) >= least and all(isinstance(item[0], str) for item in value)):
        raise InputError(f"world '{world}': {setting}={value!r} must be {least} or more pairs (name, value)")


def chosen(world: str, setting: str, value: Any, known: Collection[str], least: int = 0) -> None:
    """Names out of a known set, none twice."""
    if not isinstance(value, tuple) or len(value) < least:
        raise InputError(
            f"world '{world}': {setting}={value!r} must list {least} or more of {', '.join(known)}"
        )
    for name in value:
        if name not in known:
            raise unknown("name", name, known, where=f"setting '{setting}' of world '{world}'")
    if len(set(value)) < len(value):
        raise InputError(f"world '{world}': {setting}={value!r} names something twice")


def _within(value: Any, low: float, high: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
