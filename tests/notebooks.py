"""Runs a notebook without Jupyter: its code cells in order, in one namespace, as a reader would."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def code_cells(path: Path) -> list[str]:
    """The source of every code cell; a committed notebook must hold no outputs."""
    cells = [
        cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"
    ]
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in cells), (
        f"{path}: clear outputs"
    )
    return ["".join(cell["source"]) for cell in cells]


def run_notebook(path: Path) -> dict[str, Any]:
    """The names that the notebook leaves behind; an error names the cell it happened in."""
    names: dict[str, Any] = {"__name__": "__notebook__"}
    for number, source in enumerate(code_cells(path), start=1):
        exec(compile(source, f"{path.name}, code cell {number}", "exec"), names)
    return names
