"""Finding what was run: figures and members at or below a path, in the order a reader expects."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path

from conceptlab.errors import InputError, unusable
from conceptlab.store.member import Member
from conceptlab.store.runs import FigureRun, elsewhere

LOG = logging.getLogger(__name__)


def find_figures(path: Path | str, *, damaged: bool = False) -> list[FigureRun]:
    """The figure runs at or below a path, so that every command takes a figure, a scale, a study or all runs. Where
    there are others, those that cannot be read (unless `damaged` are wanted) and copies of others are left out, and the
    user is told."""
    path = Path(path)
    if not _exists(path):
        raise InputError(f"{path} does not exist; `conceptlab run` makes run folders")
    found = sorted(_manifests(path), key=_as_read)
    if not found and _loose_members(path):
        raise InputError(
            f"{path} holds members, but no figure; if --piece trained them, the same command without it makes one"
        )
    if not found:
        raise InputError(f"{path} holds no finished figure; give a folder that `conceptlab run` made")
    runs = [FigureRun(manifest.parent.resolve()) for manifest in found]
    problems = {run: problem for run in runs if (problem := _problem(run, damaged))}
    if len(problems) == len(runs):
        raise InputError(next(iter(problems.values())))
    for problem in problems.values():
        LOG.warning("left out: %s", problem)
    return [run for run in runs if run not in problems]


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:  # a name that is too long, a folder that may not be entered
        raise unusable(path, error) from error


def _problem(run: FigureRun, damaged: bool) -> str:
    """Why a figure's folder is not to be used; nothing if it is."""
    try:
        home = run.home
    except InputError as error:
        return "" if damaged else str(error)
    if home != run.path and (home / "manifest.json").exists():
        return elsewhere(run.path, home)
    return ""


def _as_read(path: Path) -> list[tuple[bool, int, str]]:
    """Folders in the order a reader expects: fig2 before fig11, and numbered figures before named ones."""
    parts = [re.fullmatch(r"(\D*?)(\d*)", part) for part in path.parts]
    return [
        (not match[2], int(match[2] or 0), match[1]) if match else (True, 0, part)
        for match, part in zip(parts, path.parts)
    ]


def _manifests(path: Path) -> Iterator[Path]:
    for depth in ("", "*/", "*/*/", "*/*/*/"):
        yield from path.glob(f"{depth}manifest.json")


def load(path: Path | str) -> FigureRun:
    """The one figure run at or below a path: `load("runs/quickstart").members[0].curves()`."""
    found = find_figures(path)
    if len(found) > 1:
        names = ", ".join(str(run.path) for run in found[:6])
        raise InputError(f"{path} holds {len(found)} figures; name one of {names}")
    return found[0]


def _loose_members(path: Path) -> list[Path]:
    return sorted(config.parent for config in path.glob("members/*/config.json"))


def find_members(path: Path | str, *, begun: bool = False) -> list[Member]:
    """The members at a path: one member's folder, or those of the figures below it; only those whose training was
    `begun`, if that is wanted, since a run that was interrupted lacks the others."""
    path = Path(path)
    if _exists(path / "config.json"):
        return [Member(path)]
    if _exists(path) and not any(_manifests(path)) and (trained := _loose_members(path)):
        # Trained by hand, for no figure: which of them comes first is nobody's choice.
        raise InputError(f"{path} holds members, but no figure; name one of them, e.g. {trained[0]}")
    runs = find_figures(path)
    paths = [run.store.root / "members" / id_ for run in runs for id_ in run.manifest["members"]]
    return [Member(path) for path in dict.fromkeys(paths) if not begun or _exists(path / "config.json")]
