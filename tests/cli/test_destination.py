"""A command writes over nothing but what its user names."""

from __future__ import annotations

from pathlib import Path

import pytest

from conceptlab.cli import main
from conceptlab.cli.destination import destination
from conceptlab.errors import InputError
from tests.image_folder import write_folder


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("CONCEPTLAB_CACHE", str(tmp_path / "cache"))
    return folder


@pytest.mark.parametrize(
    ("command", "name", "later"),
    [
        (["sample", "--n", "1"], "samples.png", "samples-2.png"),
        (["elicit", "--class", "111", "--n", "4"], "elicit.png", "elicit-2.png"),
        (["report"], "report.html", "report-2.html"),
    ],
)
def test_a_name_that_is_taken_gives_way_to_the_next(out, here, capsys, command, name, later):
    (here / name).write_text("from before")
    words = [command[0], str(out / "quickstart"), *command[1:]]
    assert main(words) == 0
    assert later in capsys.readouterr().out
    assert (here / name).read_text() == "from before"
    assert (here / later).stat().st_size > 500
    assert {path.name for path in here.iterdir()} == {name, later}


def test_the_page_of_an_inspection_gives_way_too_and_is_named_beside_json(here, capsys):
    folder = write_folder(here.parent / "data", {"000": 3, "100": 3})
    words = ["inspect", str(folder), "--variables", "shape"]
    assert main(words) == 0
    first = (here / "inspection.html").read_bytes()
    assert "page: inspection.html" in capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    said = capsys.readouterr()
    assert said.err == "page: inspection-2.html\n"
    assert said.out.startswith("{")
    assert (here / "inspection.html").read_bytes() == first


def test_a_page_written_by_hand_is_not_taken_for_one_to_make_anew(here, monkeypatch, capsys):
    made = "<!-- Made by `conceptlab reproduction results`; … -->\n\n# Reproduction\n"
    monkeypatch.setattr("conceptlab.report.reproduction.reproduction", lambda *given: made)
    page = here / "REPRODUCTION.md"
    page.write_text(made.replace("results", "elsewhere"))
    assert main(["reproduction", "results"]) == 0
    assert page.read_text() == made
    page.write_text("my own notes")
    assert main(["reproduction", "results"]) == 0
    assert page.read_text() == "my own notes"
    assert (here / "REPRODUCTION-2.md").read_text() == made
    assert capsys.readouterr().out.splitlines()[-1] == "reproduction: REPRODUCTION-2.md"


def test_a_number_at_the_end_of_a_name_is_no_kind_of_file(out, here):
    assert main(["sample", str(out / "quickstart"), "--n", "1", "--out", "sheet-0.4"]) == 0
    assert (here / "sheet-0.4").read_bytes().startswith(b"\x89PNG")


def test_what_a_user_names_is_overwritten(out, here):
    (here / "mine.png").write_text("from before")
    assert main(["sample", str(out / "quickstart"), "--n", "1", "--out", "mine.png"]) == 0
    assert (here / "mine.png").stat().st_size > 500
    assert [path.name for path in here.iterdir()] == ["mine.png"]


def test_folders_and_links_count_as_taken_and_two_at_once_get_two_names(here):
    (here / "a.png").mkdir()
    (here / "a-2.png").symlink_to("nowhere")
    with destination(None, "a.png") as one, destination(None, "a.png") as other:
        assert (one.name, other.name) == ("a-3.png", "a-4.png")


def test_what_could_not_be_written_leaves_nothing(here):
    with pytest.raises(InputError), destination(None, "a.png"):
        raise InputError("the disk is full")
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    ("command", "name", "told"),
    [
        (["sample"], "x.jpg", "a PNG picture is written; let its name end in .png"),
        (["elicit", "--class", "111"], "x.pdf", "a PNG picture is written; let its name end in .png"),
        (["report"], "x.pdf", "an HTML page is written; let its name end in .html or .htm"),
        (["reproduction"], "x.html", "a Markdown page is written; let its name end in .md or .markdown"),
    ],
)
def test_a_name_of_another_kind_of_file_is_refused_before_any_work(out, here, capsys, command, name, told):
    (here / name).write_text("from before")
    words = [command[0], str(out), *command[1:], "--out", name]
    assert main(words) == 2
    assert capsys.readouterr().err.splitlines() == [f"conceptlab: --out {name}: {told}"]
    assert (here / name).read_text() == "from before"


def test_an_inspection_is_no_picture(here, capsys):
    folder = write_folder(here.parent / "data", {"000": 3, "100": 3})
    words = ["inspect", str(folder), "--variables", "shape", "--out"]
    assert main([*words, "page.png"]) == 2
    assert "--out page.png: an HTML page is written" in capsys.readouterr().err
    assert main([*words, "page.HTM"]) == 0
    assert main([*words, "page"]) == 0
    assert {path.name for path in here.iterdir()} == {"page", "page.HTM"}
