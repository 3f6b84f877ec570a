"""From per-seed values to verdicts.

Within each paper the claims are judged together by Holm's step-down rule, and the interval shown is the one
that decided: a claim whose p-value is the i-th smallest of m and passes is shown at level 1 - alpha/(m-i+1),
all that did not pass at the level at which the steps stopped. So a claim is decided exactly when its shown
interval excludes the threshold. Claims without a usable value cannot be a chance hit and do not count in m.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from conceptlab.claims.claim import Claim, Tables, definitions_hash
from conceptlab.claims.failures import NO_FAILURES, Failures
from conceptlab.claims.interval import (
    centre,
    proportion_interval,
    proportion_p,
    share_centre,
    student_interval,
    student_p,
    undecidable,
)
from conceptlab.claims.reasons import no_interval, no_value, resolution_sets_width, why_open
from conceptlab.claims.values import NoData, PerSeed
from conceptlab.claims.verdict import Outcome, Verdict

ALPHA = 0.05  # two-sided, for each paper's claims together
FIRM_SEEDS = 5  # from here on the rank guard alone bounds the error: (1/2)^5 < 5 %


class _Present(dict[str, pd.DataFrame]):
    """Tables that say which one is missing instead of raising a bare KeyError."""

    def __missing__(self, name: str) -> pd.DataFrame:
        raise NoData(f"no table '{name}' in this run")


@dataclass(frozen=True)
class Measured:
    """A claim with its per-seed values, or with the reason why there are none. Seeds that failed are among the values;
    `lost` of them have none."""

    claim: Claim
    values: PerSeed
    reason: str = ""
    failures: Failures = NO_FAILURES
    lost: int = 0


def measure(claims: Iterable[Claim], tables: Tables, failures: Failures = NO_FAILURES) -> list[Measured]:
    """Every claim's per-seed values from one figure's tables, which know nothing of members that failed."""
    present, measured = _Present(tables), []
    for claim in claims:
        try:
            values = claim.measure(present)
        except NoData as reason:
            none = PerSeed((), np.array([]), np.array([]))
            measured.append(Measured(claim, none, str(reason), failures))
        else:
            lost = len(failures.without_value(values))
            measured.append(Measured(claim, failures.kept(values), "", failures, lost))
    return measured


def judge(claims: Iterable[Claim], tables: Tables, scale: str) -> list[Verdict]:
    """Verdicts on claims that share one set of tables; `scale` is `paper` or something below it."""
    return judge_measured(measure(claims, tables), scale)


def judge_measured(measured: Sequence[Measured], scale: str) -> list[Verdict]:
    """Verdicts in the order given; all claims of one paper form one Holm family, whatever their figure."""
    fingerprint = definitions_hash([m.claim for m in measured])
    families: dict[str, list[int]] = defaultdict(list)
    for i, m in enumerate(measured):
        known = len(m.values) - m.claim.transformed(m.values).unknown
        if m.claim.kind == "empirical" and len(m.values) >= 2 and known:
            families[m.claim.paper].append(i)
    levels: dict[int, tuple[float, int]] = {}
    for members in families.values():
        alphas = holm([min(_p_values(measured[i])) for i in members])
        levels |= {i: (alpha, len(members)) for i, alpha in zip(members, alphas)}
    return [
        _identity(m, fingerprint)
        if m.claim.kind == "identity"
        else _empirical(m, scale, levels.get(i), fingerprint)
        for i, m in enumerate(measured)
    ]


def holm(p_values: Sequence[float], alpha: float = ALPHA) -> list[float]:
    """The level each hypothesis is finally tested at: p ≤ level exactly for those that Holm's rule rejects."""
    m = len(p_values)
    levels = [alpha] * m
    stopped: float | None = None
    for rank, i in enumerate(np.argsort(np.asarray(p_values, dtype=float), kind="stable")):
        step = alpha / (m - rank)
        if stopped is None and p_values[i] > step:
            stopped = step
        levels[i] = step if stopped is None else stopped
    return levels


def _p_values(m: Measured) -> tuple[float, float]:
    """Smallest alpha at which the interval supports the claim, and at which it contradicts it."""
    claim, values = m.claim, m.claim.transformed(m.values)
    if claim.interval == "student" and undecidable(values, claim.resolution):
        return 1.0, 1.0

    def sides(bar: float) -> tuple[float, float]:
        if claim.interval == "proportion":
            return proportion_p(values, bar)
        return student_p(values, bar, claim.resolution)

    over, under = sides(claim.bar)
    if claim.side == "within":
        over_floor, under_floor = sides(-claim.bar)
        return max(under, over_floor), min(over, under_floor)
    return (over, under) if claim.side == "above" else (under, over)


def _empirical(m: Measured, scale: str, level: tuple[float, int] | None, fingerprint: str) -> Verdict:
    claim, values = m.claim, m.claim.transformed(m.values)
    # The median of outcomes that are 0 or 1 is no share of them.
    middle = share_centre(values) if claim.interval == "proportion" else centre(values)
    unknown = max(m.values.unknown, values.unknown)
    notes, ends, outcome = [m.failures.note, middle.about], (-np.inf, np.inf), "inconclusive"
    missing = m.reason or no_interval(claim, values)
    if level is None or missing:
        reasons = [missing]
        notes = [*reasons, *notes]
    else:
        alpha, family = level
        ends, outcome = _decide(claim, values, alpha)
        reasons = why_open(claim, values, alpha) if outcome == "inconclusive" else []
        notes.append(
            f"interval at {100 * (1 - alpha):.4g} % (Holm, {family} claim{'s' if family > 1 else ''})"
        )
        notes += reasons or [resolution_sets_width(claim, values), no_value(values)]
    # An end that the data leave open lies where the statistic itself ends: no ratio is below 0, no share above 1.
    low, high = map(claim.restored, ends) if np.isfinite(ends).any() else (None, None)
    firm = scale == "paper" and min(len(values) - unknown, m.failures.whole(values)) >= FIRM_SEEDS
    return Verdict(
        **_head(claim),
        value=None if middle.value is None else claim.restored(middle.value),
        ci_low=low,
        ci_high=high,
        verdict=outcome,
        strength="firm" if firm else "indicative",
        seeds=len(values),
        censored=m.values.censored - m.lost,
        note=_note(notes, fingerprint),
        failed=len(m.failures),
        why="; ".join(reasons) or None,
        bound=middle.bound,
    )


def _decide(claim: Claim, values: PerSeed, alpha: float) -> tuple[tuple[float, float], Outcome]:
    if claim.interval == "proportion":
        low, high = proportion_interval(values, alpha)
    else:
        low, high = student_interval(values, alpha, claim.resolution)
    bar = claim.bar
    if claim.side == "within":
        holds, fails = -bar < low and high < bar, low > bar or high < -bar
    else:
        holds, fails = (low > bar, high < bar) if claim.side == "above" else (high < bar, low > bar)
    return (low, high), "reproduced" if holds else "not reproduced" if fails else "inconclusive"


def _identity(m: Measured, fingerprint: str) -> Verdict:
    """Mathematics: the largest error over all cases against a tolerance. No interval, no chance, no Holm."""
    errors = np.maximum(np.abs(m.values.low), np.abs(m.values.high))
    missing = m.reason or ("" if len(errors) else "no case has a value")
    worst = float(errors.max()) if len(errors) else None
    if worst is None:
        outcome: Outcome = "inconclusive"
    else:
        outcome = "reproduced" if worst <= m.claim.threshold else "not reproduced"
    unknown = f"{m.values.unknown} cases have no finite error" if m.values.unknown else ""
    return Verdict(
        **_head(m.claim),
        value=worst,
        ci_low=None,
        ci_high=None,
        verdict=outcome,
        strength="indicative" if m.failures else "firm",
        seeds=len(errors),
        censored=m.values.censored - m.lost,
        note=_note([m.failures.note, missing, unknown], fingerprint),
        failed=len(m.failures),
        why=missing or None,
    )


def _head(claim: Claim) -> dict[str, Any]:
    return {
        "id": claim.id,
        "paper": claim.paper,
        "figure": claim.figure,
        "kind": claim.kind,
        "statement": claim.statement,
        "statistic": f"{claim.statistic}; claimed {claim.criterion}",
        "threshold": claim.threshold,
        "floor": claim.floor,
        "transform": claim.transform,
        "resolution": claim.resolution or None,
    }


def _note(parts: Sequence[str], fingerprint: str) -> str:
    return "; ".join([part for part in parts if part] + [f"definitions {fingerprint}"])
