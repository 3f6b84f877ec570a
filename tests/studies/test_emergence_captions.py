"""Captions of curves by distance speak of marks, thin lines and pale parts only where these are drawn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from conceptlab import figures
from conceptlab.studies.emergence_captions import marks_text, pale_text

NEVER = float("nan")
CLASSES = {"00": 0, "01": 0, "10": 0, "11": 1}


def times(*seeds: dict[str, float]) -> pd.DataFrame:
    rows = [(i, cls, CLASSES[cls], time, 100) for i, seed in enumerate(seeds) for cls, time in seed.items()]
    return pd.DataFrame(rows, columns=["seed", "class", "distance", "time", "last"])


def curves(seeds: int, classes: dict[str, int] = CLASSES) -> pd.DataFrame:
    rows = [
        (seed, step, cls, d) for seed in range(seeds) for step in (10, 50, 100) for cls, d in classes.items()
    ]
    table = pd.DataFrame(rows, columns=["seed", "step", "class", "distance"])
    return table.assign(measure="accuracy", weights="raw", variable="", value=0.5)


ALL = {"00": 20.0, "01": 30.0, "10": 40.0, "11": 90.0}
SOME = {"00": 20.0, "01": NEVER, "10": 40.0, "11": NEVER}
NONE = dict.fromkeys(ALL, NEVER)


@pytest.mark.parametrize(
    ("seeds", "marks", "said"),
    [
        ((ALL,), 2, "Thin: single classes. Marks in b: the first of three evaluations in a row at 0.8 or above."),
        ((ALL, ALL, SOME), 2, "Marks in b: median over seeds of the first of three evaluations in a row at 0.8 or "
         "above, with the range over seeds."),
        ((SOME,), 0, "At no distance do all classes stay at accuracy 0.8 for three evaluations: no marks."),
        ((ALL, SOME), 0, "for three evaluations in more than half of the seeds: no marks."),
        ((NONE, NONE), 0, "No class stays at accuracy 0.8 for three evaluations."),
    ],
)  # fmt: skip
def test_marks_are_told_of_where_there_are_any(seeds, marks, said):
    ax = Figure().add_subplot()
    found = figures.emergence_marks(ax, times(*seeds), 0.8, first=10.0)
    drawn = [line for line in ax.lines if len(np.atleast_1d(line.get_xdata())) == 1]
    assert len(found) == len(drawn) == marks
    text = marks_text(curves(len(seeds)), times(*seeds), 0.8, found)
    assert text.endswith(said)
    assert ("Marks" in text) == bool(marks)


def test_thin_lines_are_told_of_where_a_distance_has_several_classes():
    single = {"00": 0, "11": 1}
    assert marks_text(curves(2), times(ALL, ALL), 0.8, [0]).startswith("Thin")
    assert marks_text(curves(2, single), times(ALL, ALL), 0.8, [0]).startswith("Marks")


@pytest.mark.parametrize(
    ("seeds", "until", "said"),
    [
        (1, 50.0, "Pale: before the model draws two training classes; nothing counts before it does."),
        (1, np.inf, "Pale: the model never draws two training classes; nothing counts."),
        (4, 50.0, "Pale: before half of the seeds draw two training classes; nothing counts in a seed before it does."),
        (4, np.inf, "Pale: no more than half of the seeds ever draw two training classes; nothing counts in a seed "
         "before it does."),
        (4, 10.0, ""),  # drawn at the first evaluation: no curve lies before it
    ],
)  # fmt: skip
def test_pale_is_told_of_where_something_is(seeds, until, said):
    assert pale_text(curves(seeds), until) == said
