"""What one turns and hovers over: plotly figures as plain data, drawn by plotly.js in the page.

Colours are those of the printed figures. Backgrounds are left clear and text colours unset: `theme.js` fills them in
and lightens what is too dark for a dark page, so that charts follow the reader's theme.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from conceptlab.concepts import Class, ConceptSpace, Split, concept_graph, positions
from conceptlab.figures import (
    distance_colour,
    distance_name,
    mean_paths,
    over_seeds,
    seed_paths,
    select,
)

Chart = dict[str, Any]

# Above this many points the thin lines of single seeds are left out: the page stays quick to turn.
_MOST_POINTS = 6000
_PLOTLY_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross")


def concept_space_chart(curves: pd.DataFrame | None, split: Split) -> Chart:
    """The concept graph; for two or three variables with every class's trajectory through training, if there is any."""
    space = split.space
    where = {cls: np.asarray(place) for cls, place in positions(space).items()}
    deep = len(space.concepts) == 3
    traces = [_edges(space, where, deep)]
    if curves is not None and len(space.concepts) in (2, 3):
        traces += _trajectories(curves, space, split, deep)
    traces += _nodes(curves, space, split, where, deep)
    layout: Chart = {"showlegend": True, "margin": {"l": 0, "r": 0, "t": 0, "b": 0}}
    if deep:
        axes = {f"{axis}axis": _value_axis(space, place) for axis, place in zip("xyz", range(3))}
        layout["scene"] = {
            **axes,
            "aspectmode": "cube",
            "camera": {"eye": {"x": 1.45, "y": -1.9, "z": 0.8}, "center": {"x": 0, "y": 0, "z": -0.12}},
        }
    elif len(space.concepts) <= 2:
        layout["xaxis"] = _value_axis(space, 0)
        layout["yaxis"] = _value_axis(space, 1) if len(space.concepts) == 2 else {"visible": False}
        layout["margin"] = {"l": 70, "r": 10, "t": 10, "b": 50}
    else:
        layout |= {"xaxis": {"visible": False}, "yaxis": {"visible": False}}
        # The names of the topmost classes stand above them.
        layout["margin"] = {"l": 0, "r": 0, "t": 16, "b": 0}
    return {"data": traces, "layout": layout}


def _value_axis(space: ConceptSpace, place: int) -> Chart:
    variable = space.concepts[place]
    last = len(variable.values) - 1
    return {
        "title": {"text": variable.name},
        "tickvals": list(range(last + 1)),
        "ticktext": list(variable.values),
        "range": [-0.18, last + 0.18],
        "showgrid": False,
        "zeroline": False,
        "showbackground": False,
        "showspikes": False,
    }


def _line(path: np.ndarray, deep: bool, **settings: Any) -> Chart:
    """A trace through points (n, 2 or 3); one variable alone lies on a line."""
    # Nobody reads a place off: a thousandth of the way between two values is less than a pixel.
    columns = [_clean(column, 3) for column in path.T]
    if len(columns) == 1:
        columns.append([None if x is None else 0.0 for x in columns[0]])
    kind = "scatter3d" if deep else "scatter"
    return {"type": kind, **dict(zip("xyz" if deep else "xy", columns)), **settings}


def _edges(space: ConceptSpace, where: dict[Class, np.ndarray], deep: bool) -> Chart:
    gap = np.full_like(next(iter(where.values())), np.nan)
    path = np.array([point for a, b in concept_graph(space).edges for point in (where[a], where[b], gap)])
    style = {"color": "#9aa1ab", "width": 2 if deep else 1}
    return _line(path, deep, mode="lines", line=style, hoverinfo="skip", showlegend=False)


def _nodes(
    curves: pd.DataFrame | None, space: ConceptSpace, split: Split, where: dict[Class, np.ndarray], deep: bool
) -> list[Chart]:
    final = {} if curves is None else final_accuracies(curves)
    traces = []
    for distance, classes in split.by_distance().items():
        about = [f"{space.code(cls)}: {space.words(cls)}" for cls in classes]
        if curves is not None:
            ends = [_share(final.get(space.code(cls))) for cls in classes]
            about = [f"{text}<br>final accuracy {end}" for text, end in zip(about, ends)]
        traces.append(
            _line(
                np.array([where[cls] for cls in classes]),
                deep,
                mode="markers+text",
                text=[space.code(cls) for cls in classes],
                textposition="top center",
                hovertext=[_html(text) for text in about],
                hoverinfo="text",
                name=distance_name(distance),
                marker={
                    "size": 8 if deep else 14,
                    "color": distance_colour(distance),
                    "symbol": "circle" if deep else _PLOTLY_SYMBOLS[min(distance, 5)],
                },
                **({} if deep else {"cliponaxis": False}),  # names at the edge are whole
            )
        )
    return traces


def _trajectories(curves: pd.DataFrame, space: ConceptSpace, split: Split, deep: bool) -> list[Chart]:
    means = mean_paths(curves, space)
    seeds = curves["seed"].nunique()
    thin = seeds > 1 and seeds * sum(len(path) for path in means.values()) <= _MOST_POINTS
    singles = seed_paths(curves, space) if thin else {}
    steps = _steps(curves)
    traces = []
    for cls, path in means.items():
        colour = distance_colour(split.distance(cls))
        for single in singles.get(cls, {}).values():
            style = {"color": colour, "width": 1.5 if deep else 0.8}
            traces.append(
                _line(
                    single, deep, mode="lines", line=style, opacity=0.35, hoverinfo="skip", showlegend=False
                )
            )
        traces.append(
            _line(
                path,
                deep,
                mode="lines+markers",
                line={"color": colour, "width": 5 if deep else 2.5},
                marker={"size": 2.5 if deep else 4, "color": colour},
                hovertext=[
                    f"asked for {space.code(cls)}, step {step}"
                    for step in steps[space.code(cls)][: len(path)]
                ],
                hoverinfo="text",
                showlegend=False,
            )
        )
    return traces


def _steps(curves: pd.DataFrame) -> dict[str, list[int]]:
    """The steps at which each class has coordinates."""
    rows = curves[curves["measure"] == "coordinate"].dropna(subset=["value"])
    return {
        str(code): sorted(int(step) for step in steps)
        for code, steps in rows.groupby("class")["step"].unique().items()
    }


def accuracy_chart(curves: pd.DataFrame) -> Chart:
    """Accuracy by concept distance: the mean over seeds, with a band of one standard deviation. What is corrected for
    the errors of the probe is dashed, where there is any."""
    layout = {
        "xaxis": {"title": {"text": "training step"}, "rangemode": "tozero"},
        "yaxis": {"title": {"text": "accuracy"}, "range": [-0.03, 1.03]},
        "margin": {"l": 55, "r": 10, "t": 10, "b": 45},
    }
    return {"data": [*_by_distance(curves, "accuracy"), *_by_distance(curves, "corrected")], "layout": layout}


def _by_distance(curves: pd.DataFrame, measure: str) -> list[Chart]:
    traces: list[Chart] = []
    dash, addition = ("solid", "") if measure == "accuracy" else ("dash", f", {measure}")
    rows = select(curves, measure).dropna(subset=["distance"])
    for key, part in rows.groupby("distance", sort=True):
        distance = int(float(str(key)))
        found, colour, name = over_seeds(part), distance_colour(distance), distance_name(distance) + addition
        steps, mean = found["step"].tolist(), found["mean"].to_numpy(float)
        spread = np.nan_to_num(found["std"].to_numpy(float))
        if spread.any():
            hidden = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
            edge = {"type": "scatter", "x": steps, **hidden, "legendgroup": name}
            traces.append({**edge, "y": _clean(mean - spread)})
            traces.append(
                {**edge, "y": _clean(mean + spread), "fill": "tonexty", "fillcolor": _faint(colour)}
            )
        traces.append(
            {
                "type": "scatter",
                "x": steps,
                "y": _clean(mean),
                "name": name,
                "legendgroup": name,
                "mode": "lines+markers",
                "line": {"color": colour, "width": 2.5, "dash": dash},
                "marker": {"symbol": _PLOTLY_SYMBOLS[min(distance, 5)], "size": 7, "color": colour},
                "hovertemplate": "step %{x}: %{y:.2f}<extra>" + name + "</extra>",
            }
        )
    return traces


def final_accuracies(curves: pd.DataFrame) -> dict[str, float]:
    """The last joint accuracy of each class, averaged over seeds."""
    rows = select(curves, "accuracy")
    last = rows[rows["step"] == rows["step"].max()]
    return {str(code): float(value) for code, value in last.groupby("class")["value"].mean().items()}


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.18)"


def _clean(values: np.ndarray, digits: int = 4) -> list[float | None]:
    """Rounded, with gaps as null: JSON has no NaN."""
    return [round(float(v), digits) if math.isfinite(v) else None for v in values]


def _share(value: float | None) -> str:
    return "not measured" if value is None or not math.isfinite(value) else f"{value:.2f}"


def _html(text: str) -> str:
    """Plotly reads hover texts as HTML; names come from users. Only our own line break stays."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return escaped.replace("&lt;br&gt;", "<br>")
