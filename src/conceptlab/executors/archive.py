"""Folders of a store as bytes, for machines that share no file system."""

from __future__ import annotations

import io
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path

from conceptlab.store.files import make_folder


def pack(root: Path, folders: Iterable[Path]) -> bytes:
    """Some folders below the root, without their locks."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for folder in folders:
            archive.add(folder, arcname=folder.relative_to(root).as_posix(), filter=_plain)
    return buffer.getvalue()


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if Path(entry.name).name.startswith(".") else entry


def unpack(data: bytes, root: Path) -> list[Path]:
    """Put packed folders where they belong; one that is there already, finished, stays as it is.

    They are unpacked beside their place and moved file by file, `done.json` and `validation.json` last: a reader takes
    a folder without them for unfinished.
    """
    make_folder(root)
    placed = []
    with tempfile.TemporaryDirectory(dir=root, prefix=".unpacking-") as temporary:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            archive.extractall(temporary, filter="data")
        for source in sorted(Path(temporary).glob("*/*")):
            target = root / source.relative_to(temporary)
            if not any((target / name).exists() for name in _LAST):
                _move(source, target)
                placed.append(target)
    return placed


_LAST = ("done.json", "validation.json")


def _move(source: Path, target: Path) -> None:
    files = [path for path in sorted(source.rglob("*")) if path.is_file()]
    for path in sorted(files, key=lambda path: path.name in _LAST):
        place = target / path.relative_to(source)
        make_folder(place.parent)
        os.replace(path, place)
    shutil.rmtree(source)
