"""REPRODUCTION.md: what of each paper was reproduced at paper scale, from the results that are kept.

The page is a function of the results folder and of the studies' declarations, without dates, so that a test can tell
whether it is current. What only a person can write, `<study>/notes.md` in the results folder, is taken over as it is.
"""

from __future__ import annotations

import os
from pathlib import Path

from conceptlab.claims import Verdict, interval_text, seeds_text, value_text
from conceptlab.errors import InputError
from conceptlab.figures import VERDICT_SYMBOLS
from conceptlab.report.markdown import NEW_LINE, folded, table, unbroken
from conceptlab.report.reproduction_head import glance, introduction, legend, time
from conceptlab.report.reproduction_paper import Paper, devices
from conceptlab.report.words import counted, duration
from conceptlab.store import FigureRun, Store, device_seconds
from conceptlab.store.files import read_text
from conceptlab.studies import STUDIES, Figure


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
    parts = [
        introduction(where, (results / "README.md").exists()),
        glance(papers),
        legend(),
        time(papers),
        *(_paper(paper, where) for paper in papers),
    ]
    return "\n\n".join(parts) + "\n"


def _paper(paper: Paper, where: str) -> str:
    study, (summary, story) = paper.study, _notes(paper)
    parts = [f"## {study.name}\n\n*{study.title}.*", summary]
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
    about = [counted(len(figure.claims), "claim")] if figure.claims else []
    about += ["needs data of your own"] if figure.needs else []
    return figure.id + (f" ({', '.join(about)})" if about else "")


def _claims(paper: Paper, where: str) -> str:
    """Every claim with its numbers; what leaves some of them open is folded away below, being long."""
    rows = []
    for verdict in paper.verdicts:
        statistic, _, criterion = verdict.statistic.rpartition("; claimed ")
        interval = interval_text(verdict)
        picture = _link(paper.runs[verdict.figure], verdict.figure, where)
        rows.append(
            [
                f"`{_name(paper, verdict)}`{NEW_LINE}{picture}",
                f"**{verdict.statement}**{NEW_LINE}{statistic}",
                f"**{unbroken(value_text(verdict))}**"
                + (NEW_LINE + unbroken(f"({interval})") if interval else ""),
                criterion,
                seeds_text(verdict),
                _outcome(verdict),
            ]
        )
    head = ["id, figure", "claim, and what is measured", "value (interval)", "threshold", "seeds", "verdict"]
    parts = [f"### Claims of {paper.study.name}", table(head, rows), _open(paper)]
    return "\n\n".join(part for part in parts if part)


def _name(paper: Paper, verdict: Verdict) -> str:
    return verdict.id.removeprefix(f"{paper.study.name}.")


def _outcome(verdict: Verdict) -> str:
    outcome = unbroken(f"{VERDICT_SYMBOLS[verdict.verdict]} {verdict.verdict}")
    if verdict.kind == "identity":
        return f"{outcome} (identity)"
    return f"{outcome} (indicative)" if verdict.strength == "indicative" else outcome


def _open(paper: Paper) -> str:
    """What leaves claims open, each reason once with all claims it holds for; empty where none is open."""
    reasons: dict[str, list[str]] = {}
    for verdict in paper.verdicts:
        if verdict.why:
            reasons.setdefault(verdict.why, []).append(f"`{_name(paper, verdict)}`")
    if not reasons:
        return ""
    number = counted(sum(map(len, reasons.values())), "claim")
    rows = [[", ".join(names), why] for why, names in reasons.items()]
    return folded(
        f"Why {number} stayed open, and what more seeds would do", table(["claim", "because"], rows)
    )


def _figures(paper: Paper, where: str) -> str:
    rows = []
    for id_, run in paper.runs.items():
        manifest, mine = run.manifest, list(paper.members[id_].values())
        if mine:
            time = f"{duration(device_seconds(mine))} of {', '.join(devices(mine))}"
        elif manifest["members"]:
            time = "shares members of figures above"
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
    return folded("Every figure, and what it took", table(head, rows))


def _link(run: FigureRun, name: str, where: str) -> str:
    picture = next(iter(run.pictures), None)
    if picture is None:
        return name
    return f"[{name}]({where}/{picture.relative_to(run.store.root).as_posix()})"
