"""What can be set of a prompt: checkpoint, class, a slider for every concept and for every number of the condition."""

from __future__ import annotations

import contextlib
from typing import Any

from dash import dcc, html

from conceptlab.concepts import Class
from conceptlab.store import Member
from conceptlab.studio import prompting
from conceptlab.studio.elements import chip, slider, slider_id
from conceptlab.studio.prompting import Axis


def controls(member: Member, wish: dict[str, str]) -> list[Any]:
    space, split, steps = member.world.space, member.split, member.checkpoint_steps
    classes = sorted(space, key=lambda cls: (split.distance(cls), cls))
    codes = [space.code(cls) for cls in classes]
    code = wish["class"] if wish.get("class") in codes else codes[-1]
    step = int(wish["step"]) if wish.get("step", "").isdigit() and int(wish["step"]) in steps else steps[-1]
    kinds = sorted({name.split(".")[0] for name in member.weights(steps[-1])}, reverse=True)
    axes = prompting.axes_of(member)
    cls = space.parse(code)
    owned = [cls[space.variable(axis.variable)] for axis in axes]
    starts = [_start(axis, own, wish) for axis, own in zip(axes, owned)]
    labels = [
        {"label": chip(space.code(c), split.distance(c), space.words(c)), "value": space.code(c)}
        for c in classes
    ]
    return [
        _radio(
            "Checkpoint, training step", "prompt-step", [{"label": str(s), "value": s} for s in steps], step
        ),
        html.Div(
            _radio("Weights", "prompt-weights", [{"label": k, "value": k} for k in kinds], "raw"),
            className="" if len(kinds) > 1 else "hidden",
        ),
        _radio(f"Class {space.order}", "prompt-class", labels, code),
        html.Div([_axis_slider(axis, start) for axis, start in zip(axes, starts)]),
        html.Details(
            [
                html.Summary("Every number by itself"),
                html.P("Shaded: the range that training showed.", className="hint"),
                *[_entry_sliders(axis, own, start) for axis, own, start in zip(axes, owned, starts)],
            ],
            className="" if axes else "hidden",
        ),
        dcc.Store(id="prompt-axes", data=_axis_data(axes, space.names, {space.code(c): c for c in space})),
    ]


def _radio(label: str, id_: str, options: list[Any], value: Any) -> html.Fieldset:
    items = dcc.RadioItems(options, value, id=id_, className="segments")
    return html.Fieldset([html.Legend(label), items])


def _start(axis: Axis, value: int, wish: dict[str, str]) -> float:
    """Where a slider begins: at the class's own value, or where the page's address says."""
    low, high = _axis_reach(axis)
    with contextlib.suppress(KeyError, ValueError):
        return min(max(float(wish[axis.variable]), low), high)
    return float(value) if len(axis.values) == 2 else 1.0


def _axis_slider(axis: Axis, start: float) -> html.Label:
    """Two values span a line from the first (0) to the second (1) and beyond; of more, the class's own is made
    stronger (2) or weaker (0) against the mean of the others."""
    where, reach = slider_id("prompt", "axis", axis.variable), _axis_reach(axis)
    binary = len(axis.values) == 2
    label = axis.variable if binary else f"{axis.variable}, strength"
    names = axis.values if binary else ("the others", "as trained")
    marks = [(0.0, names[0]), (1.0, names[1])]
    return slider(where, label, *reach, 0.05, start, trained=(0.0, 1.0), marks=marks)


def _axis_reach(axis: Axis) -> tuple[float, float]:
    """As far along the line between two values as the sliders of its entries go."""
    if len(axis.values) != 2:
        return 0.0, 4.0
    reach = [-4.0], [5.0]
    for entry, a, b in zip(axis.entries, *axis.anchors):
        if abs(b - a) > 1e-6:
            ends = sorted(((entry.reach[0] - a) / (b - a), (entry.reach[1] - a) / (b - a)))
            reach[0].append(ends[0])
            reach[1].append(ends[1])
    # To a twentieth, the step of the slider, so that 0 and 1 can be hit exactly.
    return round(20 * max(reach[0])) / 20, round(20 * min(reach[1])) / 20


def _entry_sliders(axis: Axis, value: int, start: float) -> html.Div:
    sliders = [
        slider(
            slider_id("prompt", "entry", entry.place),
            entry.name if entry.name == axis.variable else f"{axis.variable} {entry.name}",
            *entry.reach,
            0.005,
            number,
            trained=entry.trained,
        )
        for entry, number in zip(axis.entries, prompting.numbers_at(axis, value, start))
    ]
    return html.Div(sliders)


def _axis_data(axes: list[Axis], names: tuple[str, ...], classes: dict[str, Class]) -> dict[str, Any]:
    """What the browser needs to turn classes into positions and positions into numbers."""
    return {
        "classes": {code: dict(zip(names, cls)) for code, cls in classes.items()},
        "axes": {
            axis.variable: {
                "places": [e.place for e in axis.entries],
                "anchors": [list(a) for a in axis.anchors],
            }
            for axis in axes
        },
    }
