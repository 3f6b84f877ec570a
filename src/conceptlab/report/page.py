"""The report: run folders in, one HTML file out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
from plotly.offline import get_plotlyjs

import conceptlab
from conceptlab.claims import Verdict, interval_text, threshold_text, unit_text, value_text
from conceptlab.errors import InputError
from conceptlab.figures import VERDICT_SYMBOLS
from conceptlab.plain import flat
from conceptlab.report.bars import interval_bar
from conceptlab.report.embed import embedded, is_narrow, packed, read_picture
from conceptlab.report.once import Once
from conceptlab.report.training import Training, training
from conceptlab.report.words import breakable, duration, number, setting_text
from conceptlab.store import FigureRun, Signature
from conceptlab.store.files import write_text
from conceptlab.studies import in_order

# What pictures and samples may weigh, in characters. With plotly.js (2 MB), curves and text the page stays below
# 12 MB. Pictures come first, exact where these are few, as those of one paper are.
EMBEDDED = 7_800_000
PICTURES = 6_000_000
EXACT_PICTURES = 4_000_000


class Picture(NamedTuple):
    name: str
    uri: str
    narrow: bool  # as wide as one column of a paper


@dataclass
class FigurePart:
    """One figure on the page. `problems` says what is missing, in sentences."""

    anchor: str
    name: str
    title: str = ""
    manifest: dict[str, Any] = field(default_factory=dict)
    verdicts: list[Verdict] = field(default_factory=list)
    signatures: list[Signature] = field(default_factory=list)
    drawn: list[Path] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    training: Training | None = None
    label: str = ""

    @property
    def study(self) -> str:
        return str(self.manifest.get("study", ""))

    @property
    def short(self) -> str:
        """The label under the heading of its study."""
        return self.label.removeprefix(f"{self.study}.")

    @property
    def seeds(self) -> int:
        """Those of its members; theory, also beside members, has what the manifest says."""
        known = {member["seed"] for member in self.training.members} if self.training else {"–"}
        return len(self.manifest.get("seeds", ())) if "–" in known else len(known)


def report(runs: Sequence[FigureRun], path: Path) -> Path:
    """Write one self-contained page about the given runs, and say where it is."""
    if not runs:
        raise InputError("a report needs at least one run; `conceptlab run` makes them")
    runs = in_order(runs)
    parts = [_figure(run, f"figure-{i}") for i, run in enumerate(runs)]
    _label(parts)
    # Samples get what exact pictures would leave: what fewer colours save is saved, not spent.
    used = _embed_pictures(parts)
    trainings = _trainings(runs, parts, max(EMBEDDED - used, EMBEDDED // 4))
    verdicts = [verdict for part in parts for verdict in part.verdicts]
    moving = any(setting.graph for t in trainings for setting in t.settings)
    page = (
        environment()
        .get_template("report.html.jinja")
        .render(
            version=conceptlab.__version__,
            title=_title(parts),
            parts=parts,
            trainings=trainings,
            counts=_counts(verdicts),
            comparisons=_comparisons(parts),
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


def _figure(run: FigureRun, anchor: str) -> FigurePart:
    part = FigurePart(anchor, "/".join(run.path.parts[-3:]))
    try:
        part.manifest = run.manifest
        part.name = f"{part.manifest.get('study')}.{part.manifest.get('figure')}"
        part.title = str(part.manifest.get("title") or "")
    except InputError as error:
        part.problems.append(f"This run folder cannot be read: {error}")
        return part
    try:
        part.verdicts = run.verdicts
    except InputError as error:
        part.problems.append(f"The claims cannot be read: {error}")
    else:
        if not part.verdicts and not run.pictures:  # a finished figure may make no claim
            part.problems.append("No claim has been judged here yet.")
    try:
        part.signatures = run.signatures
    except InputError as error:
        part.problems.append(f"How members failed cannot be told: {error}")
    for picture in run.pictures:
        try:
            read_picture(picture)
            part.drawn.append(picture)
        except InputError as error:
            part.problems.append(f"A picture is missing: {error}.")
    if not run.pictures:
        part.problems.append("The picture has not been drawn yet; the command below continues the run.")
    return part


def _label(parts: Sequence[FigurePart]) -> None:
    """A figure goes by its name; where it was run more than once, with its scale and, if need be, a number."""
    names = Counter(part.name for part in parts)
    scaled = Counter((part.name, part.manifest.get("scale")) for part in parts)
    seen: Counter[str] = Counter()
    for part in parts:
        seen[part.name] += 1
        part.label = part.name
        if names[part.name] > 1:
            scale = part.manifest.get("scale")
            part.label += (
                f" · {scale}" if scaled[part.name, scale] == 1 else f" · {scale} ({seen[part.name]})"
            )


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
        found[key].figures.append(part.label)
        part.training = found[key]
    return list(found.values())


def _title(parts: Sequence[FigurePart]) -> str:
    studies = list(dict.fromkeys(str(part.manifest.get("study", part.name)) for part in parts))
    return ", ".join(studies[:4]) + (", …" if len(studies) > 4 else "")


def _counts(verdicts: Sequence[Verdict]) -> list[dict[str, Any]]:
    """Empirical verdicts by outcome, those that are only indicative apart; so are identities, which are mathematics."""
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


def _comparisons(parts: Sequence[FigurePart]) -> list[dict[str, Any]]:
    """Figures that were run more than once: their claims and settings side by side."""
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
    }
    return made
