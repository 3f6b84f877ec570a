"""The concept-graph designer: choose values, training classes and counts; see distances and the order to expect."""

from __future__ import annotations

from typing import Any

import numpy as np
from dash import ALL, Dash, Input, Output, State, ctx, dcc, html, no_update

from conceptlab.concepts import Split
from conceptlab.errors import InputError
from conceptlab.figures import distance_name
from conceptlab.report.charts import concept_space_chart
from conceptlab.report.embed import pixels_uri
from conceptlab.studio.context import Studio
from conceptlab.studio.design import (
    CHOICES,
    Expected,
    command_of,
    expectations,
    python_of,
    settings_of,
    world_of,
    world_settings,
)
from conceptlab.studio.elements import card, chart_of, chip, command, graph, heading, problem, themed
from conceptlab.worlds import World

_LEAD = (
    "Choose which values vary and which combinations the model gets to see. Every other combination has a distance "
    "from training; that distance predicts when it will be learnt."
)
_START = {
    "shape": ["circle", "triangle"],
    "size": ["large", "small"],
    "colour": ["red", "blue"],
    "background": ["white"],
}
_COUNT = 500
_MOST = 100_000


def layout(studio: Studio, rest: str, asked: dict[str, str]) -> Any:
    values = [
        html.Fieldset(
            [
                html.Legend(name),
                dcc.Checklist(
                    list(options),
                    _START[name],
                    id={"designer": "values", "variable": name},
                    className="segments",
                ),
            ]
        )
        for name, options in CHOICES.items()
    ]
    return [
        heading("Concept-graph designer", _LEAD),
        html.Div(
            [
                html.Div(
                    [
                        card("Values", *values, hint="A variable with one value stays fixed."),
                        card(
                            "Training classes",
                            html.Div(
                                [
                                    html.Button("Centre and neighbours", id="designer-around", type="button"),
                                    html.Button("All", id="designer-all", type="button"),
                                    html.Button("None", id="designer-none", type="button"),
                                ],
                                className="buttons",
                            ),
                            html.Div(id="designer-classes"),
                            hint="Images of each class in the training set; 0 holds it out.",
                        ),
                    ]
                ),
                html.Div(
                    [
                        html.Div(id="designer-problem"),
                        card(
                            "Distances",
                            graph(
                                "designer-graph",
                                label="The concept graph, classes coloured by distance from training",
                                height="340px",
                            ),
                        ),
                        card("The order to expect", html.Div(id="designer-order")),
                        card("Run it", html.Div(id="designer-command"), html.Div(id="designer-python")),
                    ]
                ),
            ],
            className="two",
        ),
    ]


def register(app: Dash, studio: Studio) -> None:
    chosen = Input({"designer": "values", "variable": ALL}, "value")

    @app.callback(
        Output("designer-classes", "children"),
        Output("designer-problem", "children"),
        chosen,
        Input("designer-around", "n_clicks"),
        Input("designer-all", "n_clicks"),
        Input("designer-none", "n_clicks"),
    )
    def classes(values: list[list[str]], *_clicks: Any) -> Any:
        try:
            world = world_of(world_settings(_chosen(values)))
        except InputError as error:
            return no_update, problem(str(error))
        codes = [world.space.code(cls) for cls in world.space]
        seen = dict.fromkeys(codes, _COUNT)
        if ctx.triggered_id == "designer-none":
            seen = {}
        elif ctx.triggered_id != "designer-all":
            around = Split.around(world.space, world.space.classes[0], _COUNT)
            seen = {world.space.code(cls): n for cls, n in around.counts.items()}
        return _tiles(world, seen), None

    @app.callback(
        chart_of("designer-graph"),
        Output("designer-order", "children"),
        Output("designer-command", "children"),
        Output("designer-python", "children"),
        Input({"designer": "count", "code": ALL}, "value"),
        State({"designer": "count", "code": ALL}, "id"),
        State({"designer": "values", "variable": ALL}, "value"),
    )
    def show(counts: list[Any], ids: list[Any], values: list[list[str]]) -> Any:
        try:
            settings = world_settings(_chosen(values))
            world = world_of(settings)
            given = {i["code"]: int(n or 0) for i, n in zip(ids, counts)}
            unread = [code for code, n in zip(given, counts) if n is None]
            split = Split(world.space, {code: n for code, n in given.items() if n > 0})
        except InputError as error:
            return no_update, problem(str(error)), "", ""
        all_settings = settings_of(settings, split)
        chart = themed(concept_space_chart(None, split))
        chart["layout"]["uirevision"] = world.space.order
        python = html.Details([html.Summary("The same in Python"), command(python_of(all_settings))])
        order = [*_unread(unread), _order(expectations(split))]
        return chart, order, command(command_of(all_settings)), python


def _chosen(values: list[list[str]]) -> dict[str, list[str]]:
    """The ticked values, in the order in which they are listed."""
    return {
        name: [value for value in options if value in ticked]
        for (name, options), ticked in zip(CHOICES.items(), values)
    }


def _tiles(world: World, seen: dict[str, int]) -> html.Div:
    """A real image of every class with the number of its training images."""
    tiles = []
    for cls in world.space:
        code, words = world.space.code(cls), world.space.words(cls)
        image = (255 * world.sample(cls, 1, seed=1).images[0].numpy()).round().astype(np.uint8)
        source = pixels_uri(world.on_paper(image).transpose(1, 2, 0), exact=True)
        count = dcc.Input(
            type="number", min=0, max=_MOST, step=1, value=seen.get(code, 0), debounce=0.3,
            id={"designer": "count", "code": code}, className="count",
        )  # fmt: skip
        tiles.append(
            html.Label(
                [
                    html.Img(src=source, alt=words, className="pixels"),
                    html.Code(code),
                    html.Small(words),
                    count,
                ]
            )
        )
    return html.Div(tiles, className="tiles")


def _unread(codes: list[str]) -> list[Any]:
    """What cannot be read in the fields of classes, which browsers give as nothing."""
    numbers = f"a whole number from 0 to {_MOST:,}"
    return [problem(f"{', '.join(codes)}: not {numbers}, so no image is counted")] if codes else []


def _order(found: list[Expected]) -> html.Ol:
    """Groups that should emerge together, one after another."""
    groups: dict[str, list[Expected]] = {}
    for one in found:
        groups.setdefault(_group(one), []).append(one)
    items = []
    for name, members in groups.items():
        chips = [
            chip(e.code, e.distance, f"{e.words}; rarest value in {e.rarest:.0%} of training images")
            for e in members
        ]
        items.append(html.Li([html.B(name), html.Div(chips, className="chips"), html.Small(_why(members))]))
    return html.Ol(items, className="order")


def _group(one: Expected) -> str:
    return "never taught" if one.missing else distance_name(one.distance)


def _why(members: list[Expected]) -> str:
    first = members[0]
    if first.missing:
        values = sorted({value for one in members for value in one.missing})
        return f"No training image shows {', '.join(values)}."
    if first.distance == 0:
        return "Seen in training: learnt first."
    shares = sorted({round(100 * one.rarest) for one in members}, reverse=True)
    share = f"{shares[0]} %" if len(shares) == 1 else f"{shares[0]} % to {shares[-1]} %"
    changes = "One change" if first.distance == 1 else f"{first.distance} changes"
    return f"{changes} away from the nearest class that was seen; the rarest value is in {share} of training images."
