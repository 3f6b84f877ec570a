"""The command that goes on with a run works from wherever it is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from conceptlab.store import go_on
from tests.figures import synthetic

COMMAND = "conceptlab run quickstart --plugin mine.py"


@pytest.mark.parametrize(
    ("begun", "told"),
    [
        ({}, "{command} --out {runs}"),
        ({"directory": "here"}, "{command} --out {runs}"),
        ({"directory": "over there"}, "cd '{place}/over there' && {command} --out {runs}"),
        ({"directory": "gone"}, "{command} --out {runs}"),
    ],
)
def test_files_are_named_as_they_are_seen_from_where_it_was_begun(tmp_path, monkeypatch, begun, told):
    for name in ("here", "over there"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    place = {name: str(tmp_path / folder) for name, folder in begun.items()}
    run = synthetic.figure_run(Path("runs"), [], command=COMMAND, **place)
    assert go_on(run) == told.format(command=COMMAND, runs=tmp_path / "here" / "runs", place=tmp_path)
