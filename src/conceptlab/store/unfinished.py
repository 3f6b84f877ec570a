"""Figures whose run was begun and not ended, and the command that goes on with them."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from conceptlab.store.runs import FigureRun


def has_ended(run: FigureRun) -> bool:
    """Only the end of a run writes how long it took, and the next one begins by taking that out."""
    return "seconds" in run.manifest


def is_drawn(run: FigureRun) -> bool:
    """Whether its tables and pictures were made; what they say is judged after those of all figures of a run."""
    return "tables" in run.manifest


def untrained(run: FigureRun) -> list[str]:
    """The members of a figure that were not trained to their end; those that failed were."""
    folder = run.store.root / "members"
    ids = dict.fromkeys(run.manifest["members"])
    return [id_ for id_ in ids if not (folder / id_ / "done.json").exists()]


def go_on(run: FigureRun) -> str:
    """The command that goes on with a figure. A manifest does not say where it lies: folders are moved. Files named by
    relative paths are found where the run was begun; to write them in another way would be another configuration."""
    manifest = run.manifest
    command = manifest.get("command", f"conceptlab run {run.name} --scale {manifest['scale']}")
    told = f"{command} {shlex.join(['--out', str(run.store.root.resolve())])}"
    directory = Path(manifest.get("directory", ""))
    elsewhere = os.path.isdir(directory) and not directory.samefile(Path())
    return f"{shlex.join(['cd', str(directory)])} && {told}" if elsewhere else told
