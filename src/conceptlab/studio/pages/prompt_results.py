"""What came of a prompt: how far the drawing is, how the images read, and where they lie in concept space."""

from __future__ import annotations

from typing import Any

from dash import html

from conceptlab.report.charts import concept_space_chart
from conceptlab.store import Member, gather
from conceptlab.studio.catalogue import Entry
from conceptlab.studio.context import Studio
from conceptlab.studio.elements import chip, themed
from conceptlab.studio.live import stamp
from conceptlab.studio.prompting import Drawn, Reading
from conceptlab.studio.worker import Job

IMAGES = 16
_COLOURS = {"plain": "#5c626b", "asked": "#b3420a"}


def told(job: Job) -> str:
    if job.state == "done":
        return f"{2 * IMAGES} images in {job.seconds:.2f} s"
    if job.state == "failed":
        return job.problem
    if job.state == "drawing":
        return f"drawing, step {job.done} of {job.total}"
    return {"waiting": "waiting for its turn", "cancelled": "cancelled"}[job.state]


def bar(job: Job) -> dict[str, str]:
    share = 1.0 if job.state == "done" else job.done / job.total if job.total else 0.0
    return {"width": f"{100 * share:.0f}%"}


def read(reading: Reading | None, code: str, member: Member) -> Any:
    if reading is None:
        return "no probe in this folder to read them"
    share = reading.right / reading.images
    instead = [(c, s) for c, s in reading.drawn.items() if c != code][:2]
    space, split = member.world.space, member.split
    others: list[Any] = []
    for other, part in instead:
        others += [" ", chip(other, split.distance(space.parse(other))), f" {part:.0%}"]
    tone = "good" if share >= 0.5 else "bad"
    right = html.B(f"{reading.right} of {reading.images}", className=tone)
    return [right, f" read as {code}" + (", else" if others else ""), *others]


def alt(what: str, reading: Reading | None, code: str) -> str:
    read = f"; {reading.right} of them are read as class {code}" if reading else ""
    return f"{IMAGES} images drawn for {what}{read}"


def map_(studio: Studio, entry: Entry, member: Member, drawn: Drawn) -> Any:
    base = studio.cache.get(
        ("map", entry.key, member.id),
        stamp(entry),
        lambda: themed(concept_space_chart(gather([member]), member.split)),
    )
    names = member.world.space.names
    if len(names) not in (2, 3) or drawn.asked_read is None or drawn.plain_read is None:
        return base
    deep, found = len(names) == 3, []
    for name, symbol, reading in (
        ("asked plainly", "circle-open", drawn.plain_read),
        ("your prompt", "diamond", drawn.asked_read),
    ):
        colour = _COLOURS["plain" if name == "asked plainly" else "asked"]
        at = {axis: [round(reading.coordinates[v], 3)] for axis, v in zip("xyz", names)}
        size = (9 if deep else 17) if symbol != "circle-open" else (9 if deep else 15)
        marker = {"symbol": symbol, "size": size, "color": colour, "line": {"width": 2, "color": colour}}
        kind = "scatter3d" if deep else "scatter"
        found.append(
            {"type": kind, **at, "mode": "markers", "marker": marker, "name": name, "hoverinfo": "name"}
        )
    layout = {**base["layout"], "uirevision": f"{entry.key} {member.id}", "showlegend": False}
    if deep:
        eye = {"x": 1.85, "y": -2.4, "z": 1.0}
        layout["scene"] = {**layout["scene"], "camera": {"eye": eye, "center": {"x": 0, "y": 0, "z": -0.1}}}
    else:
        layout["margin"] = {"l": 58, "r": 12, "t": 8, "b": 44}
    return {"data": [*base["data"], *found], "layout": layout}
