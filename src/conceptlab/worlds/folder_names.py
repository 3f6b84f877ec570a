"""Labels in the names of folders: `red/circle/001.png` or `red_circle/001.png`. They make a table like any other.

Nested folders are a variable for each level. Where there is one level only, names of several words are a variable for
each word, as in `red_circle`, `red-circle` or `red circle`. Whoever names the variables says so which of the two is
meant: by as many names as there are levels, or words in all.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import NoReturn

import pandas as pd

from conceptlab.errors import InputError, unusable

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm", ".pbm")
"""What is taken for an image among other files. A table may name whatever it likes."""

FILE = "file"
UNNAMED = ("folder", "word")
"""What variables are called if nobody names them, with their number."""

_ELSE = "or put a table beside the images (docs/own_data.md)"

Parts = list[tuple[str, ...]]


def read_names(folder: Path, names: Sequence[str]) -> pd.DataFrame:
    """A row for each image, in the order of their paths: its file, and what the names of its folders say. Read again
    with the columns it got, the table is the same."""
    if len({FILE, *names}) <= len(names):
        raise InputError(f"--folders {' '.join(names)}: give each variable a name of its own, not '{FILE}'")
    files = _images(folder)
    columns, values = _columns(folder, [file.parts[:-1] for file in files], names)
    rows = [[file.as_posix(), *own] for file, own in zip(files, values)]
    return pd.DataFrame(rows, columns=[FILE, *columns])


def _images(folder: Path) -> list[PurePosixPath]:
    """All images, relative to the folder. All lie equally deep; what is hidden is not looked at."""
    found: list[PurePosixPath] = []
    empty: list[str] = []
    for root, folders, files in os.walk(folder, onerror=_refuse, followlinks=True):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in folders:
            _refuse_circle(Path(root, name))
        place = PurePosixPath(Path(root).relative_to(folder).as_posix())
        images = [name for name in files if _is_image(name)]
        found += [place / name for name in images]
        if not images and not folders:
            empty.append(str(place))
    found.sort()
    for file in found:
        # What a name in another encoding should mean cannot be told, and no table or page could hold it.
        if not (name := os.fsencode(file)).isascii() and name.decode("utf-8", "replace") != str(file):
            raise InputError(
                f"{folder}: a name is not UTF-8 ({name.decode('utf-8', 'replace')}); rename it, e.g. with "
                "`convmv -r -f latin1 -t utf-8 --notest`"
            )
    if not found or all(len(file.parts) == 1 for file in found):
        raise InputError(
            f"{folder} has no table of attributes, and no images in folders that tell them; sort images as in "
            f"red/circle/001.png or red_circle/001.png, {_ELSE}"
        )
    shallow, deep = (end(found, key=lambda file: len(file.parts)) for end in (min, max))
    if len(shallow.parts) < len(deep.parts):
        raise InputError(
            f"{folder}: some images lie in more folders than others ({deep}, {shallow}); sort all alike, {_ELSE}"
        )
    if empty:
        more = f" and {len(empty) - 1} more" if len(empty) > 1 else ""
        raise InputError(
            f"{folder}: folders without an image ({', '.join(SUFFIXES)}): {empty[0]}{more}; put some there, or take "
            "them away: combinations without images need no folder"
        )
    return found


def _refuse_circle(path: Path) -> None:
    """A link to a folder that it lies in would lead round and round, and two of them without an end."""
    if path.is_symlink() and os.path.realpath(path) in map(os.path.realpath, path.absolute().parents):
        raise InputError(f"{path} is a link to a folder that it lies in; take it away")


def unlisted(folder: Path, listed: Sequence[Path]) -> list[str]:
    """Images in a folder that its table does not list, relative to it. What cannot be opened is passed over."""
    real = {parent: os.path.realpath(parent) for parent in {path.parent for path in listed}}
    known = {_key(real[path.parent], path.name) for path in listed}
    seen: set[str] = set()
    found: list[Path] = []
    # Links are followed only to where listed images lie: others may lead anywhere, or round in a circle.
    for start in (folder, *sorted(real)):
        for root, folders, files in os.walk(start):
            place = os.path.realpath(root)
            folders[:] = [name for name in folders if not name.startswith(".") and place not in seen]
            if place not in seen:
                images = (name for name in files if _is_image(name))
                found += [Path(root, name) for name in images if _key(place, name) not in known]
            seen.add(place)
    return [path.relative_to(folder).as_posix() for path in sorted(found)]


def _key(folder: str, name: str) -> tuple[str, str]:
    """Where a file lies. On some systems a table may write its name in capitals, or ü in another way than the disk."""
    return folder, unicodedata.normalize("NFC", name).casefold()


def _refuse(error: OSError) -> NoReturn:
    """A folder that may not be opened is not one that is not there."""
    raise unusable(error.filename, error)


def _is_image(name: str) -> bool:
    return not name.startswith(".") and Path(name).suffix.lower() in SUFFIXES


def _columns(folder: Path, levels: Parts, names: Sequence[str]) -> tuple[Sequence[str], Parts]:
    """What the variables are called, and the values of each image."""
    # On some systems ü is written as u and two dots. Nobody who reads or types it could tell the two apart.
    levels = [tuple(unicodedata.normalize("NFC", part) for part in own) for own in levels]
    words, depth = _words(levels), len(levels[0])
    count = len(words[0]) if words else 0
    if names and len(names) not in (depth, count):
        inside = f", with {count} words" if count > depth else ""
        raise InputError(
            f"{folder} has {depth} level{'s' if depth > 1 else ''} of folders{inside}, and --folders names "
            f"{', '.join(names)}; give a name for each"
        )
    if not names and not words and depth == 1:
        few, many = (end(levels, key=lambda own: len(_split(own[0])))[0] for end in (min, max))
        raise InputError(
            f"{folder}: some names of folders have more words than others ({many}, {few}); rename them, give "
            f"--folders NAME if each is one value, {_ELSE}"
        )
    by_word = len(names) != depth if names else depth == 1 and count > 1
    kind, values = (UNNAMED[1], words) if by_word and words else (UNNAMED[0], levels)
    return names or [f"{kind}{number + 1}" for number in range(len(values[0]))], values


def _words(levels: Parts) -> Parts | None:
    """The words in the names of each image's folders, if on every level all names have as many."""
    split = {own: [_split(part) for part in own] for own in set(levels)}
    counts = {tuple(map(len, words)) for words in split.values()}
    if len(counts) > 1 or 0 in next(iter(counts)):
        return None
    return [tuple(word for words in split[own] for word in words) for own in levels]


def _split(name: str) -> list[str]:
    return re.findall(r"[^_\-\s]+", name)
