"""The frame around the pages: navigation, addresses, and what all of them share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote

from dash import MATCH, Dash, Input, Output, State, dcc, html, set_props

from conceptlab.errors import InputError
from conceptlab.report.page import environment
from conceptlab.studio.context import Studio
from conceptlab.studio.elements import GRAPHS, aria, heading, problem
from conceptlab.studio.pages import browse, designer, lesson, playground, prompt, run

PAGES: dict[str, tuple[str, Callable[[Studio, str, dict[str, str]], Any]]] = {
    "": ("Runs", browse.layout),
    "prompt": ("Prompt", prompt.layout),
    "playground": ("Playground", playground.layout),
    "designer": ("Designer", designer.layout),
    "lesson": ("Lesson", lesson.layout),
    "run": ("", run.layout),
}


def build(studio: Studio) -> Dash:
    """The whole app, ready for a server."""
    app = Dash(
        "conceptlab.studio",
        title="conceptlab studio",
        update_title=None,  # pyright: ignore[reportArgumentType]
        assets_folder=str(Path(__file__).parent / "assets"),
        serve_locally=True,
        suppress_callback_exceptions=True,
        meta_tags=[{"name": "viewport", "content": "width=device-width, initial-scale=1"}],
        index_string=_index(),
        on_error=_say,
    )
    app.layout = _frame
    _navigate(app, studio)
    _show_slider_values(app)
    _colour_charts(app)
    for page in (browse, run, prompt, playground, designer, lesson):
        page.register(app, studio)
    return app


def _index() -> str:
    """The page around the app, with the report's theme: both have the same colours, light or dark."""
    style, script = (environment().get_template(f"theme.{kind}").render() for kind in ("css", "js"))
    return f"""<!doctype html>
<html lang="en">
<head>{{%metas%}}<title>{{%title%}}</title><style>{style}</style>{{%css%}}<script>{script}</script></head>
<body>{{%app_entry%}}{{%config%}}{{%scripts%}}{{%renderer%}}</body>
</html>"""


def _frame() -> html.Div:
    links = [
        dcc.Link(title, href=f"/{name}", id=f"to-{name or 'runs'}")
        for name, (title, _) in PAGES.items()
        if title
    ]
    return html.Div(
        [
            html.A("Skip to the content", href="#page", className="skip"),
            dcc.Location(id="address"),
            dcc.Store(id="scheme"),
            html.Nav(
                [dcc.Link([html.B("conceptlab"), " studio"], href="/", className="brand"), html.Div(links)],
                **aria(label="Pages"),
            ),
            html.Div(id="trouble"),
            html.Main(id="page", tabIndex="-1"),
        ]
    )


def _say(error: Exception) -> None:
    """What became impossible while a page is open, as when its run was deleted, in words above it; the page stays as
    it was. Anything else is a fault of ours, and the terminal's."""
    if not isinstance(error, InputError):
        raise error
    set_props("trouble", {"children": problem(str(error))})


def _navigate(app: Dash, studio: Studio) -> None:
    @app.callback(
        Output("page", "children"),
        Input("address", "pathname"),
        State("address", "search"),
        # A run of hundreds of members takes seconds to read the first time.
        running=[(Output("page", "className"), "waiting", "")],
    )
    def show(pathname: str | None, search: str | None) -> Any:
        set_props("trouble", {"children": None})  # it was another page's
        name, _, rest = unquote(pathname or "/").strip("/").partition("/")
        if name not in PAGES:
            return heading("Not here", [f"There is no page /{name}. ", dcc.Link("To the runs", href="/")])
        asked = {key: values[-1] for key, values in parse_qs((search or "").lstrip("?")).items()}
        try:
            return PAGES[name][1](studio, rest, asked)
        except InputError as error:
            return [heading("This cannot be shown"), problem(str(error))]

    app.clientside_callback(
        """function (pathname) {
            let path = pathname || "/";
            try { path = decodeURI(path); } catch { /* typed by hand: as it is */ }
            const [name = "", , ...run] = path.split("/").filter(Boolean);
            document.querySelectorAll("nav div a").forEach((link) => {
                const own = link.getAttribute("href").split("/")[1];
                const here = own === name || (own === "" && name === "run");
                here ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
            });
            const here = document.querySelector("nav a[aria-current]");
            const words = [run.join(" "), here && here.textContent, "conceptlab studio"];
            document.title = words.filter(Boolean).join(" · ");
            window.scrollTo(0, 0);
            return window.dash_clientside.no_update;
        }""",
        Output("page", "title"),
        Input("address", "pathname"),
    )


def _show_slider_values(app: Dash) -> None:
    """The number beside every slider, written in the browser: it follows the thumb without asking the server."""
    where = {"page": MATCH, "kind": MATCH, "name": MATCH}
    app.clientside_callback(
        """function (value) {
            const number = Number(value);
            return Number.isFinite(number) ? String(Math.round(number * 1000) / 1000).replace("-", "−") : "";
        }""",
        Output({"role": "shown", **where}, "children"),
        Input({"role": "slider", **where}, "value"),
    )


def _colour_charts(app: Dash) -> None:
    """Charts in the colours of the page, also when it becomes light or dark (`assets/studio.js` tells the store)."""
    for name in GRAPHS:
        app.clientside_callback(
            f"""function (chart) {{ return window.studio.paint("{name}", chart); }}""",
            Output(name, "figure"),
            Input(f"{name}-chart", "data"),
            Input("scheme", "data"),
        )
