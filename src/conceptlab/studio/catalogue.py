"""Which runs there are to look at, and in what state. Reading only, and never outside the folders that were given.

A page names a run by a key. Keys are looked up among the runs that were found, never turned into paths, so that no
address can lead out of the given folders; a link on disk that leads out is refused as well.
"""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from conceptlab.errors import InputError, unknown
from conceptlab.recipe import Recipe
from conceptlab.store import FigureRun, Member
from conceptlab.store.files import read_json
from conceptlab.studies import in_order

# A member's folder is named by its hash; a manifest that says anything else is not ours.
_MEMBER_NAME = re.compile(r"[0-9a-f]{16}")
_LEVELS = ("", "*/", "*/*/", "*/*/*/")
# Within this time a change on disk counts as happening now.
LIVE_SECONDS = 90.0
# The list is read anew at most this often, however many viewers ask.
_FRESH_SECONDS = 1.0


@dataclass(frozen=True)
class MemberState:
    """How far one member is: `complete`, `failed`, `unfinished`, `not started` or `damaged`."""

    id: str
    status: str
    seed: int | None = None
    step: int = 0
    steps: int = 0
    changed: float = 0.0
    ended: float = 0.0
    problem: str = ""


@dataclass(frozen=True)
class Entry:
    """One run as the list shows it. `problem` says why it cannot be shown; everything else may then be empty."""

    key: str
    run: FigureRun
    shipped: bool = False
    manifest: dict[str, Any] = field(default_factory=dict)
    members: tuple[MemberState, ...] = ()
    problem: str = ""
    begun: float = 0.0

    @property
    def names(self) -> tuple[str, str]:
        """Study and figure; of a run that cannot be read, those after which its folders are named."""
        path = self.run.path
        return self.manifest.get("study") or path.parent.parent.name, self.manifest.get("figure") or path.name

    @property
    def name(self) -> str:
        return ".".join(self.names) if self.manifest else "/".join(self.run.path.parts[-3:])

    @property
    def ids(self) -> list[str]:
        return [state.id for state in self.members]

    @property
    def changed(self) -> float:
        """When anything last happened: before its first member starts, a run trains a probe or waits for its turn."""
        return max([self.begun, *(state.changed for state in self.members)])

    @property
    def ended(self) -> float:
        """When the run ended, in seconds since 1970, or 0 if nothing says so: files of a copy, or of a checkout, have
        the time at which they were copied. Manifests did not always tell; then it is when its last member ended."""
        return float(self.manifest.get("ended") or max((state.ended for state in self.members), default=0.0))

    @property
    def status(self) -> str:
        """In a word, for a badge."""
        states = [state.status for state in self.members]
        if self.problem:
            return "damaged"
        if any(state in ("unfinished", "not started") for state in states):
            return "running" if time.time() - self.changed < LIVE_SECONDS else "unfinished"
        if "damaged" in states:
            return "damaged"
        return "failed" if "failed" in states and "complete" not in states else "complete"

    @property
    def share(self) -> float:
        """How much of the training is done. What has not started yet is taken to be as long as the others."""
        known = [state for state in self.members if state.steps]
        waiting = sum(state.status == "not started" for state in self.members)
        if not known:
            return 0.0 if waiting else 1.0
        done = sum(min(s.step, s.steps) for s in known) / sum(s.steps for s in known)
        return done * len(known) / (len(known) + waiting)

    @property
    def behind(self) -> MemberState | None:
        """The member that is least far; members of one figure may train for different numbers of steps."""
        readable = [state for state in self.members if state.status != "damaged"]
        return min(readable, key=lambda s: s.step / s.steps if s.steps else 0.0, default=None)

    @property
    def promptable(self) -> list[str]:
        """Members with a checkpoint to draw from."""
        folder = self.run.store.root / "members"
        usable = [state.id for state in self.members if state.status not in ("not started", "damaged")]
        return [id_ for id_ in usable if any((folder / id_ / "checkpoints").glob("[0-9]*.safetensors"))]

    def member(self, id_: str | None = None) -> Member:
        """A member of this run, the first readable one by default."""
        readable = [s.id for s in self.members if s.status not in ("not started", "damaged")]
        if not readable:
            raise InputError(f"{self.name} has no member that can be read yet")
        if id_ is not None and id_ not in readable:
            raise unknown("member", id_, readable, where=self.name)
        return Member(member_path(self.run, id_ or readable[0]))


class Catalogue:
    """The runs at or below the given folders, in the order that papers and figures have elsewhere, those that ship with
    the package last."""

    def __init__(self, folders: Sequence[Path], shipped: Sequence[Path] = ()) -> None:
        self._folders = [(folder, label, False) for label, folder in _labelled(folders)]
        self._folders += [(Path(folder).resolve(), "shipped", True) for folder in shipped]
        self._lock = threading.Lock()
        self._read_at, self._entries = -math.inf, dict[str, Entry]()

    def entries(self) -> list[Entry]:
        """All runs, found again if the last look is more than a moment ago."""
        return list(self._found(_FRESH_SECONDS).values())

    def find(self, key: str) -> Entry:
        """One run, also where it began after the last look: its page would say for good that there is none."""
        entry = self._found(_FRESH_SECONDS).get(key) or self._found(0.0).get(key)
        if entry is None:
            raise InputError(f"there is no run '{key}' in the folders this studio was given")
        return entry

    def _found(self, age: float) -> dict[str, Entry]:
        """The runs by key, by a look that is at most so many seconds old."""
        with self._lock:
            if time.monotonic() - self._read_at > age:
                found = [entry for given in self._folders for entry in _scan(*given)]
                self._entries = {entry.key: entry for entry in _in_order(found)}
                self._read_at = time.monotonic()
            return self._entries


def _labelled(folders: Sequence[Path]) -> list[tuple[str, Path]]:
    """Each folder once, with a name of its own: folders of the same name are numbered."""
    found: dict[str, Path] = {}
    for folder in dict.fromkeys(Path(folder).resolve() for folder in folders):
        number = sum(other.name == folder.name for other in found.values()) + 1
        found[folder.name if number == 1 else f"{folder.name}-{number}"] = folder
    return list(found.items())


def _scan(folder: Path, label: str, shipped: bool) -> list[Entry]:
    manifests = {path for level in _LEVELS for path in folder.glob(f"{level}manifest.json")}
    return [_entry(folder, label, path.parent, shipped) for path in sorted(manifests, key=_natural)]


def _in_order(entries: list[Entry]) -> list[Entry]:
    # By what was read of them: a manifest that a link brings here from elsewhere is not read again.
    names = {entry.run: entry.names for entry in entries}
    places = {run: place for place, run in enumerate(in_order(names, names.__getitem__))}
    return sorted(entries, key=lambda entry: (entry.shipped, places[entry.run]))


def _natural(path: Path) -> list[tuple[int, int | str]]:
    """fig2 before fig10."""
    parts = re.split(r"(\d+)", str(path))
    return [(0, int(part)) if part.isdigit() else (1, part) for part in parts if part]


def _entry(folder: Path, label: str, path: Path, shipped: bool) -> Entry:
    key = "/".join((label, *path.relative_to(folder).parts))
    run = FigureRun(path)
    try:
        inside(path, folder)
        manifest = run.manifest
        refuse_links(path)
    except InputError as error:
        return Entry(key, run, shipped, problem=str(error))
    # A sweep over a setting that was fixed by hand names one member several times.
    members = list(dict.fromkeys(manifest["members"]))
    states = tuple(member_state(run, id_) for id_ in members)
    begun = (path / "manifest.json").stat().st_mtime
    return Entry(key, run, shipped, {**manifest, "members": members}, states, begun=begun)


def member_path(run: FigureRun, id_: str) -> Path:
    """The folder of a member; refused if its name or a link would lead out of the run's own folder."""
    if not _MEMBER_NAME.fullmatch(id_):
        raise InputError(f"the manifest of {run.path.name} names a member {id_!r}, which is no member's name")
    members = run.store.root / "members"
    return inside(members / id_, members)


def member_state(run: FigureRun, id_: str) -> MemberState:
    try:
        path = member_path(run, id_)
        if not (path / "config.json").exists():
            return MemberState(id_, "not started")
        recipe = _recipe(path, (path / "config.json").stat().st_mtime_ns)
        done = path / "done.json"
        outcome = read_json(done) if done.exists() else {}
        status = str(outcome.get("status", "unfinished"))
        step = int(outcome.get("step") or _last_step(path))
        refuse_links(path)
        ended = _ended(path, done.stat().st_mtime_ns) if outcome else 0.0
    except (InputError, OSError, AttributeError, TypeError, ValueError) as error:
        return MemberState(id_, "damaged", problem=str(error))
    return MemberState(id_, status, recipe.seed, step, recipe.steps, _changed(path), ended)


@lru_cache(maxsize=4096)
def _recipe(path: Path, _modified: int) -> Recipe:
    return Member(path).recipe


@lru_cache(maxsize=4096)
def _ended(path: Path, _modified: int) -> float:
    """The last time in a member's log. Those that ship have none, and one that cannot be read tells nothing."""
    try:
        return float(Member(path).log()[-1]["time"])
    except (InputError, LookupError):
        return 0.0


def _last_step(path: Path) -> int:
    return max((int(part.stem) for part in (path / "metrics").glob("[0-9]*.parquet")), default=0)


def _changed(path: Path) -> float:
    """When anything in a member's folder last changed."""
    places = (path, path / "metrics", path / "samples", path / "checkpoints", path / "log.jsonl")
    return max((place.stat().st_mtime for place in places if place.exists()), default=0.0)


def inside(path: Path, folder: Path) -> Path:
    """The path itself, if it lies in the folder after all links are followed."""
    if not path.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"{path} leads out of {folder}; the studio reads only the folders it was given")
    return path


def refuse_links(path: Path) -> None:
    """No file of a run may be a link that leads out of it: what it shows would be someone else's."""
    for found in path.rglob("*"):
        if found.is_symlink():
            inside(found, path)
