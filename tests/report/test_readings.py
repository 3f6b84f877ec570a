"""Accuracies in the training section: as the probe reads, and corrected for what it misreads on real images."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from conceptlab.report import report
from conceptlab.report.charts import accuracy_chart
from conceptlab.report.readings import drawn_at_the_end, probes_of
from tests.figures import synthetic
from tests.report.reading import read

METRICS = synthetic.metrics


def with_corrected(split, seed=0, steps=synthetic.STEPS):
    """What is read as 1 is 1, what is read less is less by a tenth."""
    found = METRICS(split, seed, steps)
    read_ = found[(found["measure"] == "accuracy") & (found["variable"] == "")]
    corrected = read_.assign(measure="corrected", value=0.9 * read_["value"])
    return pd.concat([found, corrected], ignore_index=True)


def test_both_are_shown_and_said_to_be_what_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipes = [synthetic.recipe(0), synthetic.recipe(1)]
    plain = read(
        report([synthetic.figure_run(tmp_path / "plain", recipes, steps=(500, 1000))], tmp_path / "a.html")
    )
    monkeypatch.setattr(synthetic, "metrics", with_corrected)
    real = read(
        report([synthetic.figure_run(tmp_path / "real", recipes, steps=(500, 1000))], tmp_path / "b.html")
    )
    for said in (
        "Accuracies are as the probe reads.",
        "claims about data of your own rest on the corrected ones",
    ):
        assert said in real.text
        assert said not in plain.text
    assert "Accuracy Corrected Drawn instead" in " ".join(real.text.split())
    assert "Accuracy Drawn instead" in " ".join(plain.text.split())


def test_corrected_accuracies_have_a_line_and_a_column_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    split = synthetic.cube_split()
    monkeypatch.setattr(synthetic, "metrics", with_corrected)
    curves = synthetic.curves(split, seeds=2).assign(member="m")
    lines = {trace["name"]: trace for trace in accuracy_chart(curves)["data"] if "name" in trace}
    read_, corrected = lines["distance 1"], lines["distance 1, corrected"]
    assert (read_["line"]["dash"], corrected["line"]["dash"]) == ("solid", "dash")
    assert corrected["y"] == pytest.approx([0.9 * y for y in read_["y"]], abs=1e-3)
    for row in drawn_at_the_end(curves, split):
        assert row["corrected"] == pytest.approx(0.9 * row["accuracy"])


def test_probes_of_a_sweep_say_where_each_judged() -> None:
    def member(id_: str, judge: str) -> Any:
        record = {"probe": judge, "name": "cnn"}
        return SimpleNamespace(
            id=id_, probe={"judge": record, "second": {"probe": "same", "name": "analytic"}}
        )

    labels = {"a": "depth = 1", "b": "depth = 2", "c": "depth = 3", "d": "depth = 1", "e": "depth = 4"}
    members = [member("a", "x"), member("b", "x"), member("c", "x"), member("d", "x"), member("e", "y")]
    first, second, third = probes_of(members, labels, problems := [])
    assert first["judged"] == "depth = 1 · depth = 2 · 1 more"
    assert second["judged"] == ""  # the only one of its kind: nothing to tell apart
    assert third["judged"] == "depth = 4"
    assert problems == []


@pytest.mark.parametrize(
    ("different", "said"),
    [
        ({}, "200 held-out images of each class"),
        ({"0": 200, "1": 200}, "200 held-out images of each class"),
        ({"0": 3, "1": 3}, "200 held-out images of each class, of which only 3 differ and the others repeat them"),
        ({"0": 3, "1": 200}, "200 held-out images of each class, of which only 3 to 200 differ and the others "),
    ],
)  # fmt: skip
def test_a_probe_says_on_how_many_different_images_it_was_validated(different: Any, said: str) -> None:
    validation = {"kind": "cnn", "images_per_class": 200, "joint": 1.0, "different": different}
    member: Any = SimpleNamespace(id="a", probe={"judge": {"probe": "x", "validation": validation}})
    (found,) = probes_of([member], {"a": ""}, [])
    assert found["images"].startswith(said)
    assert len(different) or found["images"] == said
