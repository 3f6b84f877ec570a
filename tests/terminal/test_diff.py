"""Two runs in the terminal: what differs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rich.console import Console

from conceptlab.terminal.diff import diff
from tests.figures import synthetic


def test_a_value_that_is_only_a_bound_is_compared_as_one(tmp_path: Path) -> None:
    exact = synthetic.verdicts()[:1]
    bound = [replace(exact[0], note="value is a lower bound on the median")]
    synthetic.figure_run(tmp_path / "a", [], judged=exact)
    synthetic.figure_run(tmp_path / "b", [], judged=bound)
    console = Console(width=140)
    with console.capture() as caught:
        console.print(diff(tmp_path / "a", tmp_path / "b"))
    (line,) = [line for line in caught.get().splitlines() if "quickstart.order" in line]
    assert "reproduced (1.42)" in line
    assert "reproduced (≥ 1.42)" in line
