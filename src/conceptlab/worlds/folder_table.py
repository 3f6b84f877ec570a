"""The table of a labelled image folder: CSV, JSON lines, Parquet, the attribute list of CelebA, or what the names of
folders say. It is only read."""

from __future__ import annotations

import codecs
import csv
import json
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from conceptlab.errors import InputError, first_line
from conceptlab.worlds.binning import column_of
from conceptlab.worlds.celeba import ATTRIBUTES, IMAGES, read_attributes
from conceptlab.worlds.folder_names import FILE, read_names

FILE_COLUMNS = (FILE, "filename", "file_name", "path", "image", "image_path", "image_id")
"""Columns that are taken for the images' files, in this order, unless one is named."""


def find_table(folder: Path) -> str:
    """The name of the one table in a folder; none where there is no table, and names of folders have to do."""
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; name one that holds images")
    if (folder / ATTRIBUTES).is_file():
        return ATTRIBUTES
    found = sorted(path.name for path in folder.iterdir() if path.suffix.lower() in _READERS)
    if len(found) > 1:
        raise InputError(
            f"{folder} has {len(found)} tables ({', '.join(found[:6])}); choose one with --table"
        )
    return found[0] if found else ""


def read_labels(folder: Path, table: str, folders: Sequence[str]) -> pd.DataFrame:
    """What is known of each image, by the table or, without one, by the names of its folders."""
    return read_table(folder / table) if table else read_names(folder, folders)


def read_table(path: Path) -> pd.DataFrame:
    """A row for each image, columns as they are; texts stay texts."""
    if path.name == ATTRIBUTES:
        return _celeba(path)
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise InputError(
            f"{path}: tables are read from {', '.join(_READERS)}, not from {path.suffix or 'this'}"
        )
    try:
        table = reader(path)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; name the table with --table") from None
    except UnicodeDecodeError:
        data = path.read_bytes()
        # Excel's "Unicode text" begins with this mark.
        encoding = "utf-16" if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "latin1"
        raise InputError(
            f"{path} is not UTF-8 ({_not_utf8(data)}); save it as UTF-8, "
            f"e.g. `iconv -f {encoding} -t utf-8 {path.name} > new{path.suffix}`"
        ) from None
    except (OSError, ValueError) as error:  # pandas' and pyarrow's errors are ValueErrors
        raise InputError(
            f"{path} cannot be read as a table ({first_line(error)}); mend or export it again"
        ) from error
    table.columns = [str(name).strip() for name in table.columns]
    if table.empty:
        raise InputError(f"{path} has no rows; it needs one for each image")
    if not table.columns.is_unique:
        twice = table.columns[table.columns.duplicated()][0]
        raise InputError(f"{path} has two columns '{twice}'; give each its own name")
    _empty_blanks(table)
    return table


def file_column(table: pd.DataFrame, named: str, where: str) -> str:
    """The column that names the images' files."""
    found = [column for name in FILE_COLUMNS for column in table.columns if column.lower() == name]
    if named or found:
        return str(column_of(table, named or found[0], where).name)
    raise InputError(
        f"{where}: no column is called {', '.join(FILE_COLUMNS[:5])}; name the one with the images' files with --files"
    )


def _empty_blanks(table: pd.DataFrame) -> None:
    """A text without a letter is no value: JSON and Parquet write one where nobody filled a label in."""
    for name, column in table.items():
        if pd.api.types.is_object_dtype(column) or pd.api.types.is_string_dtype(column):
            blank = np.array([isinstance(value, str) and not value.strip() for value in column])
            if blank.any():
                table[name] = column.mask(blank)


def _not_utf8(data: bytes) -> str:
    """Where a file leaves UTF-8."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return f"byte {data[error.start]:#04x} in line {line}"
    return "its header"


def _csv(path: Path) -> pd.DataFrame:
    with path.open(encoding="utf-8-sig") as handle:
        header = next(filter(str.strip, handle), "")  # pandas passes over empty lines, too
    separator = max(",;\t", key=header.count)
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:
            # Texts as they are written: as numbers 01 and 1 would be one value. Only what is empty is missing: "None"
            # and "NA" are names like others. Without index_col fields that the header does not name would move all
            # columns by one.
            table = pd.read_csv(
                path,
                sep=separator,
                encoding="utf-8-sig",
                skipinitialspace=True,
                dtype=str,
                keep_default_na=False,
                na_values=[""],
                index_col=False,
            )
        except pd.errors.ParserWarning as warning:
            raise ValueError("its lines have more fields than its header names") from warning
    # Names as they are written: pandas would number a second column of one name, and the first would be taken.
    names = next(csv.reader([header], delimiter=separator, skipinitialspace=True), [])
    if len(names) == len(table.columns):
        table.columns = [name.strip() or given for name, given in zip(names, table.columns)]
    return table


def _json_lines(path: Path) -> pd.DataFrame:
    rows = []
    # Not splitlines: it also cuts where a text holds a line separator (U+2028), which JSON leaves as it is.
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(f"line {number}: {error.msg}") from error
        if not isinstance(row, dict):
            raise ValueError(f'line {number} is not an object like {{"file": "a.png", "colour": "red"}}')
        rows.append(row)
    return pd.DataFrame(rows)


def _parquet(path: Path) -> pd.DataFrame:
    table = pd.read_parquet(path)
    # pandas keeps files as the names of rows, where a user has made them that.
    return table if table.index.names == [None] else table.reset_index()


def _celeba(path: Path) -> pd.DataFrame:
    files, names, entries = read_attributes(path, path.stat().st_mtime_ns)
    attributes = pd.DataFrame(entries > 0, columns=list(names))
    attributes.insert(0, "file", [f"{IMAGES}/{name}" for name in files])
    return attributes


_READERS: dict[str, Callable[[Path], pd.DataFrame]] = {
    ".csv": _csv,
    ".tsv": _csv,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".parquet": _parquet,
}

TABLES = tuple(_READERS)
"""How the name of a table ends."""
