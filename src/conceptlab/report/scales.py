"""The scale on which a claim was judged, and on which its bar is drawn.

An interval of ratios is taken of their logarithms: drawn plainly, what lies between .5 and 1 would seem half as much as
what lies between 1 and 2, and the value would never lie in the middle of its interval.
"""

from __future__ import annotations

import functools
import math

from conceptlab.claims import Verdict
from conceptlab.studies import STUDIES, custom


@functools.cache
def _on_log_scale() -> frozenset[str]:
    """The claims that are declared so; verdicts do not tell, and those of results are older than this page."""
    declared = [claim for study in STUDIES.values() for claim in study.claims]
    return frozenset(claim.id for claim in (*declared, *custom.CLAIMS) if claim.transform == "log")


def is_log(verdict: Verdict) -> bool:
    return verdict.id in _on_log_scale()


def scaled(verdict: Verdict, number: float | None) -> float | None:
    """A number of a verdict on the scale of its claim; None where there is none, as for a ratio of nothing."""
    if number is None or not is_log(verdict):
        return number
    return math.log(number) if number > 0 else None
