"""Worlds by name, open to a user's own."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar

from conceptlab.errors import unknown
from conceptlab.worlds.base import World

_WORLDS: dict[str, type[World]] = {}
W = TypeVar("W", bound=type[World])


def register(name: str) -> Callable[[W], W]:
    """Decorate a `World` dataclass to make it available by name."""

    def add(kind: W) -> W:
        kind.name = name
        _WORLDS[name] = kind
        return kind

    return add


def names() -> tuple[str, ...]:
    return tuple(_WORLDS)


def build(name: str, /, **settings: Any) -> World:
    """A world by name; settings not given keep their defaults, lists are as good as tuples."""
    if name not in _WORLDS:
        raise unknown("world", name, _WORLDS)
    kind: Any = _WORLDS[name]
    known = [field.name for field in dataclasses.fields(kind)]
    for setting in settings:
        if setting not in known:
            raise unknown("setting", setting, known, where=f"world '{name}'")
    return kind(**settings)
