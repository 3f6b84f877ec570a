"""Samples over training as frames to scrub through: one sheet a step, a row for each class."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from conceptlab.concepts import Class
from conceptlab.errors import InputError
from conceptlab.figures import distance_colour, distance_name, tiled
from conceptlab.figures.style import ink_on
from conceptlab.report.embed import pixels_uri
from conceptlab.store import Member

MOST_ROWS = 32
MOST_FRAMES = 24
# Tiles up to this size are kept exactly; larger ones are photographs or nearly so.
_EXACT = 32


@dataclass
class Timeline:
    """One member's frames; `rows` are classes from training outwards."""

    label: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    frames: list[dict[str, Any]] = field(default_factory=list)
    note: str = ""

    @property
    def size(self) -> int:
        return sum(len(frame["src"]) for frame in self.frames)


def timeline(member: Member, label: str, budget: int) -> Timeline | None:
    """The member's samples in at most about `budget` characters: fewer images, then fewer steps, until they fit."""
    steps = member.sample_steps
    if not steps:
        return None
    space, split = member.world.space, member.split
    classes = sorted(space, key=lambda cls: (split.distance(cls), cls))[:MOST_ROWS]
    images, frames = 8, min(MOST_FRAMES, len(steps))
    while True:
        chosen = [steps[i] for i in np.unique(np.linspace(0, len(steps) - 1, frames).round().astype(int))]
        made = Timeline(
            label, [_row(member, cls) for cls in classes], _frames(member, chosen, classes, images)
        )
        if made.size <= budget or (images <= 2 and frames <= 4):
            break
        images, frames = (images // 2, frames) if images > 2 else (images, max(4, frames // 2))
    left_out = []
    if len(chosen) < len(steps):
        left_out.append(f"{len(chosen)} of {len(steps)} evaluations")
    if len(classes) < len(space):
        left_out.append(f"{len(classes)} of {len(space)} classes")
    made.note = f"Shown: {' and '.join(left_out)}." if left_out else ""
    return made


def _row(member: Member, cls: Class) -> dict[str, Any]:
    space, distance = member.world.space, member.split.distance(cls)
    colour, code, words = distance_colour(distance), space.code(cls), space.words(cls)
    return {
        "code": code,
        "words": words if words != code else "",  # a number of objects is its own name
        "distance": distance_name(distance),
        "colour": colour,
        "ink": ink_on(colour),
    }


def _frames(member: Member, steps: list[int], classes: list[Class], images: int) -> list[dict[str, Any]]:
    space = member.world.space
    rows = [space.classes.index(cls) for cls in classes]
    curves = member.curves()
    found = []
    for step in steps:
        sheet = member.world.on_paper(member.samples(step).numpy())
        if len(sheet) != len(space):
            raise InputError(f"samples of step {step} hold {len(sheet)} rows for {len(space)} classes")
        tile = sheet.shape[-1]
        source = pixels_uri(tiled(sheet[rows, :images], gap=max(1, tile // 16)), exact=tile <= _EXACT)
        measured = curves.loc[step] if step in curves.index else {}
        accuracy = [_number(measured.get(space.code(cls))) for cls in classes]
        found.append({"step": step, "src": source, "accuracy": accuracy})
    return found


def _number(value: Any) -> float | None:
    return None if value is None or not np.isfinite(value) else round(float(value), 3)
