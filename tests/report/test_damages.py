"""A report is never brought down by the state of a run folder, and says what is wrong with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conceptlab.claims import Verdict
from conceptlab.errors import InputError
from conceptlab.report import report
from conceptlab.store.files import write_table
from conceptlab.worlds import QUICKSTART, Shapes, registry
from tests.figures import synthetic
from tests.report.reading import charts, draw_picture, read


def test_names_are_escaped_everywhere(tmp_path: Path) -> None:
    evil = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"
    verdict = Verdict(
        evil, evil, "f", "empirical", evil, evil, 1.0, 0.5, 1.5, 0.2, "reproduced", "firm", 5, 0, evil
    )
    run = synthetic.figure_run(
        tmp_path, [synthetic.recipe(0, **{"world.colours": [[evil, [0.6, 0, 0]], ["blue", [0, 0, 0.6]]]})],
        judged=[verdict], steps=(500, 1000), title=evil, shows=evil, command=evil, settings={evil: evil},
    )  # fmt: skip
    draw_picture(run)
    page = read(report([run], tmp_path / "report.html"))
    assert evil in page.text
    assert all(attributes.get("src") != "x" for attributes in page.all("img"))
    assert page.unbalanced == []
    assert not any("onerror" in attributes for _, attributes in page.elements)
    # Plotly reads hover texts as HTML.
    assert not any("<img" in str(trace.get("hovertext")) for trace in charts(page)[0]["data"])


def test_unfinished_failed_missing_and_damaged_members_are_said_to_be_so(tmp_path: Path) -> None:
    recipes = [synthetic.recipe(seed) for seed in range(5)]
    statuses = ("complete", "unfinished", "failed", "missing", "complete")
    run = synthetic.figure_run(tmp_path, recipes, statuses=statuses, judged=[], steps=(500, 1000))
    (tmp_path / "members" / recipes[4].hash / "metrics.parquet").write_bytes(b"not a table")
    page = read(report([run], tmp_path / "report.html"))
    for said in (
        "complete", "unfinished", "failed : the training loss is not finite", "not started", "damaged",
        "No claim has been judged", "picture has not been drawn yet",
    ):  # fmt: skip
        assert said in page.text
    # Only the complete member is averaged: one seed has no band.
    assert "1 of 5 members are complete" in page.text
    assert "1 seed, no band" in page.text


def test_seeds_that_failed_are_told_with_each_claim(tmp_path: Path) -> None:
    judged = [replace(verdict, failed=2) for verdict in synthetic.verdicts()]
    page = read(report([synthetic.figure_run(tmp_path, [], judged=judged)], tmp_path / "report.html"))
    assert page.text.count("(2 failed)") == len(judged)
    assert page.text.count("4 seeds, 2 failed") + page.text.count("4 cases, 2 failed") == len(judged)


def test_members_that_need_a_plug_in_are_not_said_to_be_untrained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as there:
        there.setitem(registry._WORLDS._makers, "of-a-plug-in", Shapes)
        made = [replace(synthetic.recipe(s), world={"name": "of-a-plug-in", **QUICKSTART}) for s in (0, 1)]
        run = synthetic.figure_run(tmp_path, made, steps=(500, 1000))
    page = read(report([run], tmp_path / "report.html"))
    assert page.text.count("Members are left out: unknown world 'of-a-plug-in'") == 1
    assert "one of your own needs --plugin FILE" in page.text
    assert "None of the 2 members can be read." in page.text
    assert "not started" not in page.text


def test_damaged_files_become_sentences(tmp_path: Path) -> None:
    good = synthetic.figure_run(tmp_path, [synthetic.recipe(0)], steps=(500, 1000))
    draw_picture(good)
    (good.path / "figures" / "emergence.png").write_bytes(b"no picture")
    (good.path / "claims.json").write_text("{")
    next((good.members[0].path / "samples").glob("*.png")).write_bytes(b"no picture")
    (good.members[0].path / "probe.json").unlink()
    (good.members[0].path / "environment.json").write_text("{")
    broken = synthetic.figure_run(tmp_path, [], figure="broken")
    (broken.path / "manifest.json").write_text("{")
    page = read(report([good, broken], tmp_path / "report.html"))
    for said in (
        "cannot be read as a picture",
        "claims cannot be read",
        "cannot be shown",
        "run folder cannot be",
    ):
        assert said in page.text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("environment.json", "[]"),
        ("environment.json", '{"members": 0}'),
        ("probe.json", "{"),
        ("probe.json", "[]"),
        ("probe.json", '{"judge": 3}'),
        ("probe.json", '{"judge": {"validation": {"per_class": {"000": 1}, "confusion": [3]}}}'),
        ("log.jsonl", "{junk}"),
        ("done.json", "[]"),
        ("samples/0x.png", ""),
    ],
)
def test_a_page_is_made_whatever_of_a_member_is_damaged(tmp_path: Path, name: str, text: str) -> None:
    run = synthetic.figure_run(tmp_path, [synthetic.recipe(0), synthetic.recipe(1)], steps=(500, 1000))
    (run.members[1].path / name).write_text(text)
    page = read(report([run], tmp_path / "report.html"))
    if name in ("probe.json", "done.json") or text == "[]":
        assert run.members[1].id in page.text
        assert any(word in page.text for word in ("cannot be shown", "is unknown", "damaged"))


def test_a_finished_member_without_metrics_is_left_out_of_the_means(tmp_path: Path) -> None:
    run = synthetic.figure_run(tmp_path, [synthetic.recipe(0), synthetic.recipe(1)], steps=(500, 1000))
    (run.members[1].path / "metrics.parquet").unlink()
    page = read(report([run], tmp_path / "report.html"))
    assert f"Member {run.members[1].id} is damaged and left out" in page.text
    assert "1 of 2 members are complete" in page.text


def test_members_that_measured_nothing_yet(tmp_path: Path) -> None:
    run = synthetic.figure_run(tmp_path, [synthetic.recipe(0)], statuses=("unfinished",), steps=())
    page = read(report([run], tmp_path / "report.html"))
    assert "nothing has been measured yet" in page.text
    assert "No samples were kept" in page.text


@pytest.mark.parametrize("settings", [1, 2])
def test_members_without_accuracies_are_not_said_to_be_unmeasured(tmp_path: Path, settings: int) -> None:
    """As where objects are counted: no graph, no choice of graphs, and no word about either."""
    recipes = [synthetic.recipe(0, batch=batch) for batch in (32, 64)[:settings]]
    run = synthetic.figure_run(tmp_path, recipes, steps=(500, 1000))
    for member in run.members:
        table = member.metrics
        write_table(member.path / "metrics.parquet", table[table["measure"] == "coordinate"])
    page = read(report([run], tmp_path / "report.html"))
    for said in (
        "nothing has been measured",
        "A class such as",
        "Concept space",
        "Right: accuracy",
        "Setting 32",
    ):
        assert said not in page.text
    assert charts(page) == []
    assert "Samples through training" in page.text
    assert all("hidden" in box for box in page.all("ol") if "data-accuracy" in box)


def test_no_runs_is_an_error() -> None:
    with pytest.raises(InputError, match="at least one run"):
        report([], Path("report.html"))
