"""Worlds by name, open to a user's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from conceptlab.registry import Registry
from conceptlab.worlds.base import World

_WORLDS: Registry[World] = Registry("world", World)
names = _WORLDS.names
W = TypeVar("W", bound=type[World])


def register(name: str) -> Callable[[W], W]:
    """Decorate a `World` dataclass to make it available by name."""

    def add(kind: W) -> W:
        kind.name = name
        return _WORLDS.register(name)(kind)

    return add


def build(name: str, **settings: Any) -> World:
    """A world by name; settings not given keep their defaults, lists are as good as tuples."""
    return _WORLDS.make(name, **settings)
