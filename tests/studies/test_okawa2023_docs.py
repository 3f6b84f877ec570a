"""The example of docs/okawa2023.md is the paper's, and the notebook runs from top to bottom."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from conceptlab.studies.okawa2023 import STUDY, recipes
from tests.notebooks import run_notebook

DOCS = Path(__file__).parents[2] / "docs"


def _page() -> str:
    return (DOCS / "okawa2023.md").read_text(encoding="utf-8")


def test_the_papers_graph_split_and_sweep_in_under_thirty_lines() -> None:
    (source,) = re.findall(r"```python\n(.*?)```", _page(), re.DOTALL)
    assert len(source.splitlines()) < 30
    names: dict[str, Any] = {}
    exec(compile(source, "docs/okawa2023.md", "exec"), names)
    assert (len(names["graph"].nodes), len(names["graph"].edges)) == (8, 12)
    assert names["distances"] == {
        "000": 0, "001": 0, "010": 0, "011": 1, "100": 0, "101": 1, "110": 1, "111": 2,
    }  # fmt: skip
    assert len(names["sweep"]) == 25
    assert {recipes.count_of(recipe, "001") for recipe in names["sweep"]} == {10, 30, 100, 300, 1250}


def test_the_page_names_every_figure_and_claim() -> None:
    page = _page()
    for figure in STUDY.figures:
        number = figure.id.removeprefix("fig")
        assert figure.id in page or (number in {"14", "15"} and "fig13–15" in page)
        assert all(f"`{claim.id.rpartition('.')[2]}`" in page for claim in figure.claims), figure.id


def test_the_notebook_runs() -> None:
    names = run_notebook(DOCS / "notebooks" / "okawa2023.ipynb")
    assert len(names["graph"].edges) == 12
    assert set(names["capability"].columns) == {"shape", "size", "colour"}
    assert names["capability"].to_numpy().min() >= 0
    assert len(names["signatures"]) == 2
    assert {"new", "old", "unseen"} <= set(names["finals"].columns)
