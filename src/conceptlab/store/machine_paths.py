"""Paths of this machine, which results that leave it must not name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

# Between the words of a command: a path may be quoted, or follow the name of a setting.
_WORDS = re.compile(r"[\s='\"]+")


def without_place(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Without the directory in which its command was run, which is of use on this machine only."""
    return {name: said for name, said in manifest.items() if name != "directory"}


def machine_paths(value: Any) -> Iterator[str]:
    """Absolute paths in a configuration: they mean nothing elsewhere and are nobody else's business."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for inner in value:
            yield from machine_paths(inner)
    elif isinstance(value, str) and any(map(_is_absolute, _WORDS.split(value))):
        yield value


def _is_absolute(word: str) -> bool:
    # A slash between two words is no path.
    return word != "/" and any(kind(word).is_absolute() for kind in (PurePosixPath, PureWindowsPath))
