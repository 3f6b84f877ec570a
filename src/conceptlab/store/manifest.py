"""The manifest of a figure's folder, read with what every reader relies on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from conceptlab.errors import InputError
from conceptlab.store.files import read_json

_NEEDED: dict[str, type] = {
    "study": str,
    "figure": str,
    "scale": str,
    "settings": dict,
    "members": list,
    "seeds": list,
}
# Only a figure that is finished has all of these.
_LATER: dict[str, type | tuple[type, ...]] = {
    "title": str,
    "shows": str,
    "paper": str,
    "command": str,
    "directory": str,
    "seconds": (int, float),
    "ended": (int, float),
    "environment": dict,
    "tables": list,
}
_INNER: dict[str, type] = {"members": str, "seeds": int}


def read_manifest(path: Path) -> dict[str, Any]:
    """A `manifest.json`; one that says too little, or says it in another form, is damaged."""
    found = read_json(path)
    if not isinstance(found, dict):
        raise _damaged(path, "it is not a table of entries")
    for name, kind in _NEEDED.items():
        if not isinstance(found.get(name), kind):
            raise _damaged(path, f"{name} {'is of the wrong kind' if name in found else 'is missing'}")
    for name, kind in _LATER.items():
        if name in found and not isinstance(found[name], kind):
            raise _damaged(path, f"{name} is of the wrong kind")
    for name, kind in _INNER.items():
        if not all(isinstance(one, kind) for one in found[name]):
            raise _damaged(path, f"{name} are of the wrong kind")
    return found


def _damaged(path: Path, reason: str) -> InputError:
    return InputError(f"{path} is damaged ({reason}); move {path.parent} away and run again")
