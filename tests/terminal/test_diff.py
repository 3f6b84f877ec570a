"""Two runs in the terminal: which figures are compared with which, and what differs."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console

from conceptlab.store import Store
from conceptlab.terminal.diff import diff
from tests.figures import synthetic


def claimed(root: Path, *scales: str) -> Path:
    for scale in scales:
        manifest = {"study": "s", "figure": "f", "scale": scale, "settings": {}, "members": [], "seeds": [0]}
        Store(root).figure("s", scale, "f").claim(manifest)
    return root


def shown(first: Path, second: Path, width: int = 300) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(diff(first, second))
    return console.file.getvalue()  # pyright: ignore[reportAttributeAccessIssue]


def test_a_figure_at_several_scales_is_compared_at_each(tmp_path):
    first, second = claimed(tmp_path / "a", "tiny", "small"), claimed(tmp_path / "b", "tiny", "paper")
    text = shown(first, second)
    assert "s.f at tiny scale" in [line.strip() for line in text.splitlines()]
    assert f"s.f at small scale: only in {first}" in text
    assert f"s.f at paper scale: only in {second}" in text
    assert str(second / "s" / "tiny" / "f") in text


def test_one_scale_may_be_compared_with_another(tmp_path):
    text = shown(claimed(tmp_path / "a", "tiny"), claimed(tmp_path / "b", "small"))
    assert "only in" not in text
    assert [
        word.strip() for line in text.splitlines() if "scale" in line for word in line.split("│")[1:4]
    ] == [
        "scale",
        "tiny",
        "small",
    ]


def test_a_value_that_is_only_a_bound_is_compared_as_one(tmp_path: Path) -> None:
    exact = synthetic.verdicts()[:1]
    bound = [replace(exact[0], bound="lower")]
    synthetic.figure_run(tmp_path / "a", [], judged=exact)
    synthetic.figure_run(tmp_path / "b", [], judged=bound)
    text = shown(tmp_path / "a", tmp_path / "b")
    (line,) = [line for line in text.splitlines() if "quickstart.order" in line]
    assert "reproduced (1.42)" in line
    assert "reproduced (≥ 1.42)" in line


def test_runs_that_were_never_evaluated_at_one_step_say_so(tmp_path: Path) -> None:
    synthetic.figure_run(tmp_path / "a", [synthetic.recipe()], steps=(10, 20))
    synthetic.figure_run(tmp_path / "b", [synthetic.recipe()], steps=(15, 30))
    assert "they were evaluated at different steps" in shown(tmp_path / "a", tmp_path / "b")


METRICS = synthetic.metrics


def corrected_metrics(split, seed=0, steps=synthetic.STEPS):
    """On real images what is read less than 1 is less by a tenth."""
    found = METRICS(split, seed, steps)
    read = found[(found["measure"] == "accuracy") & (found["variable"] == "")]
    return pd.concat([found, read.assign(measure="corrected", value=0.9 * read["value"])], ignore_index=True)


def test_runs_on_real_images_are_compared_by_what_their_claims_rest_on(tmp_path, monkeypatch) -> None:
    synthetic.figure_run(tmp_path / "plain", [synthetic.recipe()])
    monkeypatch.setattr(synthetic, "metrics", corrected_metrics)
    for name in ("a", "b"):
        synthetic.figure_run(tmp_path / name, [synthetic.recipe()])
    plain, mixed, real = (
        shown(tmp_path / first, tmp_path / second)
        for first, second in (("plain", "plain"), ("plain", "a"), ("a", "b"))
    )
    assert "accuracy, mean over seeds" in plain
    assert "accuracy as the probe reads, mean over seeds" in mixed
    assert "corrected accuracy, mean over seeds" in real
    ends = [
        float(next(line for line in text.splitlines() if line.startswith("│ 1 ")).split("│")[3])
        for text in (plain, mixed, real)
    ]
    assert ends[0] == ends[1] == pytest.approx(ends[2] / 0.9, abs=2e-3)


def test_long_paths_that_differ_at_their_end_are_shown_to_their_end(tmp_path: Path) -> None:
    folder = tmp_path / "a-folder-whose-name-is-long" / "runs-of-this-week"
    first, second = (claimed(Path(f"{folder}-{name}"), "tiny") for name in "ab")
    lines = shown(first, second, width=80).splitlines()
    assert max(map(len, lines)) <= 80
    columns = zip(
        *([cell.strip() for cell in line.split("┃")[2:4]] for line in lines if line.count("┃") == 4)
    )
    for path, cells in zip((first, second), columns):
        assert str(path) in "".join(cells)
