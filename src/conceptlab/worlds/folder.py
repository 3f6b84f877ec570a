"""World `folder`: a user's own images with a table of their attributes, or sorted into folders named after these."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from conceptlab.errors import InputError
from conceptlab.worlds import checks
from conceptlab.worlds.binning import Variables
from conceptlab.worlds.folder_images import CHANNELS, decode, look_over, paths_of
from conceptlab.worlds.folder_names import UNNAMED
from conceptlab.worlds.folder_table import file_column, read_labels
from conceptlab.worlds.labelled import LabelledWorld, Source
from conceptlab.worlds.problems import Problems
from conceptlab.worlds.registry import register

LEAST_RESOLUTION = 4


@register("folder")
@dataclass(frozen=True)
class Folder(LabelledWorld):
    """`files` is the table's column of file names, relative to the folder. Without a table, `folders` are the variables
    that the names of folders tell. Images are cut to their middle square and scaled to
    `resolution`, in `mode` L, RGB or RGBA."""

    folder: str = ""
    table: str = ""
    files: str = ""
    variables: Variables = ()
    continuous: tuple[str, ...] = ()
    resolution: int = 32
    mode: str = "RGB"
    part: str = "model"
    fingerprint: str = ""
    folders: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        checks.whole("folder", "resolution", self.resolution, LEAST_RESOLUTION)
        checks.chosen("folder", "mode", (self.mode,), CHANNELS)
        self._settle()

    @property
    def where(self) -> str:
        return str(Path(self.folder) / self.table)

    @property
    def unnamed(self) -> bool:
        """Whether its variables are called after their place in the names of folders."""
        return any(self.folders[:1] == (f"{kind}1",) for kind in UNNAMED)

    @property
    def settings(self) -> dict[str, Any]:
        # Members trained on tables are older than `folders`, and are found by their settings.
        return {name: value for name, value in super().settings.items() if name != "folders" or value}

    @property
    def image_shape(self) -> tuple[int, int, int]:
        return CHANNELS[self.mode], self.resolution, self.resolution

    def source(self) -> Source:
        folder = Path(self.folder)
        if not (folder / self.table).exists():  # it was there when the world was made: no option is wrong
            raise InputError(f"{self.where} is no longer there, and a run needs its data: put them back")
        table = read_labels(folder, self.table, self.folders)
        files = table[file_column(table, self.files, self.where)].tolist()
        problems = Problems(self.where)
        paths = paths_of(problems, folder, files)
        problems.stop()

        def fill(rows: np.ndarray, out: np.ndarray) -> None:
            chosen = [paths[row] for row in rows]
            found = Problems(self.where)
            look_over(found, folder, chosen, self.resolution, self.mode)
            found.stop()
            decode(found, folder, chosen, self.resolution, self.mode, out)
            found.stop()

        # Content is not read to see whether it changed: a file that did has another size or time.
        marks = [[str(path), (about := path.stat()).st_size, about.st_mtime_ns] for path in paths]
        return Source(table, [str(name) for name in files], ["folder", marks, self.mode], fill)
