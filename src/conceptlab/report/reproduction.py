"""REPRODUCTION.md: what of each paper was reproduced at paper scale, from the results that are kept.

The page is a function of the results folder and of the studies' declarations, without dates, so that a test can tell
whether it is current. What only a person can write, `<study>/notes.md` in the results folder, is taken over as it is.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from conceptlab.claims import Verdict, count_text, interval_text, seeds_text, value_text
from conceptlab.errors import InputError
from conceptlab.figures import VERDICT_SYMBOLS
from conceptlab.report.words import duration
from conceptlab.store import FigureRun, Member, Store, device_seconds, wall_seconds
from conceptlab.store.files import read_text
from conceptlab.studies import STUDIES, Figure, Study

# The public loop of park2024 (10.9 M parameters, batch 64, float32) on one H200, in seconds for a model and a step.
AUTHORS_STEP = 0.049


@dataclass
class Paper:
    """One study in a results folder. `earlier` are members that a study above it has accounted for."""

    study: Study
    store: Store
    earlier: set[str] = field(default_factory=set)

    @cached_property
    def runs(self) -> dict[str, FigureRun]:
        """The figures that were run at paper scale, in the study's order."""
        found = {f.id: self.store.figure(self.study.name, "paper", f.id) for f in self.study.figures}
        return {id_: run for id_, run in found.items() if run.is_there}

    @property
    def missing(self) -> list[Figure]:
        return [figure for figure in self.study.figures if figure.id not in self.runs]

    @cached_property
    def verdicts(self) -> list[Verdict]:
        return [verdict for run in self.runs.values() for verdict in run.verdicts]

    @cached_property
    def members(self) -> dict[str, dict[str, Member]]:
        """For each figure the members that no figure before it has, with those they started from."""
        known, found = set(self.earlier), dict[str, dict[str, Member]]()
        for id_, run in self.runs.items():
            mine: dict[str, Member] = {}
            for member in run.members:
                mine |= {one.id: one for one in self._with_starts(member) if one.id not in known}
            found[id_] = mine
            known |= set(mine)
        return found

    def _with_starts(self, member: Member) -> Iterable[Member]:
        yield member
        before = member.recipe.before
        if before is not None and self.store.is_done(before):
            yield from self._with_starts(self.store.member(before))

    @property
    def own(self) -> list[Member]:
        return [member for mine in self.members.values() for member in mine.values()]

    @property
    def shared(self) -> int:
        """Members that a study above accounts for."""
        return len({id_ for run in self.runs.values() for id_ in run.manifest["members"]} & self.earlier)

    @property
    def theory_seconds(self) -> float:
        """Figures without members: theory, computed on a CPU."""
        manifests = [run.manifest for run in self.runs.values()]
        return sum(manifest.get("seconds", 0.0) for manifest in manifests if not manifest["members"])


def reproduction(results: Path, base: Path) -> str:
    """The page as Markdown; links are relative to the folder `base`, where it will lie."""
    studies = [study for study in STUDIES.values() if (results / study.name).is_dir()]
    if not studies:
        raise InputError(f"{results} holds no study; `conceptlab export` makes such folders")
    papers: list[Paper] = []
    for study in studies:
        earlier = {member.id for paper in papers for member in paper.own}
        papers.append(Paper(study, Store(results), earlier))
    if not any(paper.runs for paper in papers):
        raise InputError(
            f"{results} holds nothing at paper scale; run figures with --scale paper and export them"
        )
    where = Path(os.path.relpath(results.resolve(), base.resolve())).as_posix()
    parts = [_head(where), _glance(papers), _time(papers), *(_paper(paper, where) for paper in papers)]
    return "\n\n".join(parts) + "\n"


def _head(where: str) -> str:
    return (
        f"<!-- Made by `conceptlab reproduction {where}`; what is written by hand lies in {where}/*/notes.md. -->\n\n"
        "# Reproduction\n\n"
        "What became of each claim at `--scale paper`, the authors' setting. Seeds are the unit (in theory "
        "also random starts, tasks or distributions); a claim is "
        "`reproduced` if the interval over seeds lies beyond a threshold that was fixed beforehand, `not reproduced` "
        "if short of it, `inconclusive` if it straddles it, and only `indicative` with fewer than five seeds. All "
        "claims of a paper are adjusted together (Holm); as long as figures are missing, together means those that "
        f"are there. `conceptlab verdict {where}` prints the same, `conceptlab report {where}` makes a page with all "
        f"curves, and [{where}/README.md]({where}/README.md) says how to repeat it."
    )


def _glance(papers: Sequence[Paper]) -> str:
    rows = []
    for paper in papers:
        empirical = [v for v in paper.verdicts if v.kind == "empirical"]
        identities = [v for v in paper.verdicts if v.kind == "identity"]
        counts = [count_text([v for v in empirical if v.verdict == outcome]) for outcome in VERDICT_SYMBOLS]
        open_ = sum(len(figure.claims) for figure in paper.missing)
        held = sum(v.verdict == "reproduced" for v in identities)
        name, figures = paper.study.name, f"{len(paper.runs)} of {len(paper.study.figures)}"
        of = f"{held} of {len(identities)}" if identities else "–"
        rows.append([f"[{name}](#{name})", figures, *counts, str(open_), of])
    head = ["paper", "figures run", *VERDICT_SYMBOLS, "not judged yet", "identities that hold"]
    return (
        "## At a glance\n\n"
        + _table(head, rows)
        + "\n\nA number alone counts firm verdicts; what is only indicative is named and not added to them. "
        "Identities are mathematics, checked to a tolerance, and counted apart."
    )


def _time(papers: Sequence[Paper]) -> str:
    rows = []
    for paper in papers:
        steps = sum(member.recipe.steps for member in paper.own)
        rows.append(
            [
                paper.study.name,
                f"{len(paper.own)}" + (f" (and {paper.shared} of those above)" if paper.shared else ""),
                f"{steps:,}" if steps else "–",
                ", ".join(_devices(paper.own)) or "–",
                duration(device_seconds(paper.own)) if steps else "–",
                duration(wall_seconds(paper.own)) if steps else "–",
                duration(steps * AUTHORS_STEP) if steps else "–",
                duration(paper.theory_seconds) if paper.theory_seconds else "–",
            ]
        )
    head = [
        "paper", "members", "model-steps", "device", "device time", "wall clock",
        f"authors' loop at {AUTHORS_STEP * 1000:.0f} ms", "theory, on a CPU",
    ]  # fmt: skip
    return (
        "## Time\n\n"
        + _table(head, rows)
        + "\n\nDevice time and wall clock include every evaluation; the authors' "
        "loop is model-steps × 49 ms, their public training loop for the park2024 network (10.9 M parameters) on one "
        "H200, without any evaluation. A member that several papers use is counted with the first."
    )


def _devices(members: Iterable[Member]) -> list[str]:
    return sorted({str(member.environment.get("device", "an unknown device")) for member in members})


def _paper(paper: Paper, where: str) -> str:
    study, (summary, story) = paper.study, _notes(paper)
    parts = [f"## {study.name}\n\n{study.title}.", summary]
    if paper.missing:
        names = ", ".join(_missing(figure) for figure in paper.missing)
        parts.append(f"Not run at paper scale yet: {names}.")
    if paper.verdicts:
        parts.append(_claims(paper, where))
    if failed := [f"{id_}: {note}." for id_, run in paper.runs.items() if (note := run.failures.note)]:
        parts.append("\n".join(f"- {line}" for line in failed))
    if paper.runs:
        parts.append(_figures(paper, where))
    return "\n\n".join(part for part in (*parts, story) if part)


def _notes(paper: Paper) -> tuple[str, str]:
    """What is written by hand: what stands before its first heading, in short, and the whole story."""
    notes = paper.store.root / paper.study.name / "notes.md"
    text = read_text(notes).strip() if notes.exists() else ""
    start = 0 if text.startswith("#") else text.find("\n#")
    return (text, "") if start < 0 else (text[:start].strip(), text[start:].strip())


def _missing(figure: Figure) -> str:
    about = (
        [f"{len(figure.claims)} claims" if len(figure.claims) != 1 else "1 claim"] if figure.claims else []
    )
    about += ["needs data of your own"] if figure.needs else []
    return figure.id + (f" ({', '.join(about)})" if about else "")


def _claims(paper: Paper, where: str) -> str:
    rows = []
    for verdict in paper.verdicts:
        statistic, _, criterion = verdict.statistic.rpartition("; claimed ")
        interval = interval_text(verdict)
        outcome = f"{VERDICT_SYMBOLS[verdict.verdict]} {verdict.verdict}"
        if verdict.kind == "identity":
            outcome += " (identity)"
        elif verdict.strength == "indicative":
            outcome += " (indicative)"
        if verdict.why:
            outcome += f": {verdict.why}"
        picture = _link(paper.runs[verdict.figure], verdict.figure, where)
        value = value_text(verdict) + (f" ({interval})" if interval else "")
        sentence = f"{verdict.statement} `{verdict.id.removeprefix(f'{paper.study.name}.')}`"
        rows.append([picture, sentence, statistic, value, criterion, seeds_text(verdict), outcome])
    return _table(["figure", "claim", "statistic", "value (interval)", "claimed", "seeds", "verdict"], rows)


def _figures(paper: Paper, where: str) -> str:
    rows = []
    for id_, run in paper.runs.items():
        manifest, mine = run.manifest, list(paper.members[id_].values())
        if mine:
            time = f"{duration(device_seconds(mine))} of {', '.join(_devices(mine))}"
        elif manifest["members"]:
            time = "members of figures above"
        else:
            time = f"{duration(manifest.get('seconds'))} on a CPU"
        steps = sum(member.recipe.steps for member in mine)
        # Where theory stands beside members, the manifest's seeds are those of the theory.
        seeds = {member.recipe.seed for member in run.members} or set(manifest["seeds"])
        rows.append(
            [
                _link(run, id_, where),
                manifest.get("title", "–"),
                str(len(seeds)),
                str(len(set(manifest["members"])) or "–"),
                f"{steps:,}" if steps else "–",
                time,
            ]
        )
    head = ["figure", "shows", "seeds", "members", "model-steps of its own", "time"]
    return (
        "<details><summary>Figures and what they took</summary>\n\n" + _table(head, rows) + "\n\n</details>"
    )


def _link(run: FigureRun, name: str, where: str) -> str:
    picture = next(iter(run.pictures), None)
    if picture is None:
        return name
    return f"[{name}]({where}/{picture.relative_to(run.store.root).as_posix()})"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *([_cell(text) for text in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
