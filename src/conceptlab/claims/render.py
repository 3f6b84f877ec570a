"""Verdicts for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from conceptlab.claims.verdict import OUTCOMES, Verdict

_COLOURS = {"reproduced": "green", "not reproduced": "red", "inconclusive": "yellow"}


def _number(value: float | None, missing: str) -> str:
    return missing if value is None else f"{value:.3g}"


def interval_text(verdict: Verdict) -> str:
    """The deciding interval, with an open end shown as such; empty for an identity or where there is none."""
    if verdict.kind == "identity" or (verdict.ci_low is None and verdict.ci_high is None):
        return ""
    return f"{_number(verdict.ci_low, '-∞')} … {_number(verdict.ci_high, '∞')}"


def render_verdicts(verdicts: Sequence[Verdict], title: str = "") -> Table:
    """One line per claim: what was claimed, the number, the interval, the verdict and its strength."""
    table = Table(title=title or None, caption=summary(verdicts), caption_justify="left")
    for name in ("figure", "claim", "value", "interval", "threshold", "verdict", "seeds"):
        table.add_column(name, justify="right" if name in ("value", "threshold", "seeds") else "left")
    for v in verdicts:
        mark = Text(v.verdict, style=_COLOURS[v.verdict])
        if v.strength == "indicative":
            mark.append("\n(indicative)", style="dim")  # leaves the width to the claim
        seeds = f"{v.seeds} ({v.censored} cens.)" if v.censored else str(v.seeds)
        statement = f"{v.statement} [identity]" if v.kind == "identity" else v.statement
        numbers = (_number(v.value, "–"), interval_text(v), _number(v.threshold, "–"))
        # Text, not str: square brackets in a statement are not markup.
        table.add_row(f"{v.paper}.{v.figure}", Text(statement), *numbers, mark, seeds)
    return table


def summary(verdicts: Sequence[Verdict]) -> str:
    """Counts by verdict; identities are mathematics and counted apart."""
    parts = []
    for kind, name in (("empirical", "claims"), ("identity", "identities")):
        of_kind = [v.verdict for v in verdicts if v.kind == kind]
        if of_kind:
            counts = ", ".join(f"{of_kind.count(o)} {o}" for o in OUTCOMES if of_kind.count(o))
            parts.append(f"{len(of_kind)} {name}: {counts}")
    return "; ".join(parts) or "no claims"
