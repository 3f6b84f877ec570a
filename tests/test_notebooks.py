"""Notebooks are committed without outputs; what a reader sees without running them are pictures that are there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.notebooks import code_cells

NOTEBOOKS = sorted((Path(__file__).parents[1] / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_a_notebook_links_to_exists(path: Path) -> None:
    assert code_cells(path), "and none of them holds an output"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    for target in re.findall(r"\]\(([^)#]+)|<img src=\"([^\"]+)", text):
        place = path.parent / "".join(target)
        assert place.exists(), place
