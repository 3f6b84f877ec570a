"""A claim's interval against its threshold, as a line, on the scale on which it was judged.

An interval of ratios is taken of their logarithms: drawn plainly, what lies between .5 and 1 would seem half as much as
what lies between 1 and 2, and the value would never lie in the middle of its interval.
"""

from __future__ import annotations

import math
from typing import Any

from conceptlab.claims import Verdict, interval_text


def interval_bar(verdict: Verdict) -> dict[str, Any] | None:
    """Where value, interval and threshold lie on a line from 0 to 100; None where there is no interval to draw."""
    if not interval_text(verdict):
        return None
    numbers = (verdict.threshold, verdict.floor, verdict.ci_low, verdict.ci_high, verdict.value)
    known = [y for x in numbers if (y := _scaled(verdict, x)) is not None]
    low, high = min(known), max(known)
    room = 0.18 * (high - low) or 0.5
    low, high = low - room, high + room

    def place(x: float | None, missing: float) -> float:
        y = _scaled(verdict, x)
        return missing if y is None else round(100 * (y - low) / (high - low), 2)

    return {
        "low": place(verdict.ci_low, 0.0),
        "high": place(verdict.ci_high, 100.0),
        "value": None if verdict.value is None else place(verdict.value, 0.0),
        "log": verdict.transform == "log",
        "thresholds": [place(x, 0.0) for x in (verdict.floor, verdict.threshold) if x is not None],
    }


def _scaled(verdict: Verdict, number: float | None) -> float | None:
    """A number of a verdict on the scale of its claim; None where there is none, as for a ratio of nothing."""
    if number is None or verdict.transform != "log":
        return number
    return math.log(number) if number > 0 else None
