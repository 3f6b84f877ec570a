"""The first page: every run in the given folders, its state and its verdicts, kept up to date."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any
from urllib.parse import quote

from dash import Dash, Input, Output, State, dcc, html, no_update

from conceptlab.errors import InputError
from conceptlab.figures import VERDICT_SYMBOLS
from conceptlab.studies import STUDIES, makes_no_claim
from conceptlab.studio.catalogue import Entry
from conceptlab.studio.context import Studio
from conceptlab.studio.elements import SELDOM, aria, badge, card, command, heading
from conceptlab.studio.live import stamp

_LEAD = (
    "Everything that was trained in the folders this studio was opened with. A run that is still training appears "
    "here by itself and moves on as it goes. Each mark is the verdict on one claim: "
    + ", ".join(f"{symbol} {verdict}" for verdict, symbol in VERDICT_SYMBOLS.items())
    + "."
)

_OFTEN = 2000


def layout(studio: Studio, rest: str, asked: dict[str, str]) -> Any:
    return [
        heading("Runs", _LEAD),
        html.Div(_lists(studio), id="runs-list"),
        dcc.Store(id="runs-stamp", data=_stamp(studio)),
        dcc.Interval(id="runs-tick", interval=_OFTEN),
    ]


def register(app: Dash, studio: Studio) -> None:
    @app.callback(
        Output("runs-list", "children"),
        Output("runs-stamp", "data"),
        Input("runs-tick", "n_intervals"),
        State("runs-stamp", "data"),
        running=[(Output("runs-tick", "interval"), SELDOM, _OFTEN)],
        prevent_initial_call=True,
    )
    def update(_tick: int, seen: str) -> Any:
        now = _stamp(studio)
        return (no_update, no_update) if now == seen else (_lists(studio), now)


def _stamp(studio: Studio) -> str:
    return str(hash(tuple((entry.key, stamp(entry), entry.status) for entry in studio.catalogue.entries())))


def _lists(studio: Studio) -> list[Any]:
    entries = studio.catalogue.entries()
    own = [entry for entry in entries if not entry.shipped]
    shipped = [entry for entry in entries if entry.shipped]
    parts: list[Any] = []
    if own:
        for study in dict.fromkeys(_study(entry) for entry in own):
            about = STUDIES[study].title if study in STUDIES else ""
            parts.append(card(study, _table([entry for entry in own if _study(entry) == study]), hint=about))
    else:
        parts.append(
            card(
                "Nothing trained yet",
                command("conceptlab run quickstart"),
                hint="Two to four minutes on two cores; it appears here.",
            )
        )
    if shipped:
        hint = "Small models that come with the package: try a prompt right away."
        parts.append(card("Ready to prompt", _table(shipped), hint=hint))
    return parts


def _study(entry: Entry) -> str:
    return str(entry.manifest.get("study") or "cannot be read")


def _table(entries: list[Entry]) -> html.Div:
    names = ("Run", "What it shows", "Scale", "Members", "Claims", "State", "")
    head = html.Thead(html.Tr([html.Th(name, scope="col") for name in names]))
    alike = Counter((entry.name, entry.manifest.get("scale")) for entry in entries)
    body = html.Tbody(
        [
            _broken(entry)
            if entry.problem
            else _row(entry, told_apart=alike[entry.name, entry.manifest.get("scale")] > 1)
            for entry in entries
        ]
    )
    return html.Div(html.Table([head, body], className="runs"), className="scroll", tabIndex="0")


def _row(entry: Entry, *, told_apart: bool) -> html.Tr:
    """A run; with the folder it lies in where another is called the same."""
    manifest, address = entry.manifest, quote(entry.key)
    where = dcc.Link(str(manifest.get("figure", entry.name)), href=f"/run/{address}", className="strong")
    folder = "/".join(entry.key.split("/")[:-3]) or entry.key
    beside = manifest.get("study") if entry.shipped else folder if told_apart else ""
    prompt = dcc.Link("prompt", href=f"/prompt/{address}", className="button") if entry.promptable else ""
    return html.Tr(
        [
            html.Td([where, html.Small(f" {beside}")]),
            html.Td(str(manifest.get("title", ""))),
            html.Td(str(manifest.get("scale", ""))),
            html.Td(_members(entry)),
            html.Td(_claims(entry)),
            html.Td([badge(entry.status), _progress(entry)]),
            html.Td(prompt),
        ],
        id=f"row-{entry.key.replace('.', '-')}",
    )


def _broken(entry: Entry) -> html.Tr:
    """A folder that cannot be read is shown as such."""
    cells = [
        html.Td(entry.name),
        html.Td(entry.problem, colSpan=4, className="trouble"),
        html.Td(badge("damaged")),
    ]
    return html.Tr([*cells, html.Td("")], className="broken")


def _members(entry: Entry) -> str:
    if not entry.members:
        return "none: computed"
    counts = Counter(state.status for state in entry.members)
    if set(counts) == {"complete"}:
        return str(len(entry.members))
    return ", ".join(f"{number} {status}" for status, number in counts.items())


def _claims(entry: Entry) -> Any:
    try:
        verdicts = entry.run.verdicts
    except InputError:
        return html.Span("unreadable", className="trouble")
    marks = [
        html.B(
            VERDICT_SYMBOLS[v.verdict],
            className=v.verdict.replace(" ", "-"),
            title=f"{v.verdict}: {v.statement}",
        )
        for v in verdicts
    ]
    words = ", ".join(f"{n} {name}" for name, n in Counter(v.verdict for v in verdicts).items())
    if not marks:
        return html.Span("none made", className="muted") if makes_no_claim(entry.run, entry.manifest) else "–"
    return html.Span(marks, className="claim-marks", role="img", **aria(label=words))  # pyright: ignore


def _progress(entry: Entry) -> Any:
    if entry.status not in ("running", "unfinished"):
        return _ended(entry)
    share = entry.share
    ago = max(0, round(time.time() - entry.changed)) if entry.changed else None
    said = f"{share:.0%}" + (f", changed {_ago(ago)} ago" if ago is not None else "")
    bar = html.Div(html.Div(style={"width": f"{100 * share:.1f}%"}), className="bar")
    return html.Div([bar, html.Small(said)], className="progress")


def _ended(entry: Entry) -> Any:
    """When a run ended, below its state: a column more would push what there is to prompt off half a screen."""
    try:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.ended)) if entry.ended else ""
    except (OverflowError, OSError, ValueError):  # a manifest or log that somebody else wrote
        when = ""
    return html.Div(html.Small(when, title="when it ended"), className="progress") if when else ""


def _ago(seconds: int) -> str:
    if seconds < 120:
        return f"{seconds} s"
    return f"{seconds // 60} min" if seconds < 7200 else f"{seconds // 3600} h"
