"""World `shapes3d`: 3D Shapes (Burgess and Kim, 2018) in its published file.

`3dshapes.h5` holds `images` (480,000 × 64 × 64 × 3, 8 bits) and `labels`, a number for each of six factors. Reading it
needs h5py (the extra `data`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from conceptlab.errors import InputError
from conceptlab.worlds.published import PublishedFile, shape_names
from conceptlab.worlds.registry import register

FACTORS = ("floor_hue", "wall_hue", "object_hue", "scale", "shape", "orientation")
SHAPES = {0.0: "cube", 1.0: "cylinder", 2.0: "sphere", 3.0: "capsule"}
_CHUNK = 2048


@register("shapes3d")
@dataclass(frozen=True)
class Shapes3D(PublishedFile):
    """Colour images."""

    channels: ClassVar[int] = 3

    def factors(self, path: Path) -> pd.DataFrame:
        return read_factors(path)

    def _fill(self, rows: np.ndarray, out: np.ndarray) -> None:
        with _opened(Path(self.file)) as file:
            images = file["images"]
            for start in range(0, len(images), _CHUNK):
                here = rows[(rows >= start) & (rows < start + _CHUNK)]
                if len(here):
                    chunk = images[start : start + _CHUNK][here - start].transpose(0, 3, 1, 2)
                    out[np.searchsorted(rows, here)] = self._shrunk(chunk)


def read_factors(path: Path) -> pd.DataFrame:
    """A column for each factor; shapes by their names."""
    with _opened(path) as file:
        missing = {"images", "labels"} - set(file)
        if missing:
            raise InputError(
                f"{path} is not the 3D Shapes file: it has no {' and no '.join(sorted(missing))}"
            )
        labels, shape, kind = np.asarray(file["labels"]), file["images"].shape, file["images"].dtype
    if labels.shape != (shape[0], len(FACTORS)) or shape[1:] != (64, 64, 3):
        raise InputError(f"{path}: labels must have the columns {', '.join(FACTORS)}, images be 64×64×3")
    if kind != np.uint8 or not np.issubdtype(labels.dtype, np.number):
        raise InputError(
            f"{path}: images must be of 8 bits and labels numbers, not {kind} and {labels.dtype}; convert them"
        )
    table = pd.DataFrame(labels.round(6), columns=list(FACTORS))
    table["shape"] = shape_names(path, table["shape"], SHAPES)
    return table


def _opened(path: Path) -> Any:
    try:
        import h5py
    except ImportError:
        raise InputError("reading 3D Shapes needs h5py: pip install 'conceptlab[data]'") from None
    if not path.is_file():
        raise InputError(f"{path} does not exist; name the 3D Shapes .h5 file")
    try:
        return h5py.File(path, "r")
    except OSError as error:
        raise InputError(f"{path} is not a readable HDF5 file; download it again") from error
