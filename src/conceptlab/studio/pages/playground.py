"""The SIM playground (yang2025): two concepts, a linear network, and what it does to a combination it never saw.

Moving a slider runs the whole gradient flow again; three drawings follow within a tenth of a second.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from dash import Dash, Input, Output, State, html

from conceptlab.errors import InputError
from conceptlab.figures import variable_colours
from conceptlab.figures.style import INK, MUTED
from conceptlab.studio.context import Studio
from conceptlab.studio.elements import Chart, card, graph, heading, slider, slider_id, themed
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
                            graph(
                                "playground-loss",
                                first[1],
                                "Loss on the unseen combination and on training data",
                                "235px",
                            ),
                            hint=_LOSS,
                        ),
                        card(
                            "What each concept does to each",
                            graph(
                                "playground-jacobian",
                                first[2],
                                "The four entries of the network's matrix",
                                "200px",
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
        "x": [_number(x) for x, _, _ in corners],
        "y": [_number(y) for _, y, _ in corners],
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
    few = np.linspace(0, len(run.output) - 1, 30).round().astype(int)
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
    layout = {
        "showlegend": False,
        "xaxis": {"title": {"text": "first concept"}, "range": [low[0], high[0]]},
        "yaxis": {"title": {"text": "second concept"}, "range": [low[1], high[1]]},
    }
    return {"data": [way, times, marks], "layout": layout}


def _losses(run: PlaygroundRun) -> Chart:
    ends = [i for i in run.swings.index[0].tolist()[1:-1] if i >= 0]
    traces = [
        _curve(run, run.ood_loss / run.ood_loss[0], "unseen", _BOTH, 2.5),
        _curve(run, run.training_loss / run.training_loss[0], "training", MUTED, 1.5, "dot"),
        {
            "type": "scatter",
            "mode": "markers",
            "x": _numbers(run.times[ends]),
            "y": _numbers(run.ood_loss[ends] / run.ood_loss[0]),
            "marker": {"size": 10, "symbol": "diamond-open", "color": _BOTH, "line": {"width": 2}},
            "name": "turns",
        },
    ]
    layout = {
        "xaxis": {"title": {"text": "training time, learning rate × steps"}, "rangemode": "tozero"},
        "yaxis": {"title": {"text": "loss, share of its start"}, "range": [-0.03, 1.05]},
        "legend": {"orientation": "h", "y": 1.2, "x": 0},
        "margin": {"l": 52, "r": 14, "t": 30, "b": 44},
    }
    return {"data": traces, "layout": layout}


def _jacobian(run: PlaygroundRun) -> Chart:
    entries = (
        ((0, 0), "first to first", _FIRST, None),
        ((1, 1), "second to second", _SECOND, None),
        ((0, 1), "second leaks into first", _FIRST, "dash"),
        ((1, 0), "first leaks into second", _SECOND, "dot"),
    )
    traces = [_curve(run, run.jacobian[:, i, j], name, c, 2.2, dash) for (i, j), name, c, dash in entries]
    layout = {
        "xaxis": {"title": {"text": "training time, learning rate × steps"}, "rangemode": "tozero"},
        "yaxis": {"title": {"text": "entry of W"}},
        "legend": {"orientation": "h", "y": 1.25, "x": 0},
        "margin": {"l": 52, "r": 14, "t": 30, "b": 44},
    }
    return {"data": traces, "layout": layout}


def _curve(
    run: PlaygroundRun, y: np.ndarray, name: str, colour: str, width: float, dash: str | None = None
) -> Chart:
    line = {"color": colour, "width": width, **({"dash": dash} if dash else {})}
    return {
        "type": "scatter",
        "mode": "lines",
        "x": _numbers(run.times),
        "y": _numbers(y),
        "name": name,
        "line": line,
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


def _number(x: float) -> float:
    return round(float(x), 5)


def _numbers(values: np.ndarray) -> list[float]:
    return [_number(x) for x in values]
