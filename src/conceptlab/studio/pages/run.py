"""One run: its way through concept space, curves, samples through training, claims, figures; live while it trains."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from dash import Dash, Input, Output, State, dcc, html, no_update

from conceptlab.errors import InputError
from conceptlab.report.training import Setting
from conceptlab.studio.catalogue import Entry
from conceptlab.studio.context import Studio
from conceptlab.studio.elements import (
    badge,
    card,
    chip,
    command,
    graph,
    heading,
    problem,
    themed,
    verdict_row,
)
from conceptlab.studio.live import RunView, run_view, samples, stamp

_SPACE = "Concept space: the classes, and where the drawings asked of each of them lie through training"
_ROWS = "A row for each class; each image starts from the same noise at every step. Right: the share that is right."
_CURVES = "Accuracy through training, one line for each concept distance"


def layout(studio: Studio, rest: str, asked: dict[str, str]) -> Any:
    entry = studio.catalogue.find(rest)
    if entry.problem:
        return [heading(entry.name, "This run folder cannot be read."), problem(entry.problem)]
    manifest = entry.manifest
    view = _view(studio, entry)
    settings = view.training.settings if view.training else []
    members = view.training.members if view.training else []
    shown = [m for m in members if m["status"] not in ("not started", "damaged")]
    return [
        heading(str(manifest.get("title") or entry.name), str(manifest.get("shows", ""))),
        html.Div(_facts(entry), id="run-facts"),
        html.Div(_problems(entry, view), id="run-problems"),
        html.Div(
            [
                _charts(settings),
                html.Div([_samples_card(shown), _ways_card(settings)]),
            ],
            className="two" if members else "hidden",
        ),
        html.Div(_verdicts_and_pictures(view), id="run-results"),
        card(
            "Run it again",
            command(str(manifest.get("command", ""))),
            hint="The same command also continues an interrupted run.",
        ),
        dcc.Store(id="run-key", data=entry.key),
        dcc.Store(id="run-stamp", data=str(hash(stamp(entry)))),
        dcc.Store(id="run-frames"),
        dcc.Interval(id="run-tick", interval=1500, disabled=entry.status == "complete"),
    ]


def _charts(settings: list[Setting]) -> Any:
    options = [{"label": s.label or "all", "value": i} for i, s in enumerate(settings)]
    choose = dcc.Dropdown(options, 0, id="run-setting", clearable=False, searchable=False)  # pyright: ignore
    return card(
        "Through concept space",
        html.Div(
            html.Label([html.Span("Setting"), choose]), className="choose" if len(settings) > 1 else "hidden"
        ),
        graph("run-space", label=_SPACE, height="390px"),
        graph("run-accuracy", label=_CURVES, height="270px"),
        hint=html.Span(id="run-caption"),
    )


def _ways_card(settings: list[Setting]) -> Any:
    """Only where capability was measured beside behaviour."""
    return card(
        "Capability and behaviour",
        graph("run-ways", label="Training step, capability and behaviour of every seed", height="330px"),
        hint=html.Span(id="run-ways-caption"),
        className="" if any(setting.ways for setting in settings) else "hidden",
    )


def _samples_card(members: list[dict[str, Any]]) -> Any:
    options = [
        {"label": f"seed {m['seed']}" + (f", {m['setting']}" if m["setting"] else ""), "value": m["id"]}
        for m in members
    ]
    first = options[0]["value"] if options else None
    return card(
        "Drawings through training",
        html.Div(
            [
                html.Label(
                    [
                        html.Span("Member"),
                        dcc.Dropdown(options, first, id="run-member", clearable=False, searchable=False),
                    ]  # pyright: ignore
                ),
                html.Button("Play", id="run-play", type="button"),
            ],
            className="choose",
        ),
        html.Label(
            [
                html.Span(
                    [
                        html.Span("Step", className="name"),
                        html.Span(id="run-step-shown", className="value"),
                    ],
                    className="head",
                ),
                dcc.Input(type="range", id="run-step", min=0, max=0, step=1, value=0, className="range"),
            ],
            className="slider",
        ),
        html.Div(id="run-sheet", className="sheet"),
        html.P(id="run-sheet-note", className="hint"),
        html.Div(id="run-drawn"),
        hint=_ROWS,
    )


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
        new = [
            {"label": f"seed {m['seed']}" + (f", {m['setting']}" if m["setting"] else ""), "value": m["id"]}
            for m in members
        ]
        changed = new if new != options else no_update
        return _facts(entry), _problems(entry, view), _verdicts_and_pictures(view), now, ended, changed

    @app.callback(
        Output("run-space", "figure"),
        Output("run-accuracy", "figure"),
        Output("run-caption", "children"),
        Output("run-drawn", "children"),
        Output("run-ways", "figure"),
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
            return no_update, no_update, "Nothing has been measured yet.", "", no_update, no_update
        # The reader's view of the space stays when new points arrive.
        space = themed(setting.graph)
        space["layout"] |= {"uirevision": key}
        curves = themed(setting.accuracy)
        curves["layout"]["legend"] = {"orientation": "h", "y": 1.14, "x": 0}
        curves["layout"]["margin"] = {"l": 50, "r": 10, "t": 24, "b": 42}
        ways = no_update
        if setting.ways:
            ways = themed(setting.ways)
            ways["layout"] |= {"uirevision": key}
        return space, curves, setting.caption, _drawn(setting), ways, setting.ways_caption

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
            return [last, atEnd ? last : Math.min(Number(value), last)];
        }""",
        [Output("run-step", "max"), Output("run-step", "value")],
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


def _facts(entry: Entry) -> Any:
    manifest, first = entry.manifest, next((s for s in entry.members if s.step), None)
    done = sum(state.status == "complete" for state in entry.members)
    facts = [
        ("Run", entry.name),
        ("Scale", manifest.get("scale", "–")),
        (
            "Members",
            f"{done} of {len(entry.members)} complete" if entry.members else "none: computed, not trained",
        ),
        ("Step", f"{min(s.step for s in entry.members)} of {entry.members[0].steps}" if first else "–"),
    ]
    parts: list[Any] = [html.Div([html.Dt(name), html.Dd(value)]) for name, value in facts]
    state: list[Any] = [badge(entry.status)]
    if entry.status in ("running", "unfinished"):
        bar = html.Div(html.Div(style={"width": f"{100 * entry.share:.1f}%"}), className="bar")
        state.append(html.Div([bar, html.Small(f"{entry.share:.0%}")], className="progress"))
    parts.append(html.Div([html.Dt("State"), html.Dd(state)]))
    if entry.promptable:
        parts.append(
            dcc.Link("Prompt this model", href=f"/prompt/{quote(entry.key)}", className="button primary")
        )
    return html.Dl(parts, className="facts")


def _problems(entry: Entry, view: RunView) -> list[Any]:
    """What is wrong, and below it what is only worth knowing."""
    said, notes = [*view.problems], []
    if view.training:
        said += view.training.problems
        said += [f"Seed {m['seed']} failed: {m['reason']}" for m in view.training.members if m["reason"]]
        notes = view.training.notes
    return [*(problem(text) for text in said), *(html.P(text, className="hint") for text in notes)]


def _drawn(setting: Setting) -> Any:
    """What was drawn for each class at the last evaluation."""
    rows = []
    for row in setting.drawn:
        instead = ", ".join(f"{code} {share:.0%}" for code, share in row["instead"]) or "–"
        accuracy = "–" if row["accuracy"] is None else f"{row['accuracy']:.2f}"
        rows.append(
            html.Tr(
                [
                    html.Td(chip(row["code"], row["distance"], row["words"])),
                    html.Td(row["words"]),
                    html.Td(accuracy, className="num"),
                    html.Td(instead, className="num"),
                ]
            )
        )
    names = ("Asked for", "", "Right", "Drawn instead")
    head = html.Thead(html.Tr([html.Th(name, scope="col") for name in names]))
    table = html.Table([head, html.Tbody(rows)], className="drawn")
    return html.Details([html.Summary("What was drawn at the last evaluation, all seeds"), table])


def _verdicts_and_pictures(view: RunView) -> Any:
    parts = []
    if view.pictures:
        images = [
            html.Img(src=uri, alt=f"The figure {name} as drawn for print") for name, uri in view.pictures
        ]
        parts.append(card("Figure", *images, className="picture"))
    if view.verdicts:
        parts.append(card("Claims", html.Ul([verdict_row(v) for v in view.verdicts], className="verdicts")))
    return html.Div(parts, className="wide-left") if parts else html.Div()
