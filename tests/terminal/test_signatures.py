"""Below the verdicts a run says how its members failed; figures of the same members say it once."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from conceptlab.errors import InputError
from conceptlab.terminal.signatures import signature_table
from tests.figures import synthetic

FOUND = [
    {"name": "held-out classes at chance", "shown": 2, "of": 5, "seen": "mean accuracy 0.06 … 0.31 [of 1]"},
    {"name": "no delay of rare values", "shown": 0, "of": 0, "seen": "nothing to compare"},
]


def _printed(table: object) -> str:
    console = Console(width=140)
    with console.capture() as caught:
        console.print(table)
    return caught.get()


def test_figures_that_tell_the_same_share_a_block(tmp_path: Path) -> None:
    runs = [
        synthetic.figure_run(tmp_path, [], study="okawa2023", figure=figure, signatures=found)
        for figure, found in (("fig5", FOUND), ("fig2", []), ("fig6", FOUND), ("fig8", FOUND[:1]))
    ]
    text = _printed(signature_table(runs))
    assert "okawa2023.fig5, fig6" in text
    assert "fig2" not in text
    assert text.count("held-out classes at chance") == 2
    assert text.count("2 of 5") == 2
    assert text.count("[of 1]") == 2, "brackets are text, not markup"
    (nothing,) = [line for line in text.splitlines() if "no delay" in line]
    assert "–" in nothing


def test_without_signatures_nothing_is_printed_and_damage_is_named(tmp_path: Path) -> None:
    plain = synthetic.figure_run(tmp_path / "plain", [])
    assert plain.signatures == []
    assert signature_table([plain]) is None
    for damaged in ([{"name": "cut off"}], "text", [1], 3):
        run = synthetic.figure_run(tmp_path / "damaged", [], signatures=damaged)
        with pytest.raises(InputError, match=r"manifest\.json is damaged: its signatures"):
            signature_table([run])
