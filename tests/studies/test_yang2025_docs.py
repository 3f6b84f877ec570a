"""docs/yang2025.md tells what the results at paper scale say."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

from conceptlab.claims import read_claims

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results" / "yang2025" / "paper"
ORDER = ("fig2", "fig11", "fig12")


def _row(start: str) -> str:
    """The row of a table that begins so."""
    page = (ROOT / "docs" / "yang2025.md").read_text(encoding="utf-8")
    (row,) = re.findall(rf"^\| {re.escape(start)}.*$", page, re.MULTILINE)
    return row


@pytest.mark.parametrize(
    ("row", "claims"),
    [
        ("fig2, 11, 12 `order-mu`", [f"{figure}.order-mu" for figure in ORDER]),
        ("fig2, 11, 12 `flip`", [f"{figure}.flip" for figure in ORDER]),
        ("fig2 `rate`", ["fig2.rate"]),
    ],
)
def test_intervals_are_those_of_the_results(row: str, claims: list[str]) -> None:
    for claim in claims:
        figure = claim.partition(".")[0]
        found = {v.id: v for v in read_claims(RESULTS / figure / "claims.json")}[f"yang2025.{claim}"]
        assert f"{found.value:.2f} ({found.ci_low:.2f}–{found.ci_high:.2f})" in _row(row)


@pytest.mark.parametrize(
    ("row", "figure"), [("one layer", "fig2"), ("two layers |", "fig11"), ("two layers, ReLU", "fig12")]
)
def test_half_learning_epochs_are_those_of_the_results(row: str, figure: str) -> None:
    half = pd.read_parquet(RESULTS / figure / "tables" / "half.parquet").query("panel == 'sigma'")
    means = half.groupby(["sigma1", "concept"])["time"].mean()
    told = [float(number) for number in re.findall(r"\d*\.\d+", _row(row))]
    assert told == pytest.approx(means.tolist(), abs=0.051)
