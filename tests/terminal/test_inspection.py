"""What `conceptlab inspect` prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conceptlab.cli import main
from tests.image_folder import everything, write_folder


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCEPTLAB_CACHE", str(tmp_path / "cache"))


def test_where_no_page_can_be_written_nothing_is_measured(tmp_path, capsys, monkeypatch):
    def looked(*given):
        raise AssertionError("it was looked at before the destination was")

    monkeypatch.setattr("conceptlab.worlds.inspection.inspect", looked)
    folder = write_folder(tmp_path / "data", {"000": 3, "100": 3})
    (tmp_path / "file").write_text("")
    assert (
        main(["inspect", str(folder), "--variables", "shape", "--out", str(tmp_path / "file" / "page.html")])
        == 2
    )
    assert "cannot make folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        (["shape", "kind=0,1"], "4 more images belong to no class"),
        (["shape", "kind=0,1,2"], "1 more image belongs to no class"),
        (["shape", "kind"], None),
    ],
)
def test_images_of_no_class_are_told(tmp_path, capsys, variables, told):
    folder = write_folder(tmp_path / "data", {"000": 8, "100": 8})
    lines = (folder / "labels.csv").read_text().splitlines()
    kinds = ["kind", *"0001112200011123"]
    (folder / "labels.csv").write_text("".join(f"{line},{kind}\n" for line, kind in zip(lines, kinds)))
    main(["inspect", str(folder), "--variables", *variables, "--out", str(tmp_path / "page.html")])
    printed = " ".join(capsys.readouterr().out.split())
    if told is None:
        assert "no class" not in printed
    else:
        assert f"• {told}, with a value that is not among those chosen." in printed


def test_equal_images_on_both_sides_of_a_cut_are_told_and_no_error(tmp_path, capsys):
    folder = write_folder(tmp_path / "data", everything(3))
    labels, page = folder / "labels.csv", tmp_path / "page.html"
    first = labels.read_text().splitlines()[1]
    labels.write_text(labels.read_text() + first.rsplit(",", 1)[0] + ",0.3\n")
    assert main(["inspect", str(folder), "--variables", "shape", "radius@0.425", "--out", str(page)]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    told = f"radius {float(first.rsplit(',', 1)[1]):g} and 0.3"
    printed = " ".join(said.out.split())
    assert "0 with labels that disagree, 1 with numbers on both sides of a cut (furthest apart: " in printed
    assert told in printed
    assert f"{told}: a cut lies between" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("fewest", "told"), [(1, "only more images of classes with too few"), (6, "nothing")]
)
def test_classes_with_too_few_images_are_something_to_collect(tmp_path, capsys, fewest, told):
    folder, page = write_folder(tmp_path / "data", {**everything(6), "011": fewest}), tmp_path / "page.html"
    main(["inspect", str(folder), "--variables", "shape", "size", "colour", "--out", str(page)])
    said = " ".join(capsys.readouterr().out.split())
    assert ("nothing to collect" in said) == (told == "nothing")
    assert ("collect only more images of classes with too few" in said) == (told != "nothing")
    assert f"{told}: every combination lies" in page.read_text(encoding="utf-8").lower()


def test_a_variable_that_images_do_not_show_is_told(tmp_path, capsys):
    folder, page = write_folder(tmp_path / "data", everything(12)), tmp_path / "page.html"
    lines = (folder / "labels.csv").read_text().splitlines()
    (folder / "labels.csv").write_text(
        "\n".join([lines[0] + ",odd", *(f"{line},{row % 2}" for row, line in enumerate(lines[1:]))])
    )
    assert main(["inspect", str(folder), "--variables", "shape", "colour", "odd", "--out", str(page)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "odd hardly shows: across its values images differ about as much as within a class (signal" in said
    assert "shape hardly shows" not in said
    assert "colour hardly shows" not in said
    assert "odd hardly shows" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("counts", "variables", "held_out"),
    [
        ({**everything(4), "111": 0}, ["shape", "size=large,small", "colour=red,blue"], " --test 111"),
        (
            {**everything(4), "111": 2},
            ["shape", "size=large,small", "colour=red,blue"],
            " --train 000 001 010 011 100 101 --test 110",
        ),
        (dict.fromkeys(("000", "100"), 4), ["shape"], ""),
    ],
    ids=["missing", "none missing", "one variable"],
)
def test_the_command_to_train_with_holds_something_out(tmp_path, capsys, counts, variables, held_out):
    folder, page = write_folder(tmp_path / "data", counts), tmp_path / "page.html"
    main(["inspect", str(folder), "--variables", *variables, "--out", str(page)])
    command = f"conceptlab run custom --data {folder} --variables {' '.join(variables)}{held_out}"
    assert f"train on it: {command}" in " ".join(capsys.readouterr().out.split())
    options_unmarked = re.sub("</?span[^>]*>", "", page.read_text(encoding="utf-8"))
    assert f"<code>{command}</code>" in options_unmarked


def test_one_variable_has_no_order_to_be_learnt_in(tmp_path, capsys):
    folder = write_folder(tmp_path / "data", everything(4))
    for variables, told in ((["shape"], True), (["shape", "size"], False)):
        main(["inspect", str(folder), "--variables", *variables, "--out", str(tmp_path / "page.html")])
        said = " ".join(capsys.readouterr().out.split())
        assert ("shape is the only variable, and nothing can be composed of one." in said) == told
        assert ("Expected order of learning" in said) != told


def test_what_was_not_taken_is_told_once_the_data_are_found_to_be_good(tmp_path, capsys):
    folder = write_folder(tmp_path / "data", everything(4))
    told = "taken for variables: shape, size, colour; to take others, too, name all"
    assert main(["inspect", str(folder), "--out", str(tmp_path / "page.html")]) == 0
    assert capsys.readouterr().err.startswith(told)
    (folder / "pictures" / "000-000.png").unlink()
    assert main(["inspect", str(folder), "--out", str(tmp_path / "page.html")]) == 2
    assert capsys.readouterr().err.startswith("conceptlab: ")


def test_images_that_the_table_does_not_list_are_told(tmp_path, capsys):
    folder = write_folder(tmp_path / "data", everything(4))
    labels = folder / "labels.csv"
    labels.write_text("\n".join(labels.read_text().splitlines()[:-2]) + "\n")
    words = ["inspect", str(folder), "--variables", "shape", "--out", str(tmp_path / "page.html")]
    assert main(words) == 0
    assert (
        f"not listed in {labels}, so left out: 2 images (pictures/111-002.png, …)" in capsys.readouterr().err
    )
