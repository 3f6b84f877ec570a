"""Two runs side by side: what was configured differently, how far their curves lie apart, whose verdicts changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Group
from rich.table import Table

from conceptlab.claims import Verdict, value_text
from conceptlab.recipe import flatten
from conceptlab.store import FigureRun, find_figures


def diff(first: Path, second: Path) -> Group:
    """The figures both paths have, compared one by one; then those only one of them has."""
    left, right = _named(find_figures(first), find_figures(second))
    parts: list[Any] = []
    for name in sorted(left.keys() & right.keys()):
        parts += [_settings(name, left[name], right[name]), _curves(left[name], right[name])]
        parts.append(_verdicts(left[name], right[name]))
    for name in sorted(left.keys() ^ right.keys()):
        parts.append(f"{name}: only in {first if name in left else second}")
    return Group(*(part for part in parts if part is not None))


def _named(*sides: Sequence[FigureRun]) -> list[dict[str, FigureRun]]:
    """The figures of each side by name. One scale may be compared with another; where a side has a figure at several,
    each scale is compared with itself."""
    plain = [{run.name: run for run in runs} for runs in sides]
    if all(len(names) == len(runs) for names, runs in zip(plain, sides)):
        return plain
    return [{f"{run.name} at {run.manifest['scale']} scale": run for run in runs} for runs in sides]


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column, overflow="fold")  # two paths cut short might read alike
    return table


def _settings(name: str, left: FigureRun, right: FigureRun) -> Table:
    """Settings that take different sets of values over the members of the two runs."""
    table = _table(name, "setting", str(left.path), str(right.path))
    values = [_values(left), _values(right)]
    for key in sorted(values[0].keys() | values[1].keys()):
        ours, theirs = (value.get(key, {"–"}) for value in values)
        if ours != theirs:
            table.add_row(key, ", ".join(sorted(ours)), ", ".join(sorted(theirs)))
    if table.row_count == 0:
        table.add_row("all settings", "the same", "the same")
    return table


def _values(run: FigureRun) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {"scale": {run.manifest["scale"]}}
    for member in run.members:
        for key, value in flatten(member.recipe).items():
            found.setdefault(key, set()).add(str(value))
    return found


def _curves(left: FigureRun, right: FigureRun) -> Table | None:
    """Mean accuracy over seeds by distance at the last common step, and the largest gap on the way."""
    measure, told = _judged(left, right)
    means = [_mean_curves(run, measure) for run in (left, right)]
    if any(mean.empty for mean in means):
        return None
    table = _table(
        f"{told}, mean over seeds", "distance", "last common step", "first", "second", "largest gap"
    )
    joined = means[0].add_suffix("_a").join(means[1].add_suffix("_b"), how="inner")
    for distance, curve in joined.groupby(level="distance"):
        last = curve.iloc[-1]
        gap = (curve["value_a"] - curve["value_b"]).abs().max()
        step = str(curve.index.get_level_values("step")[-1])
        table.add_row(f"{distance:g}", step, f"{last['value_a']:.3f}", f"{last['value_b']:.3f}", f"{gap:.3f}")
    if table.row_count == 0:
        table.add_row("all", "none: they were evaluated at different steps", "–", "–", "–")
    return table


def _judged(left: FigureRun, right: FigureRun) -> tuple[str, str]:
    """The measure to compare, and in words: where both runs are about real images, what their claims rest on."""
    corrected = [
        not run.metrics.empty and "corrected" in set(run.metrics["measure"]) for run in (left, right)
    ]
    if all(corrected):
        return "corrected", "corrected accuracy"
    return "accuracy", "accuracy as the probe reads" if any(corrected) else "accuracy"


def _mean_curves(run: FigureRun, measure: str) -> pd.DataFrame:
    metrics = run.metrics
    if metrics.empty:
        return metrics
    rows = metrics.query("measure == @measure and variable == '' and weights == 'raw'")
    return rows.groupby(["distance", "step"])[["value"]].mean()


def _verdicts(left: FigureRun, right: FigureRun) -> Table:
    table = _table("verdicts", "claim", "first", "second")
    ours, theirs = ({verdict.id: verdict for verdict in run.verdicts} for run in (left, right))
    for claim in sorted(ours.keys() | theirs.keys()):
        cells = [_cell(side[claim]) if claim in side else "–" for side in (ours, theirs)]
        table.add_row(claim, *cells)
    return table


def _cell(verdict: Verdict) -> str:
    value = "" if verdict.value is None else f" ({value_text(verdict)})"
    failed = f", {verdict.failed} of {verdict.seeds} seeds failed" if verdict.failed else ""
    return f"{verdict.verdict}{value}{failed}"
