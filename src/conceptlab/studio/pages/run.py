"""One run: its way through concept space, curves, samples through training, claims, figures; live while it trains."""

from __future__ import annotations

from typing import Any

from dash import Dash, Input, Output, State, dcc, html, no_update

from conceptlab.errors import InputError
from conceptlab.store import go_on
from conceptlab.studio.catalogue import Entry
from conceptlab.studio.context import Studio
from conceptlab.studio.elements import (
    SELDOM,
    card,
    chart_of,
    command,
    heading,
    problem,
    themed,
)
from conceptlab.studio.live import RunView, run_view, samples, stamp
from conceptlab.studio.pages.run_parts import (
    arrangement,
    charts,
    choices,
    drawn,
    facts,
    problems,
    samples_card,
    verdicts_and_pictures,
    ways_card,
)

_OFTEN = 1500


def layout(studio: Studio, rest: str, asked: dict[str, str]) -> Any:
    entry = studio.catalogue.find(rest)
    if entry.problem:
        return [heading(entry.name, "This run folder cannot be read."), problem(entry.problem)]
    manifest = entry.manifest
    view = _view(studio, entry)
    settings = view.training.settings if view.training else []
    members = view.training.members if view.training else []
    shown = [m for m in members if m["status"] not in ("not started", "damaged")]
    of_columns, of_charts = arrangement(view.training)
    return [
        heading(str(manifest.get("title") or entry.name), str(manifest.get("shows", ""))),
        html.Div(facts(entry), id="run-facts"),
        html.Div(problems(entry, view), id="run-problems"),
        html.Div(
            [
                html.Div(charts(settings), id="run-charts", className=of_charts),
                html.Div([samples_card(shown, settings), ways_card(settings)]),
            ],
            id="run-columns",
            className=of_columns,
        ),
        html.Div(verdicts_and_pictures(view), id="run-results"),
        card(
            "Run it again",
            command(_again(entry)),
            hint="The same command also continues an interrupted run.",
        ),
        dcc.Store(id="run-key", data=entry.key),
        dcc.Store(id="run-stamp", data=str(hash(stamp(entry)))),
        dcc.Store(id="run-frames"),
        dcc.Interval(id="run-tick", interval=_OFTEN, disabled=entry.status == "complete"),
    ]


def _again(entry: Entry) -> str:
    """Without `--out` the command would begin anew in `runs`. Nothing is written where the shipped models lie."""
    return str(entry.manifest.get("command", "")) if entry.shipped else go_on(entry.run)


def register(app: Dash, studio: Studio) -> None:
    @app.callback(
        Output("run-facts", "children"),
        Output("run-problems", "children"),
        Output("run-results", "children"),
        Output("run-stamp", "data"),
        Output("run-tick", "disabled"),
        Output("run-member", "options"),
        Input("run-tick", "n_intervals"),
        State("run-key", "data"),
        State("run-stamp", "data"),
        State("run-member", "options"),
        running=[(Output("run-tick", "interval"), SELDOM, _OFTEN)],
        prevent_initial_call=True,
    )
    def update(_tick: int, key: str, seen: str, options: list[Any]) -> Any:
        entry = studio.catalogue.find(key)
        now = str(hash(stamp(entry)))
        ended = entry.status in ("complete", "failed")
        if now == seen:
            return (no_update,) * 4 + (ended, no_update)
        view = _view(studio, entry)
        members = [m for m in view.training.members if m["step"] != "–"] if view.training else []
        new = choices(members)
        changed = new if new != options else no_update
        return facts(entry), problems(entry, view), verdicts_and_pictures(view), now, ended, changed

    @app.callback(
        chart_of("run-space"),
        chart_of("run-accuracy"),
        Output("run-caption", "children"),
        Output("run-drawn", "children"),
        chart_of("run-ways"),
        Output("run-ways-caption", "children"),
        Input("run-setting", "value"),
        Input("run-stamp", "data"),
        State("run-key", "data"),
    )
    def draw(place: int | None, _stamp: str, key: str) -> Any:
        entry = studio.catalogue.find(key)
        view = _view(studio, entry)
        settings = view.training.settings if view.training else []
        setting = settings[min(place or 0, len(settings) - 1)] if settings else None
        if setting is None or setting.graph is None or setting.accuracy is None:
            bare = setting is not None and setting.bare
            said = "No accuracy has been measured here." if bare else "Nothing has been measured yet."
            return no_update, no_update, said, "", no_update, no_update
        # The reader's view of the space stays when new points arrive.
        space = themed(setting.graph)
        space["layout"] |= {"uirevision": key}
        curves = themed(setting.accuracy)
        # It grows upwards, and the plot makes room: that of own data names what is corrected, too. No more than half of
        # the chart is room, which six names on a phone leave no gaps between rows.
        above = {"y": 1.03, "yanchor": "bottom", "x": 0}
        curves["layout"]["legend"] = {"orientation": "h", "tracegroupgap": 0, **above}
        curves["layout"]["margin"] = {"l": 50, "r": 10, "t": 24, "b": 42}
        ways = no_update
        if setting.ways:
            ways = themed(setting.ways)
            ways["layout"] |= {"uirevision": key}
        return space, curves, setting.caption, drawn(setting), ways, setting.ways_caption

    @app.callback(
        Output("run-columns", "className"),
        Output("run-charts", "className"),
        Input("run-stamp", "data"),
        State("run-key", "data"),
        prevent_initial_call=True,
    )
    def arrange(_stamp: str, key: str) -> Any:
        return arrangement(_view(studio, studio.catalogue.find(key)).training)

    @app.callback(
        Output("run-frames", "data"),
        Input("run-member", "value"),
        Input("run-stamp", "data"),
        State("run-key", "data"),
    )
    def frames(member: str | None, _stamp: str, key: str) -> Any:
        entry = studio.catalogue.find(key)
        if member is None:
            return None
        try:
            found = studio.cache.get(("samples", key, member), stamp(entry), lambda: samples(entry, member))
        except InputError as error:
            return {"problem": str(error)}
        return {"rows": found.rows, "frames": found.frames, "note": found.note} if found else None

    @app.callback(Output("run-member", "value"), Input("run-member", "options"), State("run-member", "value"))
    def keep_choice(options: list[Any], value: str | None) -> Any:
        if value is None and options:
            return options[0]["value"]
        return no_update

    for source, outputs, inputs, states in _CLIENTSIDE:
        app.clientside_callback(source, *outputs, *inputs, *states)


_CLIENTSIDE: list[tuple[str, list[Output], list[Input], list[State]]] = [
    (
        # New frames: stay at the end if the reader was there, otherwise stay where they are.
        """function (data, value, max) {
            const frames = (data && data.frames) || [];
            const last = Math.max(frames.length - 1, 0);
            const atEnd = Number(value) >= Number(max);
            return [last, atEnd ? last : Math.min(Number(value), last), last === 0, last === 0];
        }""",
        [
            Output("run-step", "max"),
            Output("run-step", "value"),
            Output("run-step", "disabled"),
            Output("run-play", "disabled"),
        ],
        [Input("run-frames", "data")],
        [State("run-step", "value"), State("run-step", "max")],
    ),
    (
        "function (place, data) { return window.studio.sheet(place, data); }",
        [
            Output("run-sheet", "title"),
            Output("run-step-shown", "children"),
            Output("run-sheet-note", "children"),
        ],
        [Input("run-step", "value"), Input("run-frames", "data")],
        [],
    ),
    (
        "function (clicks) { return window.studio.play(clicks, 'run-step', 'run-play'); }",
        [Output("run-play", "title")],
        [Input("run-play", "n_clicks")],
        [],
    ),
]


def _view(studio: Studio, entry: Entry) -> RunView:
    return studio.cache.get(("view", entry.key), stamp(entry), lambda: run_view(entry))
