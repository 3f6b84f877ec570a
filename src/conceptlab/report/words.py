"""Numbers, durations and settings in the words of a page."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from markupsafe import Markup, escape


def number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def counted(number: int, what: str) -> str:
    """`1 claim`, `3 claims`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def duration(seconds: float | None) -> str:
    """`48 s`, `3 min 14 s`, `2 h 05 min`."""
    if seconds is None or not math.isfinite(seconds):
        return "–"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def breakable(name: str) -> Markup:
    """A long name that may be broken after its dots and underscores, and nowhere else."""
    return Markup(re.sub(r"([._])", r"\1<wbr>", str(escape(name))))


def options_apart(command: str) -> list[str]:
    """A command in pieces, every second of which is an option: browsers break a line after `--`, an option must not."""
    return re.split(r"(?<!\S)(--?[a-z][\w-]*)", command)


def unbroken(command: str) -> Markup:
    """A command that is broken nowhere within an option."""
    pieces = options_apart(command)
    pieces[1::2] = [Markup('<span class="option">{}</span>').format(option) for option in pieces[1::2]]
    return Markup("").join(pieces)


def setting_text(value: Any) -> str:
    """A setting's value as a recipe would write it; words without quotes."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
