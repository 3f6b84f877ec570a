"""Data of one's own that are odd or not good enough, from the command line on; nothing in the folder changes."""

from __future__ import annotations

import re
import shlex
import shutil

import pandas as pd
import pytest

import conceptlab
from conceptlab.cli import main
from tests.image_folder import everything, write_folder, write_table
from tests.studies.own_data import SMALL, own_cache, state_of

__all__ = ["own_cache"]

# With twenty images a class the judge may stay below 99 %; on real data that is a warning.
pytestmark = pytest.mark.filterwarnings("ignore:the cnn probe reads")


def test_bad_data_are_one_list_and_exit_code_2(tmp_path, monkeypatch, capsys):
    folder = write_folder(tmp_path / "data", everything(4))
    (folder / "pictures" / "000-000.png").unlink()
    (folder / "pictures" / "000-001.png").write_bytes(b"no")
    table = pd.read_csv(folder / "labels.csv")
    table.loc[5, "shape"] = None
    write_table(folder / "labels.csv", table)
    before = state_of(folder)
    for command in (["inspect", str(folder)], ["run", "custom", "--data", str(folder)]):
        assert main([*command, "--variables", "shape", "colour", "--out", str(tmp_path / "out")]) == 2
        error = capsys.readouterr().err
        assert "has 3 kinds of problems" in error
        assert error.count("\n  - ") == 3
        assert "Traceback" not in error
    assert state_of(folder) == before
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("columns", "values"),
    [
        ({"shape": "pri$ce_$^{", "colour": "$"}, {"circle": "$5", "triangle": "$10_"}),
        ({"shape": "class", "size": "seed", "colour": "step"}, {}),
    ],
)
def test_odd_names_of_columns_and_values_are_drawn(tmp_path, capsys, columns, values):
    folder = write_folder(tmp_path / "data", everything(6))
    table = pd.read_csv(folder / "labels.csv").drop(columns="radius").replace({"shape": values})
    write_table(folder / "labels.csv", table.rename(columns=columns))
    data = ["--data", str(folder), "--train", "000", "100", "010", "001", "--scale", "tiny"]
    assert main(["inspect", str(folder), "--out", str(tmp_path / "page.html")]) == 0
    assert main(["run", "custom", *data, *SMALL, "--out", str(tmp_path / "runs")]) == 0
    (picture,) = conceptlab.load(tmp_path / "runs").pictures
    assert picture.stat().st_size > 10_000


def test_a_class_with_one_image_is_told_beside_the_page(tmp_path, capsys):
    folder = write_folder(tmp_path / "data", {**everything(5), "111": 1})
    assert main(["inspect", str(folder), "--out", str(tmp_path / "page.html")]) == 2
    captured = capsys.readouterr()
    assert "classes with too few different images (1)" in captured.err
    assert (tmp_path / "page.html").exists()
    assert main(["run", "custom", "--data", str(folder), "--out", str(tmp_path / "runs")]) == 2
    told = capsys.readouterr().err
    assert "classes with too few different images (1): 1" in told
    assert "or name other classes with --train and --test." in told
    command = re.search(r"^train on it: conceptlab (run custom .* --train .*)$", captured.out, re.MULTILINE)
    assert command, "what inspect advises is not refused"
    assert main([*shlex.split(command[1]), "--out", str(tmp_path / "runs"), "--plan"]) == 0


def test_what_run_would_refuse_is_told_beside_the_command_that_is_advised(tmp_path, capsys):
    """A size that the network of `run custom` cannot halve twice is no fault of the data."""
    folder = write_folder(tmp_path / "data", everything(5))
    for resolution, refused in (("16", False), ("18", True)):
        arguments = [str(folder), "--variables", "shape", "size", "colour", "--resolution", resolution]
        assert main(["inspect", *arguments, "--out", str(tmp_path / "page.html")]) == 0
        told = capsys.readouterr().err
        assert ("`run` refuses the command as it is: denoiser 'film'" in told) == refused
        assert ("give another resolution, e.g. 16" in told) == refused


def test_copies_do_not_make_up_for_images(tmp_path, capsys):
    """They all go to the model: the probe would never have learnt the class, nor been examined on it."""
    folder = write_folder(tmp_path / "data", everything(5))
    for number in range(1, 5):
        shutil.copy(folder / "pictures" / "111-000.png", folder / "pictures" / f"111-{number:03d}.png")
    told = "classes with too few different images (1): 1"
    assert main(["inspect", str(folder), "--out", str(tmp_path / "page.html")]) == 2
    assert told in capsys.readouterr().err
    assert main(["run", "custom", "--data", str(folder), "--out", str(tmp_path / "runs")]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert "5, 1 different" in error
