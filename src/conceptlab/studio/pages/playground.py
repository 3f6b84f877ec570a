"""The SIM playground (yang2025): two concepts, a linear network, and what it does to a combination it never saw.

Moving a slider runs the whole gradient flow again; three drawings follow within a tenth of a second. Plotly took
most of that time; these are drawn by `assets/drawing.js`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from dash import Dash, Input, Output, dcc, html
from plotly.colors import sample_colorscale

from conceptlab.errors import InputError
from conceptlab.figures import variable_colours
from conceptlab.figures.style import INK, MUTED
from conceptlab.studio.context import Studio
from conceptlab.studio.elements import Chart, aria, card, heading, slider, slider_id
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
    dash: str  # solid, dash or dot


_LOSSES = (_Line("unseen", _BOTH, 2.5, "solid"), _Line("training", MUTED, 1.5, "dot"))
_ENTRIES = {
    (0, 0): _Line("first to first", _FIRST, 2.2, "solid"),
    (1, 1): _Line("second to second", _SECOND, 2.2, "solid"),
    (0, 1): _Line("second leaks into first", _FIRST, 2.2, "dash"),
    (1, 0): _Line("first leaks into second", _SECOND, 2.2, "dot"),
}
_TIME = "training time, learning rate × steps"


def layout(studio: Studio, rest: str, asked: dict[str, str]) -> Any:
    sliders = [
        slider(slider_id("playground", "setting", name), label, low, high, step, value)
        for name, label, low, high, step, value in _SLIDERS
    ]
    said = html.P(id="playground-said", className="said", role="status")
    losses, entries = _legend(_LOSSES, turns=True), _legend(tuple(_ENTRIES.values()))
    return [
        heading("SIM playground", _LEAD),
        dcc.Store(id="playground-charts"),
        html.Div(
            [
                card("", *sliders, said, className="controls"),
                html.Div(
                    [
                        card(
                            "Through concept space",
                            _drawing("space", "Where the network sends both concepts together", "235px"),
                            hint=_SPACE,
                        ),
                        card(
                            "Error on the unseen combination",
                            losses,
                            _drawing("loss", "Loss on the unseen combination and on training data", "214px"),
                            hint=_LOSS,
                        ),
                        card(
                            "What each concept does to each",
                            entries,
                            _drawing("jacobian", "The four entries of the network's matrix", "179px"),
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


def _drawing(name: str, label: str, height: str) -> html.Div:
    inner = html.Div(id=f"playground-{name}", className="drawing", style={"height": height})
    return html.Div(inner, className="graph", role="img", **aria(label=label), tabIndex="0")


def _legend(lines: Sequence[_Line], *, turns: bool = False) -> html.Ul:
    """What the lines are."""
    entries = [html.Li([html.Span(className="line", style=_stroke(line)), line.name]) for line in lines]
    if turns:
        entries.append(html.Li([html.Span(className="turn", style={"borderColor": _BOTH}), "turns"]))
    return html.Ul(entries, className="lines", **aria(hidden="true"))


def _stroke(line: _Line) -> dict[str, str]:
    kind = {"solid": "solid", "dash": "dashed", "dot": "dotted"}[line.dash]
    colour = "var(--muted)" if line.colour == MUTED else line.colour
    return {"borderTop": f"{line.width}px {kind} {colour}"}


def register(app: Dash, studio: Studio) -> None:
    @app.callback(
        Output("playground-charts", "data"),
        Output("playground-said", "children"),
        *[Input(slider_id("playground", "setting", name), "value") for name, *_ in _SLIDERS],
    )
    def move(mu1: Any, mu2: Any, sigma: Any, scale: Any, correlation: Any, depth: Any) -> Any:
        goal = float(mu1), float(mu2)
        try:
            run = run_playground(goal, float(sigma), 10 ** float(scale), float(correlation), int(depth))
        except InputError as error:
            return {}, str(error)
        charts = {"space": _space(run, goal), "loss": _losses(run), "jacobian": _jacobian(run)}
        return {f"playground-{name}": chart for name, chart in charts.items()}, _said_of(run)

    app.clientside_callback(
        "function (charts) { return window.drawing.all(charts); }",
        Output("playground-space", "title"),
        Input("playground-charts", "data"),
    )


def _space(run: PlaygroundRun, goal: tuple[float, float]) -> Chart:
    """The way of the unseen combination towards (mu1, mu2), which a network that has learnt both maps to itself."""
    high = [float(1.18 * max(g, run.output[:, i].max(), 1e-3)) for i, g in enumerate(goal)]
    low = [float(min(-0.08 * h, 1.05 * run.output[:, i].min())) for i, h in enumerate(high)]
    way = _curve(run.output[:, 0], run.output[:, 1], _Line("", INK, 1.5, "solid"))
    few = np.linspace(0, len(run.output) - 1, 24).round().astype(int)
    colours = sample_colorscale("Viridis", few / few[-1])
    dots: list[Chart] = [
        {"x": x, "y": y, "size": 3.5, "colour": colour, "says": f"time {t:.3g}: ({x:.2f}, {y:.2f})"}
        for x, y, t, colour in zip(*(_numbers(run.output[few, i]) for i in (0, 1)), run.times[few], colours)
    ]
    marks = (
        (0.0, goal[1], "second alone", {"colour": _SECOND, "size": 5, "beside": (9, -10, "start")}),
        (goal[0], 0.0, "first alone", {"colour": _FIRST, "size": 5, "beside": (0, -11, "middle")}),
        (*goal, "both, unseen", {"colour": _BOTH, "size": 9, "beside": (-9, 20, "end"), "shape": "star"}),
    )
    dots += [{"x": x, "y": y, "text": text, **look} for x, y, text, look in marks]
    return _chart([way], dots, ("first concept", (low[0], high[0])), ("second concept", (low[1], high[1])))


def _losses(run: PlaygroundRun) -> Chart:
    unseen = run.ood_loss / run.ood_loss[0]
    curves = (unseen, run.training_loss / run.training_loss[0])
    ends = [i for i in run.swings.index[0].tolist()[1:-1] if i >= 0]
    turns = [
        {"x": x, "y": y, "size": 6, "shape": "diamond", "colour": _BOTH}
        for x, y in zip(_numbers(run.times[ends]), _numbers(unseen[ends]))
    ]
    lines = [_curve(run.times, y, line) for y, line in zip(curves, _LOSSES)]
    high = 1.05 * max(1.0, float(unseen.max()))
    return _chart(lines, turns, (_TIME, (0, run.times[-1])), ("loss, share of its start", (-0.03, high)))


def _jacobian(run: PlaygroundRun) -> Chart:
    lines = [_curve(run.times, run.jacobian[:, i, j], line) for (i, j), line in _ENTRIES.items()]
    low, high = float(run.jacobian.min()), float(run.jacobian.max())
    room = 0.06 * (high - low)
    return _chart(lines, [], (_TIME, (0, run.times[-1])), ("entry of W", (low - room, high + room)))


def _chart(
    lines: list[Chart],
    dots: list[Chart],
    x: tuple[str, tuple[float, float]],
    y: tuple[str, tuple[float, float]],
) -> Chart:
    """What `drawing.js` draws: axes, each with a title and a range, lines, and points with what they say."""
    axes = {
        name: {"title": title, "range": _numbers(np.array(reach))}
        for name, (title, reach) in (("x", x), ("y", y))
    }
    return {**axes, "lines": lines, "dots": dots}


def _curve(x: np.ndarray, y: np.ndarray, line: _Line) -> Chart:
    return {"x": _numbers(x), "y": _numbers(y), **line._asdict()}


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
