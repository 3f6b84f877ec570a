"""The training behind figures: members and how they ended, their curves, samples and probes, made ready to show.

Figures that rest on the same members share one section. Whatever is missing or damaged becomes a sentence on the
page; nothing here raises for the state of a run folder.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from conceptlab.errors import InputError
from conceptlab.figures import select
from conceptlab.report.capability import capability_chart
from conceptlab.report.charts import Chart, accuracy_chart, concept_space_chart
from conceptlab.report.readings import drawn_at_the_end, probes_of
from conceptlab.report.setting_labels import setting_labels
from conceptlab.report.timeline import Timeline, timeline
from conceptlab.store import FigureRun, Member, device_seconds, gather

# More settings or members than this are named in the table but not drawn: the page stays light.
MOST_SETTINGS = 16
MOST_TIMELINES = 12
# Characters below which the samples of a member show too little: with less room, fewer members are shown.
LEAST_TIMELINE = 60_000
_CORRECTED = (
    "Accuracies are as the probe reads. Corrected for what it misreads on real images, they are dashed in the curves "
    "and have a column of their own; claims about data of your own rest on the corrected ones."
)


@dataclass
class Setting:
    """The members that differ only in their seed."""

    label: str
    seeds: int
    bare: bool = False  # measured, but no accuracies, as where objects are counted: nothing to chart
    caption: str = ""
    graph: Chart | None = None
    accuracy: Chart | None = None
    ways: Chart | None = None
    ways_caption: str = ""
    drawn: list[dict[str, Any]] = field(default_factory=list)

    @property
    def corrected(self) -> bool:
        """Whether accuracies are also corrected for the errors of the probe, as on real images."""
        return any(row["corrected"] is not None for row in self.drawn)


@dataclass
class Training:
    anchor: str
    members: list[dict[str, Any]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    settings: list[Setting] = field(default_factory=list)
    timelines: list[Timeline] = field(default_factory=list)
    probes: list[dict[str, Any]] = field(default_factory=list)
    reads: list[tuple[str, str]] = field(default_factory=list)
    differences: dict[str, Any] = field(default_factory=dict)
    config: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    seconds: float | None = None  # of the device, all members together
    study: str = ""
    first: str = ""  # of the figures behind which it is
    figures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The figures it is behind, in few words."""
        others = len(self.figures) - 1
        return f"{self.first} and {others} more" if others else self.first


def training(run: FigureRun, ids: Sequence[str], anchor: str, timeline_budget: int) -> Training:
    """Everything the page shows of a set of members; samples only if there is a budget for them."""
    found = Training(anchor)
    usable = _readable(run, ids, found)
    if not usable:
        waiting = any(row["status"] == "not started" for row in found.members)
        remedy = "can be shown yet; the figure's command trains them" if waiting else "can be read"
        found.notes.append(f"None of the {len(ids)} members {remedy}.")
        return found
    found.reads = _reads(usable)
    found.differences = usable[0].recipe.differences()
    found.config = json.dumps(usable[0].recipe.to_dict(), indent=1, ensure_ascii=False)
    found.environment = _environment(usable, found.problems)
    found.seconds = _seconds(usable)
    table = gather(usable)
    labels = setting_labels(table, usable)
    found.probes = probes_of(usable, labels, found.problems)
    whole = [member for member in usable if member.status == "complete"]
    if len(whole) < len(ids):
        found.notes.append(
            f"{len(whole)} of {len(ids)} members are complete; "
            + ("curves and tables rest on these." if whole else "what there is so far is shown.")
        )
    if (table["measure"] == "corrected").any():
        found.notes.append(_CORRECTED)
    for member in usable:
        found.members.append(_member_row(member, labels[member.id]))
    # A failed or unfinished member would bend the mean of the others; alone it is better than nothing.
    shown = whole or usable
    for label in list(dict.fromkeys(labels[member.id] for member in shown))[:MOST_SETTINGS]:
        mine = [member for member in shown if labels[member.id] == label]
        rows = table[table["member"].isin([member.id for member in mine])]
        found.settings.append(_setting(label, mine, rows))
    if timeline_budget:
        _add_timelines(found, usable, labels, timeline_budget)
    return found


def _reads(members: Sequence[Member]) -> list[tuple[str, str]]:
    """How classes are read: an example with its variables in order, for each kind of world there is."""
    spaces = {member.world.space.order: member.world.space for member in members}
    return [(space.code(list(space)[-1]), order) for order, space in spaces.items()]


def _readable(run: FigureRun, ids: Sequence[str], found: Training) -> list[Member]:
    usable = []
    for id_ in ids:
        path = run.store.root / "members" / id_
        try:
            member = Member(path)
            _touch(member)
        except InputError as error:
            state = _why_not(path, error)
            if state == "damaged":
                found.problems.append(f"Member {id_} is damaged and left out: {error}")
            # A plug-in that is not given is missed by every member alike: said once.
            elif state == "not readable" and (said := f"Members are left out: {error}") not in found.problems:
                found.problems.append(said)
            row = {"id": id_, "seed": "–", "setting": "", "status": state, "step": "–", "seconds": None}
            found.members.append({**row, "reason": ""})
        else:
            usable.append(member)
    return usable


def _why_not(path: Path, error: InputError) -> str:
    """The state of a member that cannot be shown. One that is there may still need a part that is not."""
    if "damaged" in str(error):
        return "damaged"
    return "not readable" if (path / "config.json").exists() else "not started"


def _touch(member: Member) -> None:
    """Read what the page needs, so that a damaged member fails here and nowhere else."""
    for needed in (member.split, member.metrics, member.outcome):
        del needed


def _member_row(member: Member, label: str) -> dict[str, Any]:
    metrics, outcome = member.metrics, member.outcome
    last = int(metrics["step"].max()) if len(metrics) else 0
    return {
        "id": member.id,
        "seed": member.recipe.seed,
        "setting": label,
        "status": member.status,
        "step": f"{last} of {member.recipe.steps}",
        "seconds": outcome.get("seconds"),
        "reason": outcome.get("reason", ""),
    }


def _setting(label: str, members: Sequence[Member], rows: pd.DataFrame) -> Setting:
    split = members[0].split
    made = Setting(label, seeds=len({member.recipe.seed for member in members}))
    if len(select(rows, "accuracy")):
        made.caption = _caption(len(split.space.concepts), made.seeds)
        made.graph = concept_space_chart(rows, split)
        made.accuracy = accuracy_chart(rows)
        made.drawn = drawn_at_the_end(rows, split)
        found = capability_chart(rows, split)
        if found:
            made.ways, made.ways_caption = found
    else:
        made.bare = len(rows) > 0
    return made


def _caption(variables: int, seeds: int) -> str:
    """How to read the chart of the concept space."""
    if variables not in (2, 3):
        return "Classes are joined where one variable differs. Point at a class for its final accuracy."
    lines = "Lines: where the images drawn for each class lie, from the start of training to its end"
    lines += f"; thick: mean over {seeds} seeds, thin: each seed." if seeds > 1 else "."
    return lines + (" Drag or use the arrow keys to turn." if variables == 3 else "")


def _add_timelines(found: Training, members: Sequence[Member], labels: dict[str, str], budget: int) -> None:
    shown = members[: max(1, min(MOST_TIMELINES, budget // LEAST_TIMELINE))]
    for member in shown:
        name = f"seed {member.recipe.seed}" + (f", {labels[member.id]}" if labels[member.id] else "")
        try:
            made = timeline(member, name, budget // len(shown))
        except InputError as error:
            found.problems.append(f"Samples of member {member.id} cannot be shown: {error}")
            continue
        if made:
            found.timelines.append(made)
    settings = len(set(labels.values()))
    if settings > MOST_SETTINGS:
        found.notes.append(f"{MOST_SETTINGS} of {settings} settings are charted; all are in the run folder.")
    if 0 < len(found.timelines) < len(members):
        found.notes.append(f"Samples are shown of {len(found.timelines)} of {len(members)} members.")


def _seconds(members: Sequence[Member]) -> float | None:
    """What training took; unknown where a log is missing or damaged."""
    try:
        return device_seconds(members) or None
    except InputError:
        return None


def _environment(members: Sequence[Member], problems: list[str]) -> dict[str, str]:
    """Versions and devices; where members differ, all values."""
    values: dict[str, list[str]] = {}
    for member in members:
        try:
            about = member.environment
        except InputError as error:
            problems.append(f"The environment of member {member.id} is unknown: {error}")
            continue
        for key, value in about.items():
            if value is not None and str(value) not in values.setdefault(key, []):
                values[key].append(str(value))
    return {key: ", ".join(found) for key, found in values.items() if found}
