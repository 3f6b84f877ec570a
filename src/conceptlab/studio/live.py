"""What the pages show of a run, computed once for all viewers and again only when something changed on disk."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from conceptlab.claims import Verdict
from conceptlab.errors import InputError
from conceptlab.report.embed import png_uri
from conceptlab.report.timeline import Timeline, timeline
from conceptlab.report.training import Training, training
from conceptlab.studio.catalogue import Entry, inside

T = TypeVar("T")

_KEPT = 64
_TIMELINE_CHARACTERS = 1_500_000


class Cache:
    """Values by name, each with a stamp that says what it was made of. While one viewer's request makes a value,
    the others wait for it instead of making it again."""

    def __init__(self) -> None:
        self._values: OrderedDict[Hashable, tuple[Hashable, Any]] = OrderedDict()
        self._locks: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, name: Hashable, stamp: Hashable, make: Callable[[], T]) -> T:
        with self._lock:
            own = self._locks.setdefault(name, threading.Lock())
        with own:
            held = self._values.get(name)
            if held is not None and held[0] == stamp:
                return held[1]
            value = make()
            with self._lock:
                self._values[name] = (stamp, value)
                self._values.move_to_end(name)
                while len(self._values) > _KEPT:
                    self._values.popitem(last=False)
            return value


@dataclass
class RunView:
    """A run as its page shows it; `problems` are sentences."""

    verdicts: list[Verdict] = field(default_factory=list)
    pictures: list[tuple[str, str]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    training: Training | None = None


def stamp(entry: Entry) -> tuple[Hashable, ...]:
    """Changes whenever something changed that the page shows."""
    run = entry.run.path
    watched = [run / "manifest.json", run / "claims.json", *entry.run.pictures]
    times = tuple(path.stat().st_mtime_ns for path in watched if path.exists())
    return (entry.problem, entry.members, times)


def run_view(entry: Entry) -> RunView:
    """Everything but samples; whatever cannot be read becomes a sentence."""
    view = RunView()
    try:
        view.verdicts = entry.run.verdicts
    except InputError as error:
        view.problems.append(f"The claims cannot be read: {error}")
    for picture in entry.run.pictures:
        try:
            shown = png_uri(inside(picture, entry.run.path))
            view.pictures.append((picture.stem, shown))
        except InputError as error:
            view.problems.append(f"A picture cannot be shown: {error}.")
    readable = [state.id for state in entry.members if state.status != "damaged"]
    view.problems += [
        f"Member {state.id} is damaged and left out: {state.problem}"
        for state in entry.members
        if state.status == "damaged"
    ]
    if readable:
        view.training = _patiently(lambda: training(entry.run, readable, "training", timeline_budget=0))
    return view


def _patiently(look: Callable[[], T]) -> T:
    """Look again if a file went away in between: a member that has just finished joins its tables into one."""
    try:
        return look()
    except InputError:
        time.sleep(0.2)
        return look()


def samples(entry: Entry, member: str) -> Timeline | None:
    """The samples of one member through training."""
    return timeline(entry.member(member), member, _TIMELINE_CHARACTERS)
