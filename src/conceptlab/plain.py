"""Dataclasses as plain data and back: what is written to JSON, and read from it with errors that name the field."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal

from conceptlab.errors import InputError, unknown


def plain(value: Any) -> Any:
    """Dataclasses, mappings and tuples as what JSON has."""
    if value is None or type(value) in (int, float, str, bool):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain(inner) for name, inner in value.items()}
    if isinstance(value, tuple | list):
        return [plain(inner) for inner in value]
    return value


def flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Without folds, by dotted names: `{"a": {"b": 1}}` is `{"a.b": 1}`; what is empty stays as it is."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        folded = isinstance(value, Mapping) and value
        found |= flat(value, f"{prefix}{name}.") if folded else {f"{prefix}{name}": value}
    return found


def differences(value: Any, default: Any) -> dict[str, Any]:
    """The fields of a dataclass that differ from those of another, nested as they are."""
    found: dict[str, Any] = {}
    for f in dataclasses.fields(value):
        mine, theirs = getattr(value, f.name), getattr(default, f.name)
        if mine is theirs:
            continue
        if dataclasses.is_dataclass(mine) and dataclasses.is_dataclass(theirs):
            if inner := differences(mine, theirs):
                found[f.name] = inner
        elif (changed := plain(mine)) != plain(theirs):
            found[f.name] = changed
    return found


def construct(kind: type, data: Mapping[str, Any], where: str) -> Any:
    """A dataclass from plain data; errors name the field, below `where`."""
    if not isinstance(data, Mapping):
        raise InputError(f"{where} must be a table of settings, not {data!r}")
    hints = _hints(kind)
    for name in data:
        if name not in hints:
            raise unknown("setting", name, hints, where=where)
    if lacking := [name for name in _required(kind) if name not in data]:
        raise InputError(f"{where} lacks {', '.join(lacking)}; it is {dict(data)!r}")
    return kind(**{name: _convert(hints[name], value, f"{where}.{name}") for name, value in data.items()})


@lru_cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


@lru_cache
def _required(kind: type) -> list[str]:
    without = dataclasses.MISSING
    fields = dataclasses.fields(kind)
    return [f.name for f in fields if f.default is without and f.default_factory is without]


def _convert(hint: Any, value: Any, where: str) -> Any:
    """A JSON value as the type a field declares; anything else is an input error that names the field."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        if value is None and type(None) in arguments:
            return None
        return _convert(next(a for a in arguments if a is not type(None)), value, where)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return construct(hint, value, where)
    if origin is Literal and value in arguments:
        return value
    if origin is tuple and isinstance(value, list | tuple):
        inner = [arguments[0]] * len(value) if arguments[-1] is Ellipsis else list(arguments)
        if len(inner) == len(value):
            return tuple(_convert(h, v, where) for h, v in zip(inner, value))
    if origin is Mapping and isinstance(value, Mapping):
        if arguments[1] is not Any:
            for name, inner in value.items():
                _convert(arguments[1], inner, f"{where}.{name}")  # checked only: 1 and 1.0 would hash apart
        elif not where.endswith(".start") and not isinstance(value.get("name"), str):
            raise InputError(f'{where} needs a name: {{"name": …}}')
        return dict(value)
    if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if hint in (int, str, bool) and type(value) is hint:
        return value
    raise InputError(f"{where} is {value!r}; expected {_expected(hint)}")


def _expected(hint: Any) -> str:
    """A type in a user's words, who writes lists where tuples are declared."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return " | ".join(map(str, arguments))
    if origin is tuple:
        each = [_expected(argument) for argument in arguments if argument is not Ellipsis]
        return f"a list, each {each[0]}" if Ellipsis in arguments else f"a list: [{', '.join(each)}]"
    return "a table of settings" if origin is Mapping else getattr(hint, "__name__", str(hint))
