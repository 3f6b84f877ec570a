"""Figures that were run more than once, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conceptlab.plain import flat
from conceptlab.report.part import FigurePart
from conceptlab.report.words import duration, setting_text


def comparisons(parts: Sequence[FigurePart]) -> list[dict[str, Any]]:
    """Their claims, curves and settings."""
    found = []
    for name in dict.fromkeys(part.name for part in parts):
        same = [part for part in parts if part.name == name and part.manifest]
        if len(same) < 2:
            continue
        verdicts = [{v.id: v for v in part.verdicts} for part in same]
        ids = list(dict.fromkeys(id_ for judged in verdicts for id_ in judged))
        statements = {v.id: v.statement for judged in verdicts for v in judged.values()}
        claims = [(statements[id_], [judged.get(id_) for judged in verdicts]) for id_ in ids]
        about = {"facts": _facts(same), "settings": _settings(same), "curves": _curves(same)}
        found.append({"name": name, "parts": same, "claims": claims, **about})
    return found


def _facts(parts: Sequence[FigurePart]) -> list[tuple[str, list[str]]]:
    """What was run, on what and how long, for each of several runs of one figure."""
    return [
        ("scale", [str(part.manifest.get("scale", "–")) for part in parts]),
        ("seeds", [str(part.seeds) for part in parts]),
        ("on", [part.training.environment.get("device", "–") if part.training else "–" for part in parts]),
        ("last run took", [duration(part.manifest.get("seconds")) for part in parts]),
        ("training", [duration(part.training.seconds if part.training else None) for part in parts]),
    ]


def _settings(parts: Sequence[FigurePart]) -> list[tuple[str, list[str]]]:
    """The settings in which runs of one figure differ."""
    known = [flat(part.training.differences) if part.training else {} for part in parts]
    found = []
    for key in sorted({key for settings in known for key in settings}):
        # A class that is not named is not trained on; any other setting that is not named has its default.
        missing = "–" if key.startswith("train.") else "default"
        values = [setting_text(settings.get(key, missing)) for settings in known]
        if len(set(values)) > 1 and key != "seed":
            found.append((key, values))
    return found


def _curves(parts: Sequence[FigurePart]) -> list[Any]:
    """The accuracy curves of each run; those of the first setting where one has several. Small charts go without a
    legend: colours and markers are those of every other chart."""
    charts = [
        part.training.settings[0].accuracy if part.training and part.training.settings else None
        for part in parts
    ]
    if not any(charts):
        return []
    return [chart and {**chart, "layout": {**chart["layout"], "showlegend": False}} for chart in charts]
