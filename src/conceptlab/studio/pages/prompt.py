"""Prompt a model by hand: any checkpoint, every concept on a slider that goes beyond what training showed.

The plain prompt of a class and the prompt set by hand start from the same noise and are shown side by side: where the
right one shows the class and the left one does not, a hidden capability has been elicited (park2024).
"""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

from dash import ALL, Dash, Input, Output, State, dcc, html, no_update, set_props

from conceptlab.errors import InputError
from conceptlab.store import Member
from conceptlab.studio import prompting
from conceptlab.studio.catalogue import Entry
from conceptlab.studio.context import Studio
from conceptlab.studio.elements import (
    SELDOM,
    card,
    chart_of,
    command,
    graph,
    heading,
    problem,
    sheet_uri,
    slider_id,
)
from conceptlab.studio.pages.prompt_controls import controls
from conceptlab.studio.pages.prompt_results import IMAGES, alt, bar, map_, read, told
from conceptlab.studio.prompting import Axis, Drawn

_LEAD = (
    "Both columns start from the same noise. Left: the class asked for plainly. Right: your prompt. Push a concept "
    "beyond its trained range; if the class appears on the right and not on the left, you elicited a hidden capability."
)
_MAP = "Concept space, with the mean reading of both prompts"
_COLUMNS = 4
_OFTEN = 120


def layout(studio: Studio, rest: str, asked: dict[str, str]) -> Any:
    promptable = [entry for entry in studio.catalogue.entries() if entry.promptable]
    if not promptable:
        return [heading("Prompt", _LEAD), problem("No run here has kept a checkpoint yet.")]
    entry = studio.catalogue.find(rest) if rest else _default(promptable)
    if entry.problem:
        return [heading("Prompt"), problem(entry.problem)]
    options = [{"label": _label(e), "value": e.key} for e in promptable]
    settings = card(
        "",
        html.Label([html.Span("Run"), _dropdown("prompt-run", options, entry.key)], className="field"),
        html.Label([html.Span("Member"), _dropdown("prompt-member", [], None)], className="field"),
        html.Div(id="prompt-controls"),
        className="controls",
    )
    result = html.Div(
        [
            card(
                "",
                html.Div(
                    [
                        _panel("plain", "Asked plainly"),
                        _panel("asked", "Your prompt"),
                        html.Figure(
                            [
                                html.Figcaption(
                                    [
                                        html.B("Where they land"),
                                        " as the probe reads them: ○ plainly, ◆ yours; lines: this model's training",
                                    ]
                                ),
                                graph("prompt-map", label=_MAP, height="285px"),
                            ]
                        ),
                    ],
                    className="panels",
                ),
                html.Div(
                    [
                        html.Div(html.Div(id="prompt-bar"), className="bar"),
                        html.Span(id="prompt-state", role="status"),
                        html.Button("Cancel", id="prompt-cancel", type="button", disabled=True),
                    ],
                    className="working",
                ),
            ),
            card("The same from the command line", html.Div(id="prompt-command")),
        ]
    )
    return [
        heading("Prompt the model yourself", _LEAD),
        html.Div([settings, result], className="left-narrow"),
        dcc.Store(id="prompt-viewer", data=uuid.uuid4().hex),
        dcc.Store(id="prompt-wish", data=asked),
        dcc.Store(id="prompt-job"),
        dcc.Store(id="prompt-ended"),
        dcc.Interval(id="prompt-tick", interval=_OFTEN, disabled=True),
    ]


def _label(entry: Entry) -> str:
    """The figure, its scale, and the folder it lies in."""
    return f"{entry.name}, {entry.manifest.get('scale')} ({entry.key.partition('/')[0]})"


def _default(entries: list[Entry]) -> Entry:
    """The model that hides most comes first: of park2024, and trained long enough to draw at all."""
    drawing = [entry for entry in entries if entry.manifest.get("scale") != "tiny"] or entries
    return next((e for e in drawing if e.manifest.get("study") == "park2024"), drawing[0])


def _dropdown(id_: str, options: list[Any], value: Any) -> dcc.Dropdown:
    return dcc.Dropdown(options, value, id=id_, clearable=False, searchable=False)  # pyright: ignore[reportArgumentType]


def _panel(name: str, title: str) -> html.Figure:
    return html.Figure(
        [
            html.Figcaption([html.B(title), html.Span(id=f"prompt-{name}-text")]),
            html.Img(id=f"prompt-{name}", alt="", className="pixels"),
            html.Span(id=f"prompt-{name}-read", className="read"),
        ]
    )


def register(app: Dash, studio: Studio) -> None:
    @app.callback(
        Output("prompt-member", "options"), Output("prompt-member", "value"), Input("prompt-run", "value")
    )
    def choose_run(key: str | None) -> Any:
        if key is None:  # one that has nothing to prompt is no choice of the menu
            return [], None
        entry = studio.catalogue.find(key)
        ids = entry.promptable
        seeds = {state.id: state.seed for state in entry.members}
        options = [{"label": f"seed {seeds[id_]} · {id_}", "value": id_} for id_ in ids]
        return options, ids[0] if ids else None

    @app.callback(
        Output("prompt-controls", "children"),
        Input("prompt-member", "value"),
        State("prompt-run", "value"),
        State("prompt-wish", "data"),
    )
    def choose_member(id_: str | None, key: str, wish: dict[str, str]) -> Any:
        if id_ is None:
            return problem("This run has kept no checkpoint yet.")
        try:
            return controls(studio.catalogue.find(key).member(id_), wish)
        except InputError as error:
            return problem(str(error))

    @app.callback(
        Output("prompt-job", "data"),
        Output("prompt-command", "children"),
        Output("prompt-asked-text", "children"),
        Output("prompt-plain-text", "children"),
        Input("prompt-step", "value"),
        Input("prompt-weights", "value"),
        Input("prompt-class", "value"),
        Input(slider_id("prompt", "entry", ALL), "value"),
        State(slider_id("prompt", "entry", ALL), "id"),
        State("prompt-run", "value"),
        State("prompt-member", "value"),
        State("prompt-viewer", "data"),
    )
    def ask(
        step: int, weights: str, code: str, values: list[Any], ids: list[Any], key: str, id_: str, viewer: str
    ) -> Any:
        if step is None or code is None:
            return (no_update,) * 4
        member = studio.catalogue.find(key).member(id_)
        world = member.world
        cls = world.space.parse(code)
        given = {int(i["name"]): float(value) for i, value in zip(ids, values) if value is not None}
        condition = prompting.condition_from(world, cls, _axes(studio, key, member), given)
        text = prompting.prompt_text(world, cls, condition)
        job = studio.worker.submit(
            viewer,
            lambda tell: prompting.draw(member, int(step), weights, cls, condition, IMAGES, tell),
        )
        where = f"--step {step}" + (f" --weights {weights}" if weights != "raw" else "")
        said = f'conceptlab sample {_shown_path(member.path)} {where} --prompt "{text}" --n {IMAGES}'
        set_props("trouble", {"children": None})  # what another run had
        changed = " as it is" if text == code else f" {text.partition(';')[2]}"
        return job.id, command(said), changed, f" class {code}, {world.space.words(cls)}"

    @app.callback(
        Output("prompt-plain", "src"),
        Output("prompt-plain", "alt"),
        Output("prompt-plain-read", "children"),
        Output("prompt-asked", "src"),
        Output("prompt-asked", "alt"),
        Output("prompt-asked-read", "children"),
        chart_of("prompt-map"),
        Output("prompt-state", "children"),
        Output("prompt-bar", "style"),
        Output("prompt-ended", "data"),
        Output("prompt-cancel", "disabled"),
        Input("prompt-tick", "n_intervals"),
        State("prompt-job", "data"),
        State("prompt-class", "value"),
        State("prompt-run", "value"),
        State("prompt-member", "value"),
        running=[(Output("prompt-tick", "interval"), SELDOM, _OFTEN)],
        prevent_initial_call=True,
    )
    def look(_tick: int, job_id: str, code: str, key: str, id_: str) -> Any:
        job = studio.worker.job(job_id) if job_id else None
        if job is None:
            return (no_update,) * 9 + (job_id, True)
        state = (told(job), bar(job), job.id if job.ended else no_update, job.ended)
        if job.state != "done":
            return (no_update,) * 7 + state
        drawn: Drawn = job.result
        entry = studio.catalogue.find(key)
        member = entry.member(id_)
        return (
            sheet_uri(drawn.plain, _COLUMNS),
            alt("the plain prompt", drawn.plain_read, code),
            read(drawn.plain_read, code, member),
            sheet_uri(drawn.asked, _COLUMNS),
            alt("your prompt", drawn.asked_read, code),
            read(drawn.asked_read, code, member),
            map_(studio, entry, member, drawn),
            *state,
        )

    @app.callback(
        Output("prompt-cancel", "title"),
        Input("prompt-cancel", "n_clicks"),
        State("prompt-job", "data"),
        prevent_initial_call=True,
    )
    def cancel(_clicks: int, job_id: str) -> Any:
        if job_id:
            studio.worker.cancel(job_id)
        return no_update

    # An answer about an older job may arrive after a newer one was asked for: that one is still to be looked at.
    app.clientside_callback(
        "function (job, ended) { return job === ended; }",
        Output("prompt-tick", "disabled"),
        Input("prompt-job", "data"),
        Input("prompt-ended", "data"),
        prevent_initial_call=True,
    )
    app.clientside_callback(
        "function (code, ids, data) { return window.studio.axesOfClass(code, ids, data); }",
        Output(slider_id("prompt", "axis", ALL), "value"),
        Input("prompt-class", "value"),
        State(slider_id("prompt", "axis", ALL), "id"),
        State("prompt-axes", "data"),
        prevent_initial_call=True,
    )
    app.clientside_callback(
        "function (...given) { return window.studio.entriesOfAxes(...given); }",
        Output(slider_id("prompt", "entry", ALL), "value"),
        Input(slider_id("prompt", "axis", ALL), "value"),
        State(slider_id("prompt", "axis", ALL), "id"),
        State(slider_id("prompt", "entry", ALL), "id"),
        State("prompt-class", "value"),
        State("prompt-axes", "data"),
        prevent_initial_call=True,
    )


def _shown_path(path: Path) -> Path:
    """Relative where it lies below the folder the studio was started in: that is where the command will be pasted."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _axes(studio: Studio, key: str, member: Member) -> list[Axis]:
    return studio.cache.get(("axes", key, member.id), member.recipe.hash, lambda: prompting.axes_of(member))
