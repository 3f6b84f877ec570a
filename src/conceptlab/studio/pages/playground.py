"""The SIM playground (yang2025): two concepts, a linear network, and what it does to a combination it never saw.

Moving a slider runs the whole gradient flow again; three drawings follow within a tenth of a second. Most of that time
plotly takes, so it is spared what it is slow at: finding ranges, laying out legends, dragging.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from dash import Dash, Input, Output, State, html

from conceptlab.errors import InputError
from conceptlab.figures import variable_colours
from conceptlab.figures.style import INK, MUTED
from conceptlab.studio.context import Studio
from conceptlab.studio.elements import Chart, aria, card, graph, heading, slider, slider_id, themed
from conceptlab.theory import PlaygroundRun, run_playground

_LEAD = (
    "A linear network learns two concepts from images that each show only one of them. The star is both at once, which "
    "it never sees. Watch it swing by: first towards one training concept, then back."
)
_SPACE = "Where the network sends the unseen combination, from the start to the end of training."
_LOSS = "It may fall, rise and fall again while the training error only falls."
_MATRIX = "The entries of the network's matrix. Off the diagonal: one concept leaking into the other."
_SLIDERS: tuple[tuple[str, str, float, float, float, float], ...] = (
    ("mu1", "μ₁, signal of the first concept", 0.2, 4.0, 0.05, 1.0),
    ("mu2", "μ₂, signal of the second concept", 0.2, 4.0, 0.05, 2.0),
    ("sigma", "σ, spread of both", 0.0, 1.0, 0.01, 0.05),
    ("scale", "initial scale, power of ten", -4.0, -0.5, 0.1, -2.0),
    ("correlation", "initial correlation of the two", 0.0, 0.99, 0.01, 0.99),
    ("depth", "layers", 1, 5, 1, 2),
)
_FIRST, _SECOND, _BOTH = *variable_colours(["shape", "size"]).values(), "#D55E00"


class _Line(NamedTuple):
    name: str
    colour: str
    width: float
    dash: str  # as plotly calls it


_LOSSES = (_Line("unseen", _BOTH, 2.5, "solid"), _Line("training", MUTED, 1.5, "dot"))
_ENTRIES = {
    (0, 0): _Line("first to first", _FIRST, 2.2, "solid"),
    (1, 1): _Line("second to second", _SECOND, 2.2, "solid"),
    (0, 1): _Line("second leaks into first", _FIRST, 2.2, "dash"),
    (1, 0): _Line("first leaks into second", _SECOND, 2.2, "dot"),
}
_TIME = "training time, learning rate × steps"


def layout(studio: Studio, rest: str, asked: dict[str, str]) -> Any:
    first = _charts(run_playground())
    sliders = [
        slider(slider_id("playground", "setting", name), label, low, high, step, value)
        for name, label, low, high, step, value in _SLIDERS
    ]
    return [
        heading("SIM playground", _LEAD),
        html.Div(
            [
                card(
                    "",
                    *sliders,
                    html.P(id="playground-said", className="said", role="status"),
                    className="controls",
                ),
                html.Div(
                    [
                        card(
                            "Through concept space",
                            graph(
                                "playground-space",
                                first[0],
                                "Where the network sends both concepts together",
                                "235px",
                            ),
                            hint=_SPACE,
                        ),
                        card(
                            "Error on the unseen combination",
                            _legend(_LOSSES, turns=True),
                            graph(
                                "playground-loss",
                                first[1],
                                "Loss on the unseen combination and on training data",
                                "214px",
                            ),
                            hint=_LOSS,
                        ),
                        card(
                            "What each concept does to each",
                            _legend(tuple(_ENTRIES.values())),
                            graph(
                                "playground-jacobian",
                                first[2],
                                "The four entries of the network's matrix",
                                "179px",
                            ),
                            hint=_MATRIX,
                            className="across",
                        ),
                    ],
                    className="grid",
                ),
            ],
            className="left-narrow",
        ),
    ]


def _legend(lines: Sequence[_Line], *, turns: bool = False) -> html.Ul:
    """What the lines are: written once, where plotly would lay it out anew at every move."""
    entries = [
        html.Li(
            [html.Span(className="line", style=_stroke(line)), line.name],
        )
        for line in lines
    ]
    if turns:
        entries.append(html.Li([html.Span(className="turn", style={"borderColor": _BOTH}), "turns"]))
    return html.Ul(entries, className="lines", **aria(hidden="true"))


def _stroke(line: _Line) -> dict[str, str]:
    kind = {"solid": "solid", "dash": "dashed", "dot": "dotted"}[line.dash]
    return {"borderTop": f"{line.width}px {kind} {line.colour}"}


def register(app: Dash, studio: Studio) -> None:
    @app.callback(
        Output("playground-space", "figure"),
        Output("playground-loss", "figure"),
        Output("playground-jacobian", "figure"),
        Output("playground-said", "children"),
        *[Input(slider_id("playground", "setting", name), "value") for name, *_ in _SLIDERS],
        State("playground-said", "children"),
    )
    def move(mu1: Any, mu2: Any, sigma: Any, scale: Any, correlation: Any, depth: Any, _said: Any) -> Any:
        try:
            run = run_playground(
                (float(mu1), float(mu2)), float(sigma), 10 ** float(scale), float(correlation), int(depth)
            )
        except InputError as error:
            return themed(_EMPTY), themed(_EMPTY), themed(_EMPTY), str(error)
        charts = _charts(run, (float(mu1), float(mu2)))
        return *(themed(chart) for chart in charts), _said_of(run)


_EMPTY: Chart = {"data": [], "layout": {}}


def _charts(run: PlaygroundRun, goal: tuple[float, float] = (1.0, 2.0)) -> tuple[Chart, Chart, Chart]:
    return _space(run, goal), _losses(run), _jacobian(run)


def _space(run: PlaygroundRun, goal: tuple[float, float]) -> Chart:
    """The way of the unseen combination towards (mu1, mu2), which a network that has learnt both maps to itself."""
    high = [float(1.18 * max(g, run.output[:, i].max(), 1e-3)) for i, g in enumerate(goal)]
    low = [float(min(-0.08 * h, 1.05 * run.output[:, i].min())) for i, h in enumerate(high)]
    corners = [
        (0.0, goal[1], "second alone"),
        (goal[0], 0.0, "first alone"),
        (goal[0], goal[1], "both, unseen"),
    ]
    marks = {
        "type": "scatter",
        "mode": "markers+text",
        "x": [x for x, _, _ in corners],
        "y": [y for _, y, _ in corners],
        "text": [name for *_, name in corners],
        "textposition": ["top right", "top center", "bottom left"],
        "marker": {
            "size": [10, 10, 15],
            "symbol": ["circle", "circle", "star"],
            "color": [_SECOND, _FIRST, _BOTH],
        },
        "hoverinfo": "skip",
    }
    # A point of its own colour is an element of its own to draw: a few show the direction as well as all.
    few = np.linspace(0, len(run.output) - 1, 20).round().astype(int)
    way = {
        "type": "scatter",
        "mode": "lines",
        "x": _numbers(run.output[:, 0]),
        "y": _numbers(run.output[:, 1]),
        "line": {"color": INK, "width": 1.5},
        "hoverinfo": "skip",
    }
    times = {
        "type": "scatter",
        "mode": "markers",
        "x": _numbers(run.output[few, 0]),
        "y": _numbers(run.output[few, 1]),
        "marker": {"size": 7, "color": _numbers(few / few[-1]), "colorscale": "Viridis"},
        "text": [f"time {t:.3g}" for t in run.times[few]],
        "hovertemplate": "%{text}: (%{x:.2f}, %{y:.2f})<extra></extra>",
    }
    return _chart(
        [way, times, marks], ("first concept", (low[0], high[0])), ("second concept", (low[1], high[1]))
    )


def _losses(run: PlaygroundRun) -> Chart:
    ends = [i for i in run.swings.index[0].tolist()[1:-1] if i >= 0]
    unseen = run.ood_loss / run.ood_loss[0]
    curves = (unseen, run.training_loss / run.training_loss[0])
    turns = {
        "type": "scatter",
        "mode": "markers",
        "x": _numbers(run.times[ends]),
        "y": _numbers(unseen[ends]),
        "marker": {"size": 10, "symbol": "diamond-open", "color": _BOTH, "line": {"width": 2}},
        "name": "turns",
    }
    traces = [_curve(run, y, line) for y, line in zip(curves, _LOSSES)]
    high = max(1.05, 1.05 * float(unseen.max()))
    return _chart([*traces, turns], (_TIME, (0, run.times[-1])), ("loss, share of its start", (-0.03, high)))


def _jacobian(run: PlaygroundRun) -> Chart:
    traces = [_curve(run, run.jacobian[:, i, j], line) for (i, j), line in _ENTRIES.items()]
    low, high = float(run.jacobian.min()), float(run.jacobian.max())
    room = 0.06 * (high - low)
    return _chart(traces, (_TIME, (0, run.times[-1])), ("entry of W", (low - room, high + room)))


def _chart(
    traces: list[Chart], x: tuple[str, tuple[float, float]], y: tuple[str, tuple[float, float]]
) -> Chart:
    """Axes with a title and a range each; nothing that has to be found out by measuring what was drawn."""
    axes = {
        f"{name}axis": {"title": {"text": title}, "range": _numbers(np.array(reach)), "fixedrange": True}
        for name, (title, reach) in (("x", x), ("y", y))
    }
    return {"data": traces, "layout": {**axes, "showlegend": False}}


def _curve(run: PlaygroundRun, y: np.ndarray, line: _Line) -> Chart:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": _numbers(run.times),
        "y": _numbers(y),
        "name": line.name,
        "line": {"color": line.colour, "width": line.width, "dash": line.dash},
    }


def _said_of(run: PlaygroundRun) -> str:
    """What happened, in a sentence."""
    faster = "first" if run.strengths[0] > run.strengths[1] else "second"
    swing = f"The error on the unseen combination shows a {run.swings.names()[0]}"
    swing += ": it swings by." if run.swings.swings_by[0] else ": no swing-by."
    rest = "" if run.converged else " It had not finished learning at the end of the time shown."
    if run.strengths[0] == run.strengths[1]:
        return f"Both concepts are equally strong. {swing}{rest}"
    return f"The {faster} concept is stronger and learnt first. {swing}{rest}"


def _numbers(values: np.ndarray) -> list[float]:
    return values.round(5).tolist()
