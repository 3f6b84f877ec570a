"""Which files the rows of a table name, however they are written there."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pandas as pd
import pytest

from conceptlab.errors import InputError
from tests.image_folder import opened, write_folder


@pytest.mark.skipif(os.sep == "\\", reason="there such names are right")
def test_files_named_as_on_windows_are_not_told_to_be_missing(tmp_path):
    folder = write_folder(tmp_path / "data", {"000": 3, "100": 3})
    labels = folder / "labels.csv"
    labels.write_text(labels.read_text().replace("pictures/", "pictures\\"))
    with pytest.raises(InputError, match=r"files named as on Windows \(6\): .*Write the folders .* with /"):
        opened(folder, "shape")


def test_files_are_found_under_the_names_that_one_reads(tmp_path):
    """Spaces around a name, and two ways to write ü, are not to be seen in a message that the file is missing."""
    folder = write_folder(tmp_path / "data", {"000": 3, "100": 3}, pictures="für Ömür")
    labels = folder / "labels.csv"
    plain = opened(folder, "shape")
    (folder / "für Ömür").rename(folder / unicodedata.normalize("NFD", "für Ömür"))
    labels.write_text(labels.read_text().replace(".png,", ".png ,"))
    assert opened(folder, "shape").fingerprint == plain.fingerprint
    (folder / unicodedata.normalize("NFD", "für Ömür")).rename(folder / "für Ömür")
    labels.write_text(unicodedata.normalize("NFD", labels.read_text()))
    assert opened(folder, "shape").fingerprint == plain.fingerprint


def test_empty_lines_before_a_header_do_not_hide_what_parts_its_columns(tmp_path):
    folder = write_folder(tmp_path / "data", {"000": 3, "100": 3})
    labels = folder / "labels.csv"
    plain = opened(folder, "shape")
    labels.write_text("\n  \n" + labels.read_text().replace(",", ";"))
    assert opened(folder, "shape").fingerprint == plain.fingerprint
    labels.write_text(labels.read_text().replace("size;", "shape;", 1))
    with pytest.raises(InputError, match="has two columns 'shape'"):
        opened(folder, "shape")


def test_absolute_paths_of_images_that_are_there_are_told_too(tmp_path, monkeypatch):
    """Scripts write such tables, and a folder is named from where one stands."""
    folder = write_folder(tmp_path / "data", {"000": 3, "100": 3})
    labels = folder / "labels.csv"
    labels.write_text(labels.read_text().replace("pictures/", f"{folder}/pictures/"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        InputError, match=r"files outside the folder \(6\): .*Give paths relative to the table"
    ):
        opened(Path("data"), "shape")


def test_files_may_be_the_names_of_rows(tmp_path):
    folder = write_folder(tmp_path / "data", {"000": 3, "100": 3}, table="labels.parquet")
    plain = opened(folder, "shape")
    table = pd.read_parquet(folder / "labels.parquet")
    table.set_index("file").to_parquet(folder / "labels.parquet")
    assert opened(folder, "shape").fingerprint == plain.fingerprint
