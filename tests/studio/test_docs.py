"""The examples of the pages on studio and report run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conceptlab.store import FigureRun

DOCS = Path(__file__).parents[2] / "docs"


def example(page: str) -> str:
    found = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.S)
    assert found
    return "\n".join(found)


def test_the_example_of_the_studio(run: FigureRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scope: dict = {}
    exec(compile(example("studio.md"), "studio.md", "exec"), scope)
    monkeypatch.setitem(scope, "SHIPPED", tmp_path / "shipped")
    scope["ship"](str(run.path), [12])
    (kept,) = (tmp_path / "shipped").rglob("*.safetensors")
    assert kept.name == "00000012.safetensors"


def test_the_examples_of_the_report(run: FigureRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scope: dict = {}
    exec(compile(example("report.md"), "report.md", "exec"), scope)
    assert "Side by side" in scope["both"](str(run.path), str(run.path)).read_text(encoding="utf-8")
    assert 0 < scope["device_hours"](str(run.path)) < 1


@pytest.mark.parametrize("page", ["studio.md", "report.md"])
def test_pictures_are_there(page: str) -> None:
    for name in re.findall(r"!\[.*?\]\((.*?)\)", (DOCS / page).read_text(encoding="utf-8")):
        assert (DOCS / name).stat().st_size > 10_000
