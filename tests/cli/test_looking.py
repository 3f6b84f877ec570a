"""What a run left, looked at from the command line and from Python."""

from __future__ import annotations

import io
import itertools
import json
from pathlib import Path

import pytest
from PIL import Image

import conceptlab
from conceptlab.cli import main
from conceptlab.store import FigureRun
from tests.figures import synthetic

KEYS = {
    "id", "paper", "figure", "kind", "statement", "statistic", "value", "ci_low", "ci_high", "threshold", "verdict",
    "strength", "seeds", "censored", "note", "failed", "floor", "why", "transform", "resolution", "bound",
}  # fmt: skip


def test_three_lines_in_a_notebook(out):
    member = conceptlab.load(out / "quickstart").members[0]
    curves = member.curves()
    images = member.samples()
    assert curves.shape == (3, 8)
    assert images.shape[0] == 8


def test_a_figure_shows_itself_in_a_notebook(out, tmp_path):
    figure = conceptlab.load(out / "quickstart")
    found = figure._repr_png_()
    assert found
    data, shown = found
    with Image.open(io.BytesIO(data)) as picture:
        assert shown["width"] < picture.width < 2 * shown["width"]
    assert FigureRun(tmp_path)._repr_png_() is None


def test_a_damaged_picture_is_told_in_a_notebook_and_no_traceback(tmp_path, caplog):
    picture = tmp_path / "figures" / "fig.png"
    picture.parent.mkdir()
    picture.write_bytes(b"half")
    assert FigureRun(tmp_path)._repr_png_() is None
    assert f"{picture} is damaged" in caplog.text


def test_verdict_and_list_are_stable_json(out, capsys):
    assert main(["verdict", str(out / "quickstart"), "--json"]) == 0
    verdicts = json.loads(capsys.readouterr().out)
    assert [set(verdict) for verdict in verdicts] == [KEYS] * 2
    assert main(["list", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert "quickstart.emergence" in [figure["id"] for figure in figures]
    assert {"id", "study", "figure", "title", "claims", "cost"} <= set(figures[0])
    assert main(["list"]) == 0
    assert main(["verdict", str(out)]) == 0


def size_of(path: Path) -> tuple[int, int]:
    with Image.open(path) as picture:
        return picture.size


def test_sample_draws_any_prompt(out, tmp_path, capsys):
    sheet = tmp_path / "s.png"
    arguments = [
        "sample",
        str(out / "quickstart"),
        "--prompt",
        "111",
        "--prompt",
        "111;colour=-3,0,3",
        "--n",
        "4",
    ]
    assert main([*arguments, "--out", str(sheet)]) == 0
    assert size_of(sheet) == (4 * 16, 2 * 16)
    assert main(["sample", str(out / "quickstart"), "--weights", "ema", "--n", "1", "--out", str(sheet)]) == 0
    assert size_of(sheet) == (16, 8 * 16)
    for number in ("nan", "-inf", "1e39"):  # the last is more than float32 holds
        prompt = f"111;colour={number},0,0"
        assert (
            main(["sample", str(out / "quickstart"), "--prompt", prompt, "--out", str(tmp_path / "n.png")])
            == 2
        )
        assert "write finite numbers" in capsys.readouterr().err
    assert not (tmp_path / "n.png").exists()


def test_sample_tells_how_far_it_is(out, tmp_path, capsys, monkeypatch):
    """Two prompts of 300 images come in two batches; every look at the clock takes ten seconds."""
    now = itertools.count(0, 10)
    monkeypatch.setattr("conceptlab.terminal.progress.time.monotonic", lambda: next(now))
    words = ["sample", str(out / "quickstart"), "--prompt", "111", "--prompt", "000", "--n", "300"]
    assert main([*words, "--out", str(tmp_path / "s.png")]) == 0
    assert capsys.readouterr().err == "600/600 images, 30/s, 0 s left\n"


@pytest.mark.parametrize("command", [["sample"], ["elicit", "--class", "111"]])
def test_where_nothing_can_be_written_nothing_is_drawn(out, tmp_path, capsys, monkeypatch, command):
    def drawn(*given):
        raise AssertionError("it was drawn before the destination was looked at")

    monkeypatch.setattr("conceptlab.executors.draw", drawn)
    monkeypatch.setattr("conceptlab.executors.elicit", drawn)
    (tmp_path / "file").write_text("")
    name, *options = command
    for place, word in (
        (tmp_path / "file" / "a.png", "cannot make folder"),
        (tmp_path, "is a folder, not a file"),
    ):
        assert main([name, str(out / "quickstart"), *options, "--out", str(place)]) == 2
        told = capsys.readouterr().err.strip().splitlines()
        assert len(told) == 1
        assert word in told[0]


@pytest.mark.parametrize("command", [["sample"], ["elicit", "--class", "111"]])
def test_models_whose_training_has_not_begun_are_passed_over(tmp_path, capsys, command):
    recipes = [synthetic.recipe(seed) for seed in range(3)]
    name, *options = command
    for begun, word in (
        ("unfinished", f"{recipes[1].hash} has no checkpoint yet"),
        ("missing", "holds no trained"),
    ):
        folder = tmp_path / begun
        synthetic.figure_run(folder, recipes, statuses=("missing", begun, "missing"), steps=(100,))
        assert main([name, str(folder), *options, "--out", str(tmp_path / "s.png")]) == 2
        (told,) = capsys.readouterr().err.splitlines()
        assert word in told


def test_report_of_a_path(out, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert main(["report", str(out), "--out", str(page)]) == 0
    assert "quickstart" in page.read_text(encoding="utf-8")


def test_results_are_exported_and_read_without_training(out, tmp_path, capsys):
    """From a run to a page of verdicts; the export is itself a run folder, in which nothing is left to train."""
    kept = tmp_path / "results"
    assert main(["export", str(out), "--out", str(kept)]) == 0
    assert "new: quickstart.emergence at tiny scale" in capsys.readouterr().out
    verdicts = []
    for folder in (out, kept):
        assert main(["verdict", str(folder / "quickstart"), "--json"]) == 0
        verdicts.append(json.loads(capsys.readouterr().out))
    assert verdicts[0] == verdicts[1]
    assert main(["report", str(kept), "--out", str(tmp_path / "page.html")]) == 0
    again = ["run", "quickstart", "--scale", "tiny", "--out", str(kept), "--device", "cpu", "--ready"]
    assert main(again) == 0, "redrawn and judged anew from metrics in float32"
    redrawn = conceptlab.load(kept).verdicts
    assert [v.verdict for v in redrawn] == [v.verdict for v in conceptlab.load(out).verdicts]
    assert main(["reproduction", str(kept), "--out", str(tmp_path / "page.md")]) == 2
    assert "holds nothing at paper scale" in capsys.readouterr().err
    assert not (tmp_path / "page.md").exists()
    for words in (["sample", str(kept)], ["elicit", str(kept), "--class", "111"]):
        assert main([*words, "--out", str(tmp_path / "s.png")]) == 2
        assert "keeps no checkpoint" in capsys.readouterr().err, "running its study again would train nothing"


def test_what_begins_anew_does_not_say_that_it_continues(out, tmp_path, capsys, monkeypatch):
    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr("conceptlab.executors.elicit", interrupted)
    sheet = tmp_path / "s.png"
    assert main(["elicit", str(out / "quickstart"), "--class", "111", "--out", str(sheet)]) == 130
    assert capsys.readouterr().err == "interrupted\n"
    assert not sheet.exists()


@pytest.mark.parametrize("command", [["sample"], ["elicit", "--class", "111"]])
def test_more_images_than_memory_holds_are_refused(out, tmp_path, capsys, monkeypatch, command):
    """The system would end the process without a word."""
    monkeypatch.setattr("conceptlab.executors.room.free_bytes", lambda: 1e9)
    name, *options = command
    words = [name, str(out / "quickstart"), *options, "--n", "1000000000", "--out", str(tmp_path / "s.png")]
    assert main(words) == 2
    (told,) = capsys.readouterr().err.splitlines()
    assert told.startswith("conceptlab: --n 1000000000: so many images for each of ")
    assert told.endswith("and 0.9 GiB are free; take fewer")
