"""Named parts: a name and plain settings in, an object out; a wrong name or setting is one clear line.

Recipes name their parts (`{"name": "film", "channels": [32, 64]}`). A plug-in adds its own with the room's
`register`, and is then used by its name like any built-in part.
"""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from numbers import Integral, Real
from typing import Any, Generic, TypeVar

from conceptlab import plugins
from conceptlab.errors import InputError, unknown

T = TypeVar("T")
Maker = TypeVar("Maker", bound=Callable[..., Any])


# The kinds of parameters that take an argument by its place.
_PLACES = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Registry(Generic[T]):
    """Makers of one kind of part, by name. `kind` is the word used in error messages, `base` what every part derives
    from, if there is such a class."""

    def __init__(self, kind: str, base: type[T] | None = None) -> None:
        self.kind, self.base = kind, base
        self._makers: dict[str, Callable[..., T]] = {}

    def register(self, name: str) -> Callable[[Maker], Maker]:
        """A decorator that files a class or function under a name."""

        def file(maker: Maker) -> Maker:
            if self._makers.get(name, maker) is not maker:
                raise InputError(
                    f"there is already a {self.kind} '{name}'; register yours under another name"
                )
            self._makers[name] = maker
            return maker

        return file

    def names(self) -> list[str]:
        return sorted(self._makers)

    def is_plugged_in(self, name: str) -> bool:
        """Whether a part that was registered comes from elsewhere."""
        return not self._makers[name].__module__.startswith(f"{__package__}.")

    def make(self, name: str, *arguments: Any, **settings: Any) -> T:
        """Build the part. Settings are the maker's parameters after the positional `arguments`."""
        if name not in self._makers:
            plugins.load()
        if name not in self._makers:
            raise InputError(f"{unknown(self.kind, name, self.names())}; one of your own needs --plugin FILE")
        maker = self._makers[name]
        if lacking := sorted(getattr(maker, "__abstractmethods__", ())):
            raise InputError(f"{self.kind} '{name}' lacks {', '.join(lacking)}; define each in its class")
        if isinstance(maker, type) and self.base is not None and not issubclass(maker, self.base):
            # Before it is given arguments that it may not take.
            raise self._alien(name, f"a {maker.__name__}")
        parameters = list(inspect.signature(maker).parameters.values())
        _check_arguments(parameters, len(arguments), f"{self.kind} '{name}'")
        given = [parameter for parameter in parameters if parameter.kind in _PLACES][: len(arguments)]
        parameters = [parameter for parameter in parameters if parameter not in given]
        open_ended = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
        known = [p.name for p in parameters if p.kind in (*_PLACES, p.KEYWORD_ONLY)]
        for setting in settings:
            if setting not in known and not open_ended:
                raise unknown("setting", setting, known, where=f"{self.kind} '{name}'")
        if missing := [p.name for p in parameters if _is_needed(p) and p.name not in settings]:
            raise InputError(f"{self.kind} '{name}' needs {' and '.join(missing)}; give {_them(missing)}")
        if self.is_plugged_in(name):
            # What it cannot be made of may be a mistake of its author, who wants to see where.
            return self._derived(maker(*arguments, **settings), name)
        for setting, value in settings.items():
            if words := _unlike(_hints(maker).get(setting, Any), value):
                raise InputError(
                    f"{self.kind} '{name}' cannot be made with {setting}={value!r}: it takes {words}"
                )
        try:
            return maker(*arguments, **settings)
        except (TypeError, ValueError, OverflowError) as error:  # a value of the wrong size, or length
            given = ", ".join(f"{setting}={value!r}" for setting, value in settings.items())
            raise InputError(f"{self.kind} '{name}' cannot be made with {given}: {error}") from error

    def _derived(self, made: T, name: str) -> T:
        """Stop if a plug-in made something else: it would show deep inside a run, when the first method is missing."""
        if self.base is not None and not isinstance(made, self.base):
            raise self._alien(name, "None" if made is None else f"a {type(made).__name__}")
        return made

    def _alien(self, name: str, what: str) -> InputError:
        assert self.base is not None
        # A room shows its base class, whichever of its files that lies in.
        room = ".".join(self.base.__module__.split(".")[:2])
        return InputError(f"{self.kind} '{name}' is {what}; derive it from {room}.{self.base.__name__}")


def _check_arguments(parameters: Sequence[inspect.Parameter], given: int, part: str) -> None:
    """Stop unless a part takes as many arguments by their place as it is given; a plug-in may forget them."""
    takes = sum(parameter.kind in _PLACES for parameter in parameters)
    if takes < given and not any(p.kind is p.VAR_POSITIONAL for p in parameters):
        raise InputError(
            f"{part} is given {given} arguments before its settings and takes {takes} in all; "
            "docs/own_data.md shows how its __init__ begins"
        )


def _is_needed(parameter: inspect.Parameter) -> bool:
    open_ended = parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
    return parameter.default is parameter.empty and not open_ended


def _them(names: Sequence[str]) -> str:
    return "it" if len(names) == 1 else "them"


@lru_cache
def _hints(maker: Callable[..., Any]) -> dict[str, Any]:
    """The kinds of values that a maker declares. The fields of a dataclass may be declared in other modules, which its
    `__init__` does not know."""
    is_plain_class = isinstance(maker, type) and not dataclasses.is_dataclass(maker)
    return typing.get_type_hints(maker.__init__ if is_plain_class else maker)


_WORDS = {
    int: (Integral, "a whole number"),
    float: (Real, "a number"),
    str: (str, "a word"),
    bool: (bool, "true or false"),
}


def _unlike(hint: Any, value: Any) -> str:
    """What a declared kind takes, in words, if a value is not of it. Kinds that JSON does not have are left alone:
    what a maker cannot use it refuses itself."""
    if hint in _WORDS:
        kind, words = _WORDS[hint]
        return "" if isinstance(value, kind) and isinstance(value, bool) == (hint is bool) else words
    kinds = set(typing.get_args(hint)) - {Ellipsis}
    if typing.get_origin(hint) not in (tuple, Sequence) or not kinds:
        return ""
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        return "a list"
    # Lists of several kinds, such as a name with a number, are left to the maker.
    if len(kinds) > 1 or not isinstance(value, Sequence):
        return ""
    (inner,) = kinds
    wrong = next((words for each in value if (words := _unlike(inner, each))), "")
    return wrong and f"a list, each {wrong}"


def choose(setting: str, given: str, choices: tuple[str, ...]) -> str:
    """The given choice, or an `InputError` that lists what there is."""
    if given not in choices:
        raise unknown(setting, given, choices)
    return given
