"""Studies: what can be run by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from conceptlab.errors import InputError, unknown
from conceptlab.store import FigureRun
from conceptlab.studies import bradley2025, okawa2023, park2024, quickstart, yang2025
from conceptlab.studies.order import Order
from conceptlab.studies.run import check, judge_study, parse_seeds, ready, run
from conceptlab.studies.study import SCALES, Figure, Results, Scale, Study, Tables

__all__ = [
    "SCALES",
    "STUDIES",
    "Figure",
    "Order",
    "Results",
    "Scale",
    "Study",
    "Tables",
    "check",
    "figures_of",
    "find",
    "in_order",
    "judge_study",
    "makes_no_claim",
    "parse_seeds",
    "ready",
    "run",
]

STUDIES: dict[str, Study] = {
    study.name: study
    for study in (quickstart.STUDY, okawa2023.STUDY, park2024.STUDY, yang2025.STUDY, bradley2025.STUDY)
}
"""In the order in which papers, and the figures of each, are told wherever several are."""


def find(name: str) -> tuple[Study, tuple[Figure, ...]]:
    """A study (without figures that need what only the user has), or figures of one: `okawa2023`, `okawa2023.fig5`,
    `okawa2023.fig5,fig9`."""
    study_name, _, _ = name.partition(".")
    if study_name not in STUDIES:
        raise unknown("study", study_name, [*STUDIES, "custom"])
    return STUDIES[study_name], figures_of(STUDIES[study_name], name)


def figures_of(study: Study, name: str) -> tuple[Figure, ...]:
    """The figures of a study that a name such as `okawa2023.fig5,fig9` asks for."""
    _, dot, figure_ids = name.partition(".")
    if dot and not all(figure_ids.split(",")):
        raise InputError(f"'{name}' lacks the name of a figure; leave the dot out to run all of {study.name}")
    if dot:
        return tuple(study.figure(figure_id) for figure_id in dict.fromkeys(figure_ids.split(",")))
    return tuple(figure for figure in study.figures if not figure.needs)


def in_order(
    runs: Iterable[FigureRun], named: Callable[[FigureRun], tuple[str, str]] | None = None
) -> list[FigureRun]:
    """Runs paper by paper and figure by figure, as `STUDIES` has them; what it does not have comes last. Folders of one
    paper, such as two scales of it, stay one after the other. Whoever has read study and figure says how they are
    `named`."""
    runs, named = list(runs), named or _named
    folders = list(dict.fromkeys(run.path.parent for run in runs))
    ids = {name: [figure.id for figure in study.figures] for name, study in STUDIES.items()}

    def place(run: FigureRun) -> tuple[int, int, int]:
        study, figure = named(run)
        known = ids.get(study, [])
        return _index(list(STUDIES), study), folders.index(run.path.parent), _index(known, figure)

    return sorted(runs, key=place)


def makes_no_claim(run: FigureRun, manifest: Mapping[str, Any] | None = None) -> bool:
    """Whether a figure only describes, at its scale. Its study says so; of a study that is not known here, a run does
    that ended without claims. Own data always makes claims. Whoever has read the `manifest` gives it: the run may have
    been deleted since."""
    manifest = run.manifest if manifest is None else manifest
    study, id_, scale = (manifest[name] for name in ("study", "figure", "scale"))
    for figure in STUDIES[study].figures if study in STUDIES else ():
        if figure.id == id_:
            return not figure.claims_at(scale)
    # As `store.has_ended` asks of a run.
    return study != "custom" and "seconds" in manifest and not (run.path / "claims.json").exists()


def _named(run: FigureRun) -> tuple[str, str]:
    """Study and figure; of a run that cannot be read, those after which its folders are named."""
    try:
        return run.manifest["study"], run.manifest["figure"]
    except InputError:
        return run.path.parent.parent.name, run.path.name


def _index(names: list[str], name: str) -> int:
    return names.index(name) if name in names else len(names)
