"""The building blocks of the pages: what looks the same everywhere, and is reached by keyboard everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from dash import Output, dcc, html

from conceptlab.claims import Verdict, interval_text, seeds_text, threshold_text, unit_text, value_text
from conceptlab.figures import VERDICT_SYMBOLS, distance_colour, distance_name, tiled
from conceptlab.figures.style import ink_on
from conceptlab.report.embed import pixels_uri
from conceptlab.report.words import options_apart

FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif'
# Milliseconds until a page looks again for what is new while a look is under way: one that is asked for anew before it
# is answered is never answered.
SELDOM = 60_000

Children = Any
Chart = dict[str, Any]


def aria(**names: str) -> dict[str, Any]:
    """Attributes for readers who do not see the page: `aria(label="…")`."""
    return {f"aria-{name}": text for name, text in names.items()}


def heading(title: str, lead: Children = "") -> html.Header:
    return html.Header([html.H1(title), html.P(lead, className="lead")], className="heading")


def card(title: str, *children: Children, hint: Children = "", className: str = "") -> html.Section:
    head = [html.H2(title)] if title else []
    head += [html.P(hint, className="hint")] if hint != "" else []
    return html.Section([*head, *children], className=f"card {className}".strip())


def problem(text: str) -> html.P:
    return html.P([html.Span("!", className="mark"), text], className="problem", role="status")


def badge(status: str) -> html.Span:
    return html.Span(status, className=f"badge {status.replace(' ', '-')}")


def chip(code: str, distance: int, title: str = "") -> html.Span:
    """A class's code in the colour of its distance from training."""
    colour = distance_colour(distance)
    style = {"background": colour, "color": ink_on(colour)}
    return html.Span(code, className="chip", style=style, title=title or distance_name(distance))


def verdict_mark(verdict: Verdict) -> html.Span:
    kind = verdict.verdict.replace(" ", "-")
    symbol = VERDICT_SYMBOLS[verdict.verdict]
    return html.Span(
        [html.B(symbol, **aria(hidden="true")), " ", verdict.verdict], className=f"verdict {kind}"
    )  # pyright: ignore


def verdict_row(verdict: Verdict) -> html.Li:
    interval = interval_text(verdict)
    numbers = [
        html.Strong(value_text(verdict)),
        f"  [{interval}]" if interval else "",
        f"  threshold {threshold_text(verdict)}",
    ]
    seeds = seeds_text(verdict, f" {unit_text(verdict)}")
    return html.Li(
        [
            html.P([verdict_mark(verdict), html.Span(verdict.strength, className="tag")]),
            html.P(verdict.statement, className="statement"),
            html.P([*numbers, html.Span(f"  {seeds}", className="muted")], className="numbers"),
            *([html.P(f"Because {verdict.why}.", className="hint")] if verdict.why else []),
            html.P(verdict.statistic, className="hint"),
        ]
    )


def command(text: str) -> html.Div:
    """Text to copy; the button is served by `assets/studio.js`."""
    pieces: list[Any] = options_apart(text)
    pieces[1::2] = [html.Span(option, className="option") for option in pieces[1::2]]
    return html.Div(
        [html.Pre(html.Code(pieces), tabIndex="0"), html.Button("Copy", className="copy", type="button")],
        className="command",
    )


# --- sliders ----------------------------------------------------------------------------------------------------


def slider_id(page: str, kind: str, name: Any) -> dict[str, Any]:
    return {"role": "slider", "page": page, "kind": kind, "name": name}


def slider(
    where: dict[str, Any],
    label: Children,
    low: float,
    high: float,
    step: float,
    value: float,
    *,
    ends: tuple[str, str] | None = None,
    trained: tuple[float, float] | None = None,
    marks: Sequence[tuple[float, str]] = (),
) -> html.Label:
    """A native range input: arrow keys, touch and screen readers work as everywhere. `trained` shades a part of the
    track, `marks` name places on it. The number is a span: an `<output>` would take the label for itself."""

    def place(x: float) -> str:
        return f"{100 * (min(max(x, low), high) - low) / (high - low):.1f}%"

    style = {"--from": place(trained[0]), "--to": place(trained[1])} if trained else {}
    shown = {**where, "role": "shown"}
    parts: list[Any] = [
        html.Span(
            [html.Span(label, className="name"), html.Span(id=shown, className="value")], className="head"
        ),
        dcc.Input(type="range", id=where, min=low, max=high, step=step, value=value, className="range"),
    ]
    if ends:
        parts.append(html.Span([html.Span(end) for end in ends], className="ends"))
    if marks:
        parts.append(
            html.Span([html.Span(text, style={"left": place(x)}) for x, text in marks], className="marks")
        )
    return html.Label(parts, className="slider" + (" trained" if trained else ""), style=style)


# --- pictures and charts ----------------------------------------------------------------------------------------


def sheet_uri(images: np.ndarray, columns: int) -> str:
    """Images (n, H, W, 3) as one picture with so many columns."""
    rows = -(-len(images) // columns)
    blank = np.full((rows * columns - len(images), *images.shape[1:]), 255, np.uint8)
    grid = np.concatenate([images, blank]).reshape(rows, columns, *images.shape[1:])
    return pixels_uri(tiled(grid.transpose(0, 1, 4, 2, 3), gap=1), exact=True)


# Charts by the id of their place on a page.
GRAPHS = (
    "run-space", "run-accuracy", "run-ways", "prompt-map", "designer-graph", "lesson-bars", "lesson-curves",
)  # fmt: skip


def graph(id_: str, label: str = "", height: str = "") -> html.Div:
    """A place for a plotly chart with an accessible name. Callbacks give the chart to `chart_of`: its colours are
    chosen in the browser, which knows whether the page is light or dark."""
    inner = dcc.Graph(
        id=id_,
        figure=themed({"data": [], "layout": {f"{axis}axis": {"visible": False} for axis in "xy"}}),
        config={"displayModeBar": False, "responsive": True, "scrollZoom": False},
        responsive=True,
        style={"height": height} if height else {},
    )
    store = dcc.Store(id=f"{id_}-chart")
    return html.Div([inner, store], className="graph", role="img", **aria(label=label), tabIndex="0")


def chart_of(id_: str) -> Output:
    """Where a callback puts the chart of a graph."""
    return Output(f"{id_}-chart", "data")


def themed(chart: Chart) -> Chart:
    """A chart of the report, or a new one, in the studio's look, but for its colours (`theme.js`)."""
    given = chart.get("layout", {})
    layout = {
        "autosize": True,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": 12},
        "margin": {"l": 52, "r": 14, "t": 12, "b": 44},
        "hovermode": "closest",
        # Below the name of the axis, in as many rows as it needs.
        "legend": {"orientation": "h", "x": 0, "yref": "container", "y": 0, "yanchor": "bottom"},
        **given,
    }
    if "scene" in layout:
        layout["legend"] = {"orientation": "h", "y": 0, "x": 0}
    elif title := layout.get("xaxis", {}).get("title"):
        layout["xaxis"] = {**layout["xaxis"], "automargin": True, "title": {**title, "standoff": 6}}
    return {"data": chart["data"], "layout": layout}
