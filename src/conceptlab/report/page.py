"""The report: run folders in, one HTML file out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
from plotly.offline import get_plotlyjs

import conceptlab
from conceptlab.claims import interval_text, threshold_text, unit_text, value_text
from conceptlab.errors import InputError
from conceptlab.figures import VERDICT_SYMBOLS
from conceptlab.plain import flat
from conceptlab.report.bars import interval_bar
from conceptlab.report.comparison import comparisons
from conceptlab.report.embed import embedded, is_narrow, packed
from conceptlab.report.once import Once
from conceptlab.report.part import FigurePart, Picture, figure_part, label
from conceptlab.report.training import Training, training
from conceptlab.report.words import breakable, duration, number, setting_text, unbroken
from conceptlab.store import FigureRun
from conceptlab.store.files import write_text
from conceptlab.studies import STUDIES, in_order

# What pictures and samples may weigh, in characters. With plotly.js (2 MB), curves and text the page stays below
# 12 MB. Pictures come first, exact where these are few, as those of one paper are.
EMBEDDED = 7_800_000
PICTURES = 6_000_000
EXACT_PICTURES = 4_000_000


def report(runs: Sequence[FigureRun], path: Path) -> Path:
    """Write one self-contained page about the given runs, and say where it is."""
    if not runs:
        raise InputError("a report needs at least one run; `conceptlab run` makes them")
    runs = in_order(runs)
    parts = [figure_part(run, f"figure-{i}") for i, run in enumerate(runs)]
    label(parts)
    # Samples get what exact pictures would leave: what fewer colours save is saved, not spent.
    used = _embed_pictures(parts)
    trainings = _trainings(runs, parts, max(EMBEDDED - used, EMBEDDED // 4))
    moving = any(setting.graph for t in trainings for setting in t.settings)
    page = (
        environment()
        .get_template("report.html.jinja")
        .render(
            version=conceptlab.__version__,
            title=_title(parts),
            parts=parts,
            papers=_papers(parts),
            describes=all(part.describes for part in parts),
            trainings=trainings,
            counts=_counts(parts),
            comparisons=comparisons(parts),
            once=Once(),
            plotlyjs=packed(get_plotlyjs()) if moving else "",
        )
    )
    write_text(Path(path), page)
    return Path(path)


def _embed_pictures(parts: Sequence[FigurePart]) -> int:
    """Put the pictures into their parts, and say how many characters they would take if all were exact."""
    found = embedded([path for part in parts for path in part.drawn], PICTURES, EXACT_PICTURES)
    uris = iter(found.uris)
    for part in parts:
        part.pictures = [Picture(path.stem, next(uris), is_narrow(path)) for path in part.drawn]
    return found.exact


def _trainings(runs: Sequence[FigureRun], parts: Sequence[FigurePart], budget: int) -> list[Training]:
    """One section for each distinct set of members; figures point to theirs."""
    keys = {
        # A sweep over a setting that was fixed by hand names one member several times.
        part.anchor: (run.store.root, tuple(dict.fromkeys(part.manifest.get("members", ()))))
        for run, part in zip(runs, parts)
        if part.manifest.get("members")
    }
    share = budget // max(1, len(set(keys.values())))
    found: dict[Any, Training] = {}
    for run, part in zip(runs, parts):
        key = keys.get(part.anchor)
        if key is None:
            continue
        if key not in found:
            found[key] = training(run, key[1], f"training-{len(found)}", share)
            found[key].study, found[key].first = part.study, part.short
        found[key].figures.append(part.label)
        part.training = found[key]
    return list(found.values())


def _title(parts: Sequence[FigurePart]) -> str:
    studies = list(dict.fromkeys(str(part.manifest.get("study", part.name)) for part in parts))
    return ", ".join(studies[:4]) + (", …" if len(studies) > 4 else "")


class Paper(NamedTuple):
    """The figures of one study that make claims, and what became of these."""

    study: str
    title: str
    parts: list[FigurePart]
    counts: list[dict[str, Any]]


def _papers(parts: Sequence[FigurePart]) -> list[Paper]:
    judged = [part for part in parts if part.verdicts]
    found = []
    for study in dict.fromkeys(part.study for part in judged):
        own = [part for part in judged if part.study == study]
        found.append(Paper(study, STUDIES[study].title if study in STUDIES else "", own, _counts(own)))
    return found


def _counts(parts: Sequence[FigurePart]) -> list[dict[str, Any]]:
    """Empirical verdicts by outcome, those that are only indicative apart; so are identities, which are mathematics."""
    verdicts = [verdict for part in parts for verdict in part.verdicts]
    counts: list[dict[str, Any]] = []
    empirical = [v for v in verdicts if v.kind != "identity"]
    for outcome, symbol in VERDICT_SYMBOLS.items():
        strengths = [v.strength for v in empirical if v.verdict == outcome]
        numbers = {"number": strengths.count("firm"), "indicative": strengths.count("indicative")}
        counts.append({"name": outcome, "symbol": symbol, **numbers, "of": len(empirical)})
    identities = [v for v in verdicts if v.kind == "identity"]
    if identities:
        held = sum(v.verdict == "reproduced" for v in identities)
        number = {"number": held, "indicative": 0, "of": len(identities)}
        counts.append({"name": "identity", "symbol": "=", **number})
    return counts


def environment() -> jinja2.Environment:
    """Templates of this room, with everything from outside escaped."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("conceptlab.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.policies["json.dumps_kwargs"] = {"allow_nan": False, "ensure_ascii": False}
    made.globals |= {
        "symbols": VERDICT_SYMBOLS,
        "interval": interval_text,
        "value_text": value_text,
        "threshold": threshold_text,
        "unit": unit_text,
        "interval_bar": interval_bar,
    }
    made.filters |= {
        "number": number,
        "duration": duration,
        "flat": flat,
        "setting": setting_text,
        "breakable": breakable,
        "unbroken": unbroken,
    }
    return made
