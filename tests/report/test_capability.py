"""Capability and behaviour in three dimensions: the numbers that were measured, and no chart where none were."""

from __future__ import annotations

import pandas as pd

from conceptlab.concepts import ConceptSpace, Split, Variable
from conceptlab.report.capability import capability_chart

SPACE = ConceptSpace([Variable("colour", ("red", "blue")), Variable("size", ("big", "small"))])
SPLIT = Split(SPACE, {"00": 1, "01": 1, "10": 1})


def rows(seed: int, measure: str, variable: str, values: list[float], cls: str = "11") -> pd.DataFrame:
    found = {"seed": seed, "step": [10, 20, 30], "weights": "raw", "class": cls}
    return pd.DataFrame({**found, "variable": variable, "measure": measure, "value": values})


def test_a_line_for_each_seed_with_its_shadow_on_the_floor():
    table = pd.concat(
        [rows(s, "prompt_capability", "over-prompting", [0.1, 0.8, 0.9]) for s in (0, 3)]
        + [rows(s, "accuracy", "", [0.0, 0.1, float("nan")]) for s in (0, 3)]
    )
    found = capability_chart(table, SPLIT)
    assert found is not None
    chart, caption = found
    assert "Class 11" in caption
    lines = [trace for trace in chart["data"] if trace.get("name")]
    assert [line["name"] for line in lines] == ["seed 0", "seed 3"]
    assert lines[0]["x"] == [10, 20, 30]
    assert lines[0]["y"] == [0.1, 0.8, 0.9]
    assert lines[0]["z"] == [0.0, 0.1, None]
    assert chart["data"][0]["z"] == [0.0, 0.0, 0.0]
    assert chart["layout"]["scene"]["xaxis"]["nticks"] <= 4  # foreshortened, eight of them covered each other


def test_another_way_of_asking_stands_in_and_without_any_there_is_no_chart():
    behaviour = rows(0, "accuracy", "", [0.0, 0.1, 0.2])
    assert capability_chart(behaviour, SPLIT) is None
    found = capability_chart(pd.concat([behaviour, rows(0, "prompt_capability", "search", [0.5] * 3)]), SPLIT)
    assert found is not None
    assert "search" in found[1]
    assert found[0]["layout"]["showlegend"] is False
    # Training classes have no hidden capability.
    seen = rows(0, "prompt_capability", "over-prompting", [1.0] * 3, cls="00")
    assert capability_chart(pd.concat([behaviour, seen]), SPLIT) is None
