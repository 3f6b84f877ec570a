"""A lesson: why abilities that need several concepts look as if they came suddenly (okawa2023, Sec. 4).

One sets how often each variable alone is drawn right. If variables fail independently, all are right together with the
product of these accuracies; the mean, which suggests smooth progress, says something else.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from dash import Dash, Input, Output, html
from scipy.stats import qmc

from conceptlab.figures import variable_colours
from conceptlab.figures.style import INK
from conceptlab.report.embed import pixels_uri
from conceptlab.studio.context import Studio
from conceptlab.studio.elements import Chart, card, chart_of, graph, heading, slider, slider_id, themed
from conceptlab.theory import toy
from conceptlab.worlds import build as build_world

_LEAD = (
    "Suppose a model is asked for small blue triangles on white. Set how often it gets each variable right by itself, "
    "and see how often everything is right at once."
)
_COINS = (
    "Each variable is right or wrong by a coin of its own, evenly spread. Framed green: everything is right."
)
_SUDDEN = (
    "If every step teaches each variable with the same small chance, one ability rises at once and smoothly; several "
    "together wait, then rise steeply (okawa2023, Figure 7)."
)
_VARIABLES = ("shape", "size", "colour", "background")
_START = {"shape": 0.9, "size": 0.8, "colour": 0.7, "background": 0.9}
_TILES, _COLUMNS = 60, 12
_RIGHT, _WRONG = (0, 115, 92), (222, 223, 226)
_MULTIPLICATIVE, _ADDITIVE = "#56B4E9", "#8a8f98"
# A rate at which single abilities are learnt; any other only stretches the axis.
_RATE, _STEPS = 0.01, 700


def layout(studio: Studio, rest: str, asked: dict[str, str]) -> Any:
    colours = variable_colours(_VARIABLES)
    sliders = [
        slider(
            slider_id("lesson", "accuracy", name),
            [html.I(className="dot", style={"background": colours[name]}), f"{name} right"],
            0,
            1,
            0.01,
            _START[name],
        )
        for name in _VARIABLES
    ]
    count = slider(slider_id("lesson", "count", "variables"), "variables that must be right", 1, 4, 1, 3)
    return [
        heading("Lesson: all at once", _LEAD),
        html.Div(
            [
                card(
                    "",
                    count,
                    *sliders,
                    html.P(id="lesson-said", className="said", role="status"),
                    className="controls",
                ),
                html.Div(
                    [
                        card(
                            "Sixty drawings",
                            html.Img(id="lesson-sheet", alt="", className="pixels wide"),
                            html.P(id="lesson-counted", className="hint"),
                            hint=_COINS,
                        ),
                        card(
                            "Product or mean",
                            graph(
                                "lesson-bars",
                                label="Single accuracies, their product and their mean",
                                height="235px",
                            ),
                        ),
                        card(
                            "Why it looks sudden",
                            graph(
                                "lesson-curves",
                                label="Chance of having learnt all variables through training",
                                height="235px",
                            ),
                            hint=_SUDDEN,
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
        Output("lesson-sheet", "src"),
        Output("lesson-sheet", "alt"),
        Output("lesson-counted", "children"),
        chart_of("lesson-bars"),
        chart_of("lesson-curves"),
        Output("lesson-said", "children"),
        *[Output(slider_id("lesson", "accuracy", name), "disabled") for name in _VARIABLES],
        Input(slider_id("lesson", "count", "variables"), "value"),
        *[Input(slider_id("lesson", "accuracy", name), "value") for name in _VARIABLES],
    )
    def show(count: Any, *values: Any) -> Any:
        number = int(count)
        single = {name: float(value) for name, value in zip(_VARIABLES[:number], values)}
        product, mean = outcomes(single)
        sheet, right = _sheet(tuple(single.values()))
        counted = f"{right} of {_TILES} are right in everything: {right / _TILES:.0%}."
        said = f"Multiplicative: {product:.0%} right. Additive: {mean:.0%}. " + (
            f"With {number} variables the mean promises {100 * (mean - product):.0f} points too much."
            if number > 1
            else "With one variable there is no difference."
        )
        alt = f"Sixty simulated drawings; {right} have every variable right"
        charts = themed(_bars(single)), themed(_curves(number))
        return sheet, alt, counted, *charts, said, *(name not in single for name in _VARIABLES)


def outcomes(single: dict[str, float]) -> tuple[float, float]:
    """Product and mean of single accuracies: the multiplicative and the additive outcome (okawa2023, Sec. 4.1)."""
    values = np.array(list(single.values()))
    return float(values.prod()), float(values.mean())


@cache
def _pictures() -> np.ndarray:
    """A picture of every class: uint8 (2, 2, 2, 2, H, W, 3)."""
    world = build_world(name="shapes", variables=_VARIABLES, shapes=["circle", "triangle"], location=0.0, angle=0.0,
                        backgrounds=[["black", (0.0, 0.0, 0.0)], ["white", (1.0, 1.0, 1.0)]],
        size_jitter=0.0, colour_jitter=0.0)  # fmt: skip
    images = np.stack([world.sample(cls, 1, seed=0).images[0].numpy() for cls in world.space])
    pixels = (images.transpose(0, 2, 3, 1) * 255).round().astype(np.uint8)
    return pixels.reshape(2, 2, 2, 2, *pixels.shape[1:])


def _sheet(accuracies: tuple[float, ...]) -> tuple[str, int]:
    """Drawings in which each variable is right with its own chance; the coins stay the same while sliders move."""
    # Sobol points: as independent as coins, and so even that sixty of them show the share that is expected.
    coins = qmc.Sobol(len(_VARIABLES), rng=1).random(64)[:_TILES]
    right = coins < np.array([*accuracies, *[1.0] * (len(_VARIABLES) - len(accuracies))])
    pictures, edge = _pictures(), 2
    size = pictures.shape[-2] + 2 * edge
    gap, rows = 2, _TILES // _COLUMNS
    page = np.full((rows * (size + gap) - gap, _COLUMNS * (size + gap) - gap, 3), 255, np.uint8)
    for number, values in enumerate(right):
        tile = np.empty((size, size, 3), np.uint8)
        tile[:] = _RIGHT if values.all() else _WRONG
        tile[edge:-edge, edge:-edge] = pictures[tuple(values.astype(int))]
        row, column = divmod(number, _COLUMNS)
        page[row * (size + gap) :, column * (size + gap) :][:size, :size] = tile
    return pixels_uri(page, exact=True), int(right.all(1).sum())


def _bars(single: dict[str, float]) -> Chart:
    product, mean = outcomes(single)
    colours = variable_colours(_VARIABLES)
    names = [*single, "all: product", "mean"]
    values = [*single.values(), product, mean]
    bar = {
        "type": "bar",
        "x": names,
        "y": [round(v, 4) for v in values],
        "text": [f"{v:.2f}" for v in values],
        "textposition": "outside",
        "cliponaxis": False,
        "marker": {"color": [*[colours[name] for name in single], INK, _ADDITIVE]},
        "hoverinfo": "skip",
    }
    layout = {
        "yaxis": {"title": {"text": "share right"}, "range": [0, 1.1]},
        "xaxis": {"automargin": True},
        "margin": {"l": 52, "r": 8, "t": 14, "b": 40},
    }
    return {"data": [bar], "layout": layout}


def _curves(count: int) -> Chart:
    steps = np.linspace(0, _STEPS, 141)
    traces = []
    for n in range(1, 5):
        line = {
            "color": INK if n == count else _MULTIPLICATIVE if n > 1 else _ADDITIVE,
            "width": 3 if n == count else 1.3,
        }
        chance = toy.success_probability(steps, _RATE, n)
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "x": steps.tolist(),
                "y": [round(float(c), 4) for c in chance],
                "name": str(n),
                "line": {
                    **line,
                    "dash": ("solid", "dot", "dash", "longdash")[n - 1] if n != count else "solid",
                },
            }
        )
    layout = {
        "xaxis": {"title": {"text": "training step"}, "rangemode": "tozero"},
        "yaxis": {"title": {"text": "chance of all"}, "range": [0, 1.03]},
        # Short names: longer ones would stand in rows over the curves where the page is narrow.
        "legend": {"orientation": "h", "y": 1.2, "x": 0, "title": {"text": "variables: "}},
        "margin": {"l": 52, "r": 14, "t": 30, "b": 44},
    }
    return {"data": traces, "layout": layout}
