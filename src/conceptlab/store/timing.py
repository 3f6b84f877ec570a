"""How long members trained, read from their logs: evaluation counts, what was lost to an interruption does not.

A cohort trains together, so the time of all of them is in the log of each. Its members leave it one after another: they
are finished in turn, and one that fails leaves early. At every moment those that are left share the device.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conceptlab.errors import InputError
from conceptlab.store.member import Member

_BEGIN = ("started", "resumed")
_AT_ONCE = 0.5
"""Seconds within which the members of a cohort say, one after another, that they begin."""


@dataclass(frozen=True)
class Stretch:
    """One stretch of training without interruption, in seconds since 1970; `together` members shared the device."""

    begin: float
    end: float
    together: int


def stretches(member: Member) -> list[Stretch]:
    """The stretches in which a member was trained. A cohort may be put together anew between two of them; logs that do
    not say how many trained together are of members that began with as many as they ended with."""
    first = _together(member, "environment.json", "members", member.environment.get("members", 1))
    found: list[Stretch] = []
    for line in member.log():
        if line["event"] in _BEGIN or not found:
            together = _together(member, "log.jsonl", "together", line.get("together", first))
            found.append(Stretch(line["time"], line["time"], together))
        else:
            # In older logs a clock may have been set back on the way.
            found[-1] = replace(found[-1], end=max(found[-1].end, line["time"]))
    return found


def _together(member: Member, file: str, name: str, value: Any) -> int:
    if not isinstance(value, int) or value < 1:
        raise InputError(f"{member.path / file} is damaged ({name} is {value!r}); move it away")
    return value


def device_seconds(members: Iterable[Member]) -> float:
    """What the members took of their devices, all together: of a whole cohort, how long it lasted."""
    return sum(map(_taken, _cohorts(s for member in members for s in stretches(member))))


def _cohorts(found: Iterable[Stretch]) -> list[list[Stretch]]:
    """Stretches that began together, by cohort. No log names its cohort: it is known by when it began and its size."""
    cohorts: list[list[Stretch]] = []
    for one in sorted(found, key=lambda s: (s.together, s.begin)):
        mine = cohorts[-1] if cohorts else []
        began = mine and mine[0].together == one.together and one.begin - mine[-1].begin <= _AT_ONCE
        if began and len(mine) < one.together:
            mine.append(one)
        else:
            cohorts.append([one])
    return cohorts


def _taken(cohort: Sequence[Stretch]) -> float:
    """What some members of a cohort took of its device. Of the others no more is known than how many they were: they
    count as staying to the end."""
    ends = sorted(s.end - s.begin for s in cohort)
    size, together = len(ends), cohort[0].together
    steps = enumerate(itertools.pairwise([0.0, *ends]))
    return sum((end - before) * (size - left) / (together - left) for left, (before, end) in steps)


def wall_seconds(members: Iterable[Member]) -> float:
    """How long at least one of the members was training."""
    total, until = 0.0, float("-inf")
    for begin, end in sorted((s.begin, s.end) for member in members for s in stretches(member)):
        total += max(0.0, end - max(begin, until))
        until = max(until, end)
    return total


def milestones(log: list[dict[str, Any]]) -> str:
    """A log as lines of JSON with only what its stretches can be read from: where each begins and ends."""
    last = len(log) - 1
    kept = [
        line
        for i, line in enumerate(log)
        if line["event"] in _BEGIN or i == last or log[i + 1]["event"] in _BEGIN
    ]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in kept)
