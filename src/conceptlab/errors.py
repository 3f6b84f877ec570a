"""The one exception a user is meant to see.

Everything a person can get wrong (a class that does not exist, a folder that cannot be written, a damaged
file) raises `InputError` with one line that says what is wrong, where, and how to mend it. The command line
prints that line and exits with code 2; anything else is our bug and keeps its traceback.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class InputError(Exception):
    """What is wrong, where, and how to fix it, in one line."""


def unknown(what: str, given: object, known: Iterable[object], *, where: str = "") -> InputError:
    """An `InputError` for a name that is not among the known ones, with the nearest guess."""
    names = [str(name) for name in known]
    close = difflib.get_close_matches(str(given), names, n=1)
    hint = f"did you mean '{close[0]}'? " if close else ""
    place = f" in {where}" if where else ""
    shown = ", ".join(names[:24]) + (", …" if len(names) > 24 else "")
    return InputError(f"unknown {what} '{given}'{place}; {hint}known: {shown or 'none'}")
