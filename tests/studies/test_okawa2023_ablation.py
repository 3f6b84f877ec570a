"""`ablation`: which switches move the emergence times, told with what was never reached."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from conceptlab.studies.okawa2023 import STUDY, ablation, recipes
from conceptlab.studies.okawa2023.settings import SETTINGS
from conceptlab.studies.study import Results
from tests.studies.okawa_members import write_members

_LAST = 5000.0


def _times(factors: dict[str, list[float]]) -> pd.DataFrame:
    """Times of two classes at distance 1: those of the base, times a factor for each seed; NaN: never reached."""
    rows = [
        {
            "seed": seed,
            "switch": switch,
            "class": cls,
            "distance": 1,
            "time": start * (1 + 0.2 * seed) * factor,
        }
        for switch, by_seed in factors.items()
        for seed, factor in enumerate(by_seed)
        for cls, start in (("011", 100.0), ("101", 200.0))
    ]
    return pd.DataFrame(rows).assign(first=5.0, last=_LAST)


def test_a_switch_is_told_by_its_ratio_to_the_base_of_the_same_seed() -> None:
    times = _times(
        {"base": [1, 1, 1, 1, 1], "attention": [2.0, 1.9, 2.2, 2.0, 2.1], "batch 32": [1, 0.8, 1.2, 0.9, 1.1]}
    )
    found = ablation.shifts(times, ["base", "attention", "batch 32"]).set_index("switch")
    assert list(found.index) == ["attention", "batch 32"]
    logs = np.log([2.0, 1.9, 2.2, 2.0, 2.1])
    error = 2.776 * max(logs.std(ddof=1), ablation.TIME_RESOLUTION) / math.sqrt(5)
    assert found.loc["attention", "ratio"] == pytest.approx(math.exp(logs.mean()))
    assert found.loc["attention", "high"] == pytest.approx(math.exp(logs.mean() + error), rel=0.05)
    assert found["moved"].to_dict() == {"attention": True, "batch 32": False}
    assert (found["censored"] == 0).all()
    assert (found["note"] == "").all()


def test_a_time_never_reached_is_a_bound_and_not_left_out() -> None:
    times = _times({"base": [1.0] * 7, "attention": [3.0, 2.5, math.nan, 3.0, 2.8, 3.2, math.nan]})
    row = ablation.shifts(times, ["base", "attention"]).iloc[0]
    assert (row["seeds"], row["censored"]) == (7, 2)
    assert row["ratio"] == pytest.approx(3.0)
    assert "median" in row["note"]
    assert row["low"] > 1
    assert row["moved"]
    # With two seeds of seven at the run's end nothing bounds the typical seed from above.
    assert math.isinf(row["high"])


def test_one_seed_shows_no_interval() -> None:
    row = ablation.shifts(_times({"base": [1.0], "attention": [4.0]}), ["base", "attention"]).iloc[0]
    assert row["ratio"] == pytest.approx(4.0)
    assert (row["low"], row["high"], row["moved"]) == (0.0, math.inf, False)


def test_switches_are_drawn_in_the_order_of_the_settings(tmp_path: Path) -> None:
    wanted = recipes.ablation("small", [0, 1])
    store = write_members(wanted, tmp_path)
    results = Results([store.member(recipe) for recipe in wanted], "small", [0, 1])
    figure = STUDY.figure("ablation")
    tables = figure.tables(results)
    switches = list(SETTINGS["small"].switches)
    assert list(dict.fromkeys(tables["shifts"]["switch"])) == [*switches, "probability product"]
    page = figure.draw(results, tables)
    page.draw_without_rendering()
    below = page.axes[1]
    labels = [text.get_text().replace("\n", " ") for text in below.get_xticklabels()]
    assert labels == ["base", *switches, "probability product"]
    open_marks = [line for line in below.lines if line.get_markerfacecolor() == "white"]
    assert len(open_marks) == (~tables["shifts"]["moved"].astype(bool)).sum()


def test_a_label_never_parts_an_equation() -> None:
    assert [*ablation._wrapped(["T = 400"])] == ["T\u00a0=\u00a0400"]
    assert [*ablation._wrapped(["condition concatenated"])] == ["condition\nconcatenated"]
