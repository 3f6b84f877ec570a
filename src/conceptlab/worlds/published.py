"""Data sets of square images that are published as one file, with a number for each factor of every image."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd

from conceptlab.errors import InputError
from conceptlab.worlds import checks
from conceptlab.worlds.binning import Variables
from conceptlab.worlds.labelled import LabelledWorld, Source

SIDE = 64
RESOLUTIONS = ("16", "32", "64")


def shape_names(path: Path, numbers: pd.Series, names: Mapping[float, str]) -> pd.Series:
    """A column of shapes by their names. Another number would be a gap, and its rows said to lack a value."""
    strange = numbers[~numbers.isin(list(names))].unique()
    if len(strange):
        shown = ", ".join(f"{number:g}" for number in strange[:3]) + (", …" if len(strange) > 3 else "")
        known = ", ".join(f"{number:g} ({name})" for number, name in names.items())
        raise InputError(f"{path}: 'shape' holds numbers that stand for no shape ({shown}); known: {known}")
    return numbers.map(dict(names))


@dataclass(frozen=True)
class PublishedFile(LabelledWorld):
    """Images of 64×64; smaller ones are means over blocks of pixels."""

    channels: ClassVar[int]

    file: str = ""
    variables: Variables = ()
    continuous: tuple[str, ...] = ()
    resolution: int = SIDE
    part: str = "model"
    fingerprint: str = ""

    def __post_init__(self) -> None:
        checks.chosen(self.name, "resolution", (str(self.resolution),), RESOLUTIONS)
        self._settle()

    @property
    def where(self) -> str:
        return self.file

    @property
    def image_shape(self) -> tuple[int, int, int]:
        return self.channels, self.resolution, self.resolution

    def source(self) -> Source:
        path = Path(self.file)
        table = self.factors(path)
        about = path.stat()
        identity = [self.name, str(path.resolve()), about.st_size, about.st_mtime_ns]
        return Source(table, [str(row) for row in range(len(table))], identity, self._fill)

    @abstractmethod
    def factors(self, path: Path) -> pd.DataFrame:
        """A row for each image, a column for each factor."""

    @abstractmethod
    def _fill(self, rows: np.ndarray, out: np.ndarray) -> None:
        """Write the images of some rows, which are in order, never holding many of them."""

    def _shrunk(self, images: np.ndarray) -> np.ndarray:
        """8-bit images (n, C, H, W) as means over blocks of pixels."""
        block = SIDE // self.resolution
        if block == 1:
            return images
        shape = (*images.shape[:2], self.resolution, block, self.resolution, block)
        return np.rint(images.reshape(shape).mean((3, 5))).astype(np.uint8)
