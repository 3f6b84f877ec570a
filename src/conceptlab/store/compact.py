"""Tables and pictures in as few bytes as they take, and still read by anything that reads Parquet and PNG.

In tables every column that is not a number in floating point is spelt out once and then referred to; the bytes of
floating point numbers are sorted by their place (`BYTE_STREAM_SPLIT`), which is what makes them compressible at all.
Nothing but the space changes. Pictures that 256 colours show as well get by with them.
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from conceptlab.errors import InputError
from conceptlab.store.files import write_atomically

_LEVEL = 12  # of zstd; beyond it hardly anything is won
LEAST_LIKENESS = 40.0  # decibels; lines and letters reach 45 to 65, sheets of drawn images 35


def write_compact(path: Path, table: pd.DataFrame) -> None:
    """Write a table without loss."""
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    # What pandas notes about its types takes 2 kB in every file, and most tables read back the same without it.
    plain = arrow.replace_schema_metadata(None)
    if plain.to_pandas().equals(table):
        arrow = plain
    floating = [field.name for field in arrow.schema if pa.types.is_floating(field.type)]
    others = [field.name for field in arrow.schema if field.name not in floating]

    def write(place: Path) -> None:
        pq.write_table(
            arrow,
            place,
            compression="zstd",
            compression_level=_LEVEL,
            use_dictionary=others or False,  # pyright: ignore[reportArgumentType]  (a list of columns, says its manual)
            column_encoding=dict.fromkeys(floating, "BYTE_STREAM_SPLIT") or None,
            write_statistics=False,
        )

    write_atomically(path, write)


def compact_picture(path: Path) -> bytes:
    """A picture as PNG: with 256 colours, a third of the bytes, if nobody could tell; otherwise as it is."""
    picture = read_picture(path)
    if _has_a_palette(path):
        return path.read_bytes()  # packed before: once more would only blur it
    few = picture.quantize(256, method=Image.Quantize.MEDIANCUT, kmeans=1, dither=Image.Dither.NONE)
    if likeness(picture, few.convert("RGB")) < LEAST_LIKENESS:
        return path.read_bytes()
    written = io.BytesIO()
    few.save(written, format="PNG", optimize=True)
    return written.getvalue()


def read_picture(path: Path) -> Image.Image:
    try:
        with Image.open(path) as opened:
            return opened.convert("RGB")
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is damaged ({error}); move it away and run again") from error


def _has_a_palette(path: Path) -> bool:
    with Image.open(path) as opened:
        return opened.format == "PNG" and opened.mode == "P"


def likeness(a: Image.Image, b: Image.Image) -> float:
    """Peak signal over noise in decibels, by the worst channel of each pixel; infinite if they are equal."""
    error = np.abs(np.asarray(a, dtype=float) - np.asarray(b, dtype=float)).max(axis=-1)
    noise = float((error**2).mean())
    return float(10 * np.log10(255**2 / noise)) if noise else float("inf")
