"""What a run's page shows: its cards, facts, problems, drawings, claims and pictures."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from dash import dcc, html

from conceptlab.report.training import Setting, Training
from conceptlab.studies import makes_no_claim
from conceptlab.studio.catalogue import Entry
from conceptlab.studio.elements import badge, card, chip, graph, problem, verdict_row
from conceptlab.studio.live import RunView

_CURVES = "Accuracy through training, one line for each concept distance"
_ROWS = "A row for each class; each image starts from the same noise at every step."
_RIGHT = " Right: the share that is right."
_SPACE = "Concept space: the classes, and where the drawings asked of each of them lie through training"


def arrangement(training: Training | None) -> tuple[str, str]:
    """The classes of the two columns and of the charts in them. Without accuracies there is nothing to chart, and the
    drawings get the room."""
    if training is None or not training.members:
        return "hidden", ""
    return ("", "hidden") if bare(training.settings) else ("two", "")


def bare(settings: list[Setting]) -> bool:
    """Whether there are measurements, but no accuracies among them."""
    return bool(settings) and all(setting.bare for setting in settings)


def charts(settings: list[Setting]) -> Any:
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


def ways_card(settings: list[Setting]) -> Any:
    """Only where capability was measured beside behaviour."""
    return card(
        "Capability and behaviour",
        graph("run-ways", label="Training step, capability and behaviour of every seed", height="330px"),
        hint=html.Span(id="run-ways-caption"),
        className="" if any(setting.ways for setting in settings) else "hidden",
    )


def choices(members: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Members to choose from, in words."""
    return [
        {"label": f"seed {m['seed']}" + (f", {m['setting']}" if m["setting"] else ""), "value": m["id"]}
        for m in members
    ]


def samples_card(members: list[dict[str, Any]], settings: list[Setting]) -> Any:
    options = choices(members)
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
        hint=_ROWS if bare(settings) else _ROWS + _RIGHT,
    )


def facts(entry: Entry) -> Any:
    manifest, behind = entry.manifest, entry.behind
    done = sum(state.status == "complete" for state in entry.members)
    facts = [
        ("Run", entry.name),
        ("Scale", manifest.get("scale", "–")),
        (
            "Members",
            f"{done} of {len(entry.members)} complete" if entry.members else "none: computed, not trained",
        ),
        ("Step", f"{behind.step} of {behind.steps}" if behind and behind.steps else "–"),
    ]
    if makes_no_claim(entry.run, entry.manifest):
        facts.append(("Claims", "none: it describes"))
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


def problems(entry: Entry, view: RunView) -> list[Any]:
    """What is wrong, and below it what is only worth knowing."""
    said, notes = [*view.problems], []
    if view.training:
        said += view.training.problems
        said += [f"Seed {m['seed']} failed: {m['reason']}" for m in view.training.members if m["reason"]]
        notes = view.training.notes
    return [*(problem(text) for text in said), *(html.P(text, className="hint") for text in notes)]


def drawn(setting: Setting) -> Any:
    """What was drawn for each class at the last evaluation."""
    rows = []
    for row in setting.drawn:
        instead = ", ".join(f"{code} {share:.0%}" for code, share in row["instead"]) or "–"
        shares = [row["accuracy"], row["corrected"]] if setting.corrected else [row["accuracy"]]
        rows.append(
            html.Tr(
                [
                    html.Td(chip(row["code"], row["distance"], row["words"])),
                    html.Td(row["words"]),
                    *(html.Td("–" if share is None else f"{share:.2f}", className="num") for share in shares),
                    html.Td(instead, className="num"),
                ]
            )
        )
    names = ("Asked for", "", "Right", *(["Corrected"] if setting.corrected else []), "Drawn instead")
    head = html.Thead(html.Tr([html.Th(name, scope="col") for name in names]))
    table = html.Table([head, html.Tbody(rows)], className="drawn")
    return html.Details([html.Summary("What was drawn at the last evaluation, all seeds"), table])


def verdicts_and_pictures(view: RunView) -> Any:
    parts = []
    if view.pictures:
        images = [
            html.Button(
                html.Img(src=uri, alt=f"The figure {name} as drawn for print"),
                className="enlarge",
                type="button",
                title="Show in full size",
            )
            for name, uri in view.pictures
        ]
        parts.append(card("Figure", *images, className="picture"))
    if view.verdicts:
        parts.append(card("Claims", html.Ul([verdict_row(v) for v in view.verdicts], className="verdicts")))
    return html.Div(parts, className="wide-left") if parts else html.Div()
