"""The notebook of yang2025 runs from top to bottom and shows what its text says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.notebooks import run_notebook

NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebooks" / "yang2025.ipynb"


def test_the_notebook_runs() -> None:
    names = run_notebook(NOTEBOOK)
    assert names["closed_form_error"] < 1e-12
    # the flow's turning points; gradient descent at rate .01 turns at .302 and .455
    assert names["turns"][1:3] == pytest.approx([0.306, 0.454], abs=2e-3)
    assert names["away"].swings.descents[0] == 1
    assert 0.15 < names["shares"][0.1, 4.0] < 0.35
    assert names["shares"][0.1, 1.0] == 0
    assert len(names["verdicts"]) == len(names["figure"].claims)
