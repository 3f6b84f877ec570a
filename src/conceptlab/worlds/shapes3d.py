"""World `shapes3d`: 3D Shapes (Burgess and Kim, 2018) in its published file.

`3dshapes.h5` holds `images` (480,000 × 64 × 64 × 3, 8 bits) and `labels`, a number for each of six factors. Reading it
needs h5py (the extra `data`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from conceptlab.errors import InputError
from conceptlab.worlds import checks
from conceptlab.worlds.binning import Variables
from conceptlab.worlds.dsprites import RESOLUTIONS, shrunk
from conceptlab.worlds.labelled import LabelledWorld, Source
from conceptlab.worlds.registry import register

FACTORS = ("floor_hue", "wall_hue", "object_hue", "scale", "shape", "orientation")
SHAPES = {0.0: "cube", 1.0: "cylinder", 2.0: "sphere", 3.0: "capsule"}
_CHUNK = 2048


@register("shapes3d")
@dataclass(frozen=True)
class Shapes3D(LabelledWorld):
    """Colour images; below 64×64 they are means over blocks of pixels."""

    file: str = ""
    variables: Variables = ()
    continuous: tuple[str, ...] = ()
    resolution: int = 64
    part: str = "model"
    fingerprint: str = ""

    def __post_init__(self) -> None:
        checks.chosen("shapes3d", "resolution", (str(self.resolution),), RESOLUTIONS)
        self._settle()

    @property
    def where(self) -> str:
        return self.file

    @property
    def image_shape(self) -> tuple[int, int, int]:
        return 3, self.resolution, self.resolution

    def source(self) -> Source:
        path = Path(self.file)
        table = read_factors(path)

        def fill(rows: np.ndarray, out: np.ndarray) -> None:
            with _opened(path) as file:
                images = file["images"]
                for start in range(0, len(images), _CHUNK):
                    here = rows[(rows >= start) & (rows < start + _CHUNK)]
                    if len(here):
                        chunk = images[start : start + _CHUNK][here - start].transpose(0, 3, 1, 2)
                        out[np.searchsorted(rows, here)] = shrunk(chunk, self.resolution)

        about = path.stat()
        identity = ["shapes3d", str(path.resolve()), about.st_size, about.st_mtime_ns]
        return Source(table, [str(row) for row in range(len(table))], identity, fill)


def read_factors(path: Path) -> pd.DataFrame:
    """A column for each factor; shapes by their names."""
    with _opened(path) as file:
        missing = {"images", "labels"} - set(file)
        if missing:
            raise InputError(
                f"{path} is not the 3D Shapes file: it has no {' and no '.join(sorted(missing))}"
            )
        labels, shape = np.asarray(file["labels"]), file["images"].shape
    if labels.shape != (shape[0], len(FACTORS)) or shape[1:] != (64, 64, 3):
        raise InputError(f"{path}: labels must have the columns {', '.join(FACTORS)}, images be 64×64×3")
    table = pd.DataFrame(labels.round(6), columns=list(FACTORS))
    table["shape"] = table["shape"].map(SHAPES)
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
