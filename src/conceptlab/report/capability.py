"""Capability and behaviour in one space to turn (park2024, Fig. 9): what a model can draw if it is asked in another
way, against what it draws when asked plainly, step by step, a line for each seed."""

from __future__ import annotations

from typing import Any

import pandas as pd

from conceptlab.concepts import Split
from conceptlab.figures import class_colours, select
from conceptlab.report.charts import Chart

# Ways of asking from which a capability is taken, the first that was measured.
_FAMILIES = ("over-prompting", "search")


def capability_chart(curves: pd.DataFrame, split: Split) -> tuple[Chart, str] | None:
    """The chart and how to read it; None where no other way of asking was measured for a class that was held out."""
    space = split.space
    for cls in sorted(split.held_out, key=lambda c: (-split.distance(c), c)):
        for family in _FAMILIES:
            can = select(curves, "prompt_capability", family, space.code(cls))
            if len(can):
                does = select(curves, "accuracy", cls=space.code(cls))
                return _chart(can, does), _caption(space.code(cls), family, can["seed"].nunique())
    return None


def _caption(code: str, family: str, seeds: int) -> str:
    lines = "a line for each seed" if seeds > 1 else "one seed"
    return (
        f"Class {code}: accuracy by {family} (capability) against accuracy when asked plainly (behaviour); {lines}. "
        "Where a line climbs along the floor, the model can and does not. Drag or use the arrow keys to turn."
    )


def _chart(can: pd.DataFrame, does: pd.DataFrame) -> Chart:
    seeds = sorted(int(seed) for seed in can["seed"].unique())
    traces: list[dict[str, Any]] = []
    for seed, colour in class_colours(seeds).items():
        capability = can[can["seed"] == seed].groupby("step")["value"].mean()
        behaviour = does[does["seed"] == seed].groupby("step")["value"].mean().reindex(capability.index)
        steps = [int(step) for step in capability.index]
        across, up = ([_rounded(v) for v in series] for series in (capability, behaviour))
        name = f"seed {seed}"
        line = {"type": "scatter3d", "x": steps, "y": across, "legendgroup": name, "hoverinfo": "skip"}
        # The shadow on the floor is the capability alone.
        shade = {"color": colour, "width": 2}
        traces.append(
            {
                **line,
                "z": [0.0] * len(steps),
                "mode": "lines",
                "line": shade,
                "opacity": 0.4,
                "showlegend": False,
            }
        )
        traces.append(
            {
                **line,
                "z": up,
                "mode": "lines+markers",
                "name": name,
                "line": {"color": colour, "width": 5},
                "marker": {"size": 2.5, "color": colour},
                "hoverinfo": "text",
                "hovertext": [
                    f"{name}, step {s}<br>capability {_text(c)}, behaviour {_text(b)}"
                    for s, c, b in zip(steps, across, up)
                ],
            }
        )
    unit = {"range": [0, 1.02], "showbackground": False, "showspikes": False}
    layout = {
        "showlegend": len(seeds) > 1,
        "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
        "scene": {
            # Below it are the names of the seeds, on a phone in several rows.
            "domain": {"x": [0, 1], "y": [0.12, 1]},
            # Steps lie along the axis that is seen most from its end: more of them would cover each other.
            "xaxis": {
                "title": {"text": "training step"},
                "nticks": 4,
                "showbackground": False,
                "showspikes": False,
            },
            "yaxis": {"title": {"text": "capability"}, **unit},
            "zaxis": {"title": {"text": "behaviour"}, **unit},
            "aspectmode": "cube",
            "camera": {"eye": {"x": 1.6, "y": -1.8, "z": 0.9}, "center": {"x": 0, "y": 0, "z": -0.12}},
        },
    }
    return {"data": traces, "layout": layout}


def _rounded(value: Any) -> float | None:
    return None if pd.isna(value) else round(float(value), 4)


def _text(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
