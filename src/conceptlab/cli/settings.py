"""What `--set key=value` says."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from conceptlab.errors import InputError

# Larger whole numbers fit into no tensor and, in the end, into no float.
_MOST_WHOLE, _MOST = 2**63 - 1, sys.float_info.max


def parse_settings(texts: Iterable[str]) -> dict[str, Any]:
    """`key=value` texts from the command line; values are JSON where they can be, otherwise words."""
    settings: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise InputError(f"--set {text}: write it as key=value, e.g. --set optimiser.learning_rate=0.001")
        try:
            read = json.loads(value, parse_constant=_no_number)
            if any(abs(n) > (_MOST_WHOLE if isinstance(n, int) else _MOST) for n in _numbers(read)):
                _no_number(value)
        except ValueError:  # no JSON, or more digits than Python reads
            read = value
        if settings.setdefault(name.strip(), read) != read:
            raise InputError(f"--set {name.strip()} is given twice, with different values; leave one out")
    return settings


def _no_number(text: str) -> float:
    raise InputError(
        f"--set: {text[:40]} is no number that a recipe can hold; give a finite one, below 2^63 if it is whole"
    )


def _numbers(value: Any) -> Iterator[float]:
    """All numbers in a JSON value."""
    if isinstance(value, int | float):
        yield value
    elif isinstance(value, list | dict):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _numbers(inner)
