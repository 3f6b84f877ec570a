"""What `conceptlab elicit` prints."""

from __future__ import annotations

import io
import math

import pandas as pd
import pytest
from rich.console import Console
from scipy import stats

from conceptlab.terminal.elicit import ways_table


@pytest.mark.parametrize(("probes", "said"), [(1, "what the probe reads"), (2, "what both probes read")])
def test_the_table_speaks_of_as_many_probes_as_there_are(probes: int, said: str) -> None:
    ways = pd.DataFrame(
        [{"step": 4, "way": "redraws", "prompt": "draw 1", "accuracy": 0.5, "read": 0.5, "scored": 8}]
    )
    table = ways_table(ways, "class 11", probes=probes)
    assert str(table.caption).startswith(f"held-out accuracy: {said} as the class")


def test_both_readings_are_told_where_they_differ_and_why_either_may_be_larger() -> None:
    rows = [
        ("redraws", "draw 2", 0.22, 0.25, 32),
        ("latent", "colour × 4", 1.0, 0.99, 32),
        ("patch", "", 0.5, math.nan, 4),
    ]
    told = _printed(rows)
    for cell in ("0.22 (0.25)", "1.00 (0.99)", "0.50 "):
        assert cell in told
    assert "it chooses its own prompts" in " ".join(told.split())


def test_every_share_has_its_interval_over_images() -> None:
    told = _printed([("redraws", "draw 2", 0.5, 0.75, 4), ("search", "colour × 4", 1.0, 1.0, 2)])
    for share, images in ((2, 4), (3, 4), (2, 2)):
        found = stats.binomtest(share, images).proportion_ci(0.95, method="exact")
        assert f"{found.low:.2f}–{found.high:.2f}" in told
    assert "of this one model, and no verdict over seeds" in " ".join(told.split())


def _printed(rows: list[tuple[str, str, float, float, int]]) -> str:
    columns = ["step", "way", "prompt", "accuracy", "read", "scored"]
    console = Console(width=140, file=io.StringIO(), record=True)
    console.print(ways_table(pd.DataFrame([(100, *row) for row in rows], columns=columns), "class 11"))
    return console.export_text()
