"""Verdicts for the terminal."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from conceptlab.claims.verdict import OUTCOMES, Verdict

_COLOURS = {"reproduced": "green", "not reproduced": "red", "inconclusive": "yellow"}
# In characters: with fewer for the claim, seven columns leave it two or three words a line.
_LEAST_CLAIM = 26

# What is measured on images and smaller than this is the rounding of a solver: accuracies that are corrected for the
# errors of a probe come out as 4.55e-13 where they are nothing. The error of an identity is meant to be that small.
_ROUNDING = 1e-8


def _number(value: float | None, missing: str) -> str:
    """Three digits: `0.0123`, `25,500`. Powers of ten are left to what is very large or very small."""
    if value is None:
        return missing
    short = float(f"{value:.3g}")
    return f"{short:,.0f}" if 1e3 <= abs(short) < 1e7 else f"{short:.3g}"


def _measured(verdict: Verdict, value: float | None, missing: str) -> str:
    tiny = verdict.kind == "empirical" and value is not None and abs(value) < _ROUNDING
    return _number(0.0 if tiny else value, missing)


def value_text(verdict: Verdict) -> str:
    """The value as it is printed everywhere: `1.68`, `≥ 1.68` where it is only a bound, `–` where there is none."""
    if verdict.value is None:
        return "–"
    sign = {None: "", "lower": "≥ ", "upper": "≤ "}[verdict.bound]
    return sign + _measured(verdict, verdict.value, "–")


def interval_text(verdict: Verdict) -> str:
    """The deciding interval, with an open end shown as such; empty for an identity or where there is none."""
    if verdict.kind == "identity" or (verdict.ci_low is None and verdict.ci_high is None):
        return ""
    return f"{_measured(verdict, verdict.ci_low, '-∞')} … {_measured(verdict, verdict.ci_high, '∞')}"


def threshold_text(verdict: Verdict) -> str:
    """The threshold, or both of a claim that something lies within two: `± 0.05`, `0.316 … 3.16`."""
    high = _number(verdict.threshold, "–")
    if verdict.floor is None:
        return high
    return f"± {high}" if verdict.floor < 0 else f"{_number(verdict.floor, '–')} … {high}"


def unit_text(verdict: Verdict) -> str:
    """What is counted: an identity is checked in cases."""
    unit = "case" if verdict.kind == "identity" else "seed"
    return unit if verdict.seeds == 1 else f"{unit}s"


def seeds_text(verdict: Verdict, unit: str = "", censored: str = "censored") -> str:
    """`5 (1 failed, 2 censored)`: how many seeds, and of how many of them there is no plain number; `4 cases` of an
    identity, whatever the column is called."""
    unit = f" {unit_text(verdict)}" if verdict.kind == "identity" else unit
    parts = [f"{verdict.failed} failed"] if verdict.failed else []
    parts += [f"{verdict.censored} {censored}"] if verdict.censored else []
    return f"{verdict.seeds}{unit}" + (f" ({', '.join(parts)})" if parts else "")


def render_verdicts(verdicts: Sequence[Verdict], title: str = "", width: int | None = None) -> Table | Text:
    """What was claimed, the number, the interval, the verdict and its strength: one line per claim, or, where the
    terminal's `width` leaves too little for that, the numbers below the claim. Without claims a line says so."""
    if not verdicts:
        return Text(f"{title}: {summary(verdicts)}" if title else summary(verdicts))
    table = Table(title=title or None, caption=summary(verdicts), caption_justify="left")
    wide = width is None or width >= _width_in_columns(verdicts)
    (_in_columns if wide else _below_each_other)(table, verdicts)
    return table


_COLUMNS = ("figure", "claim", "value", "interval", "threshold", "verdict", "seeds")


def _width_in_columns(verdicts: Sequence[Verdict]) -> int:
    """What a table of columns takes if its claims may have few words a line."""
    rows = [[_COLUMNS[0], "", *_COLUMNS[2:]], *([*map(str, _cells(v))] for v in verdicts)]
    others = [max(max(map(len, cell.splitlines()), default=0) for cell in column) for column in zip(*rows)]
    del others[1]
    return sum(others) + _LEAST_CLAIM + 3 * len(_COLUMNS) + 1


def _cells(v: Verdict) -> tuple[str | Text, ...]:
    numbers = (value_text(v), interval_text(v), threshold_text(v))
    return (f"{v.paper}.{v.figure}", _claim(v), *numbers, _mark(v), seeds_text(v, censored="cens."))


def _in_columns(table: Table, verdicts: Sequence[Verdict]) -> None:
    for name in _COLUMNS:
        table.add_column(name, justify="right" if name in ("value", "threshold", "seeds") else "left")
    for v in verdicts:
        table.add_row(*_cells(v))


def _below_each_other(table: Table, verdicts: Sequence[Verdict]) -> None:
    """A block for each figure."""
    table.box, table.title_justify, table.pad_edge, table.show_header = box.HORIZONTALS, "left", False, False
    table.add_column("verdict", no_wrap=True)
    table.add_column("claim", ratio=1)
    for name, block in itertools.groupby(verdicts, lambda v: f"{v.paper}.{v.figure}"):
        table.add_row("", Text(name, style="bold"))
        for v in block:
            interval = f" ({text})" if (text := interval_text(v)) else ""
            seeds = seeds_text(v, f" {unit_text(v)}")
            numbers = f"{value_text(v)}{interval}, threshold {threshold_text(v)}, {seeds}"
            table.add_row(_mark(v), _claim(v, numbers))
        table.add_section()


def _claim(v: Verdict, numbers: str = "") -> Text:
    """What is claimed, below it its numbers where they have no columns, and what leaves it open. Text, not str: square
    brackets in a statement are not markup."""
    below = [(f"\n{line}", "dim") for line in (numbers, v.why and f"because {v.why}") if line]
    return Text.assemble(_statement(v), *below)


def _mark(verdict: Verdict) -> Text:
    mark = Text(verdict.verdict, style=_COLOURS[verdict.verdict])
    if verdict.strength == "indicative":
        mark.append("\n(indicative)", style="dim")  # leaves the width to the claim
    return mark


def _statement(verdict: Verdict) -> str:
    return f"{verdict.statement} [identity]" if verdict.kind == "identity" else verdict.statement


def summary(verdicts: Sequence[Verdict]) -> str:
    """Counts by verdict; identities are mathematics and counted apart, and so is what is only indicative."""
    parts = []
    for kind, one, many in (("empirical", "claim", "claims"), ("identity", "identity", "identities")):
        of_kind = [v for v in verdicts if v.kind == kind]
        if of_kind:
            by_outcome = {outcome: [v for v in of_kind if v.verdict == outcome] for outcome in OUTCOMES}
            counts = ", ".join(count_text(found, outcome) for outcome, found in by_outcome.items() if found)
            parts.append(f"{len(of_kind)} {one if len(of_kind) == 1 else many}: {counts}")
    return "; ".join(parts) or "no claims"


def count_text(verdicts: Sequence[Verdict], outcome: str = "") -> str:
    """How many are firm and how many only indicative: the two are never added up. In a column that has the outcome's
    name above it, both are named and neither counts from 0."""
    indicative = sum(verdict.strength == "indicative" for verdict in verdicts)
    firm = len(verdicts) - indicative
    if not outcome:
        both = f"{firm} firm, {indicative} indicative" if firm else f"{indicative} indicative"
        return both if indicative else str(firm)
    if not firm:
        return f"{indicative} {outcome} (indicative)"
    return f"{firm} {outcome}" + (f" ({indicative} more indicative)" if indicative else "")
