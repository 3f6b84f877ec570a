"""World `dsprites`: the data set of Matthey, Higgins, Hassabis and Lerchner (2017) in its published file.

`dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz` holds `imgs` (737,280 × 64 × 64, 0 or 1) and `latents_values`. Names
of the latent factors lie in a pickle, which is not read; they are those of the publication. The archive is unpacked
as a stream: never more than a few thousand images are in memory.
"""

from __future__ import annotations

import contextlib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, ClassVar

import numpy as np
import pandas as pd

from conceptlab.errors import InputError, first_line
from conceptlab.worlds.published import PublishedFile, shape_names
from conceptlab.worlds.registry import register

FACTORS = ("color", "shape", "scale", "orientation", "posX", "posY")
SHAPES = {1.0: "square", 2.0: "ellipse", 3.0: "heart"}
_CHUNK = 4096


@register("dsprites")
@dataclass(frozen=True)
class DSprites(PublishedFile):
    """Grey images."""

    channels: ClassVar[int] = 1

    def factors(self, path: Path) -> pd.DataFrame:
        return read_factors(path)

    def _fill(self, rows: np.ndarray, out: np.ndarray) -> None:
        start = 0
        for images in _images(Path(self.file)):
            here = rows[(rows >= start) & (rows < start + len(images))]
            out[np.searchsorted(rows, here)] = self._shrunk(images[here - start][:, None] * np.uint8(255))
            start += len(images)


def read_factors(path: Path) -> pd.DataFrame:
    """A column for each latent factor; shapes by their names."""
    try:
        if path.is_file() and not zipfile.is_zipfile(path):  # numpy would advise to load it as a pickle
            raise zipfile.BadZipFile("it is no archive")
        with np.load(path, allow_pickle=False) as held:
            values = held["latents_values"]
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; name the dSprites .npz file") from None
    except KeyError as error:
        raise InputError(
            f"{path} is not the dSprites file (it has no latents_values); put images of your own into a folder with a "
            "table beside them, see docs/own_data.md"
        ) from error
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise InputError(
            f"{path} is not the dSprites file ({first_line(error)}); download it again"
        ) from error
    if values.ndim != 2 or values.shape[1] != len(FACTORS):
        raise InputError(f"{path}: latents_values must have the columns {', '.join(FACTORS)}")
    if len(values) != (count := _count(path)):  # nobody could tell which image is whose
        raise InputError(
            f"{path} has {count} images in imgs and {len(values)} rows in latents_values; it needs a row for each image"
        )
    table = pd.DataFrame(values, columns=list(FACTORS))
    table["shape"] = shape_names(path, table["shape"], SHAPES)
    return table


def _count(path: Path) -> int:
    """How many images there are."""
    with _stream(path) as (_, count):
        return count


def _images(path: Path) -> Iterator[np.ndarray]:
    """The images in chunks (n, 64, 64)."""
    with _stream(path) as (stream, total):
        for start in range(0, total, _CHUNK):
            count = min(_CHUNK, total - start)
            data = stream.read(count * 64 * 64)
            if len(data) < count * 64 * 64:
                raise InputError(f"{path} ends too early; download it again")
            images = np.frombuffer(data, np.uint8).reshape(count, 64, 64)
            if images.max() > 1:
                raise InputError(f"{path}: imgs must hold 0 and 1, not {images.max()}; save them so")
            yield images


@contextlib.contextmanager
def _stream(path: Path) -> Iterator[tuple[IO[bytes], int]]:
    """The archive where its images begin, and how many they are."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open("imgs.npy") as stream:
            version = np.lib.format.read_magic(stream)
            read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
            shape, by_column, dtype = read[version](stream)
            if shape[1:] != (64, 64) or dtype != np.uint8 or by_column:
                order = " by columns (Fortran order)" if by_column else ""
                raise InputError(
                    f"{path}: imgs must be 64×64 of 8 bits, not {shape[1:]} of {dtype}{order}; save them so"
                )
            yield stream, shape[0]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} is damaged ({first_line(error)}); download it again") from error
