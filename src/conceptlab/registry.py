"""Named parts: a name and plain settings in, an object out; a wrong name or setting is one clear line.

Recipes name their parts (`{"name": "film", "channels": [32, 64]}`). A plug-in adds its own with the room's
`register`, and is then used by its name like any built-in part.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from conceptlab import plugins
from conceptlab.errors import InputError, unknown

T = TypeVar("T")
Maker = TypeVar("Maker", bound=Callable[..., Any])


class Registry(Generic[T]):
    """Makers of one kind of part, by name. `kind` is the word used in error messages."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
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

    def make(self, name: str, *arguments: Any, **settings: Any) -> T:
        """Build the part. Settings are the maker's parameters after the positional `arguments`."""
        if name not in self._makers:
            plugins.load()
        if name not in self._makers:
            raise InputError(f"{unknown(self.kind, name, self.names())}; one of your own needs --plugin FILE")
        maker = self._makers[name]
        parameters = list(inspect.signature(maker).parameters.values())[len(arguments) :]
        known = [parameter.name for parameter in parameters]
        open_ended = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
        for setting in settings:
            if setting not in known and not open_ended:
                raise unknown("setting", setting, known, where=f"{self.kind} '{name}'")
        try:
            return maker(*arguments, **settings)
        except (TypeError, ValueError, OverflowError) as error:
            # A value of the wrong type or size. In a plug-in it may be a mistake of its author, who wants to see where.
            if not maker.__module__.startswith(f"{__package__}."):
                raise
            given = ", ".join(f"{setting}={value!r}" for setting, value in settings.items())
            raise InputError(f"{self.kind} '{name}' cannot be made with {given}: {error}") from error


def choose(setting: str, given: str, choices: tuple[str, ...]) -> str:
    """The given choice, or an `InputError` that lists what there is."""
    if given not in choices:
        raise unknown(setting, given, choices)
    return given
