"""The image files of a labelled folder: looked over before any is decoded, then decoded to one size and mode."""

from __future__ import annotations

import os
import unicodedata
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from PIL import Image, ImageOps

from conceptlab.errors import first_line
from conceptlab.worlds.problems import Problems

# More pixels than any photograph for a study; a small file that unfolds to more is a bomb or a mistake.
MOST_PIXELS = 50_000_000

CHANNELS = {"L": 1, "RGB": 3, "RGBA": 4}
# What an image becomes if nobody says otherwise. Whatever is not here cannot be shown in 8 bits without a choice.
_NATURAL = {
    "1": "L",
    "L": "L",
    "P": "RGB",
    "RGB": "RGB",
    "RGBA": "RGBA",
    "LA": "RGBA",
    "PA": "RGBA",
    "CMYK": "RGB",
}
_UNREADABLE = (OSError, SyntaxError, ValueError, Image.DecompressionBombError)

T = TypeVar("T")
R = TypeVar("R")


def paths_of(problems: Problems, folder: Path, files: Sequence[object]) -> list[Path]:
    """Where the files of a table lie; those outside the folder or missing are problems, and left out."""
    found = []
    for row, name in enumerate(files, start=1):
        text = "" if name is None or name != name else str(name).strip()
        plain = os.path.normpath(text)
        if not text:
            problems.add("rows without a file", f"row {row}", "Name the image, or take the row out.")
        elif os.path.isabs(plain) or plain.split(os.sep)[0] == os.pardir:
            remedy = "Give paths relative to the table's folder."
            problems.add("files outside the folder", f"row {row}: {text}", remedy)
        elif path := _there(folder, str(name)):
            found.append(path)
        elif os.path.isfile(folder / text.replace("\\", "/")):
            remedy = "Write the folders in the table with / in place of \\."
            problems.add("files named as on Windows", f"{text} (row {row})", remedy)
        else:
            remedy = "Put them there, or take their rows out of the table."
            problems.add("missing files", f"{text} (row {row})", remedy)
    return found


def _there(folder: Path, name: str) -> Path | None:
    """The file of a name: as it is written, or as it is read. Like values, names may have spaces around them, and some
    systems write ü as u and two dots, in tables or on disk."""
    read = name.strip()
    for spelt in (name, read, unicodedata.normalize("NFC", read), unicodedata.normalize("NFD", read)):
        if os.path.isfile(path := folder / os.path.normpath(spelt)):
            return path
    return None


@dataclass(frozen=True)
class Look:
    """What the headers of image files say: the size and mode to decode to, and which files can be decoded."""

    resolution: int
    mode: str
    readable: list[Path]


def look_over(
    problems: Problems, folder: Path, paths: Sequence[Path], resolution: int | None, mode: str
) -> Look:
    """Read headers alone. Resolution and mode are as given, else what all images have."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        headers = in_threads(_header, paths)
    sizes, modes, readable = Counter[tuple[int, int]](), Counter[str](), []
    for path, header in zip(paths, headers):
        name = path.relative_to(folder).as_posix()
        if isinstance(header, str):
            problems.add("images that cannot be read", f"{name} ({header})", _REPAIR)
        elif header[0] * header[1] > MOST_PIXELS:
            remedy = "Scale them down first; a small file that unfolds so far may be a decompression bomb."
            problems.add(f"images of more than {MOST_PIXELS // 10**6} megapixels", name, remedy)
        elif header[2] not in _NATURAL:
            about = f"{name} (mode {header[2]})"
            problems.add("images that are not 8-bit", about, "Convert them to 8-bit PNG.")
        else:
            readable.append(path)
            sizes[header[:2]] += 1
            modes[_NATURAL[header[2]]] += 1
    if resolution is None and len(sizes) > 1:
        shown = ", ".join(f"{count} of {w}×{h}" for (w, h), count in sizes.most_common(4))
        problems.add("mixed sizes", shown + (", …" if len(sizes) > 4 else ""), _SCALE)
    if not mode and len(modes) > 1:
        shown = ", ".join(f"{count} {name}" for name, count in modes.most_common())
        problems.add("mixed modes", shown, "Give --mode RGB, L or RGBA: all are then converted to it.")
    width, height = sizes.most_common(1)[0][0] if sizes else (1, 1)
    if resolution is None and len(sizes) == 1 and width != height:
        problems.add("images that are not square", f"all are {width}×{height}", _SCALE)
    side = width if resolution is None else resolution
    return Look(side, mode or (modes.most_common(1)[0][0] if modes else "RGB"), readable)


_REPAIR = "Replace them, or take them out (of the table, where there is one)."
_SCALE = "Give --resolution N: the middle square of each is then scaled to N×N."


def decode(
    problems: Problems,
    folder: Path,
    paths: Sequence[Path],
    resolution: int,
    mode: str,
    out: np.ndarray | None,
) -> None:
    """Fill (images, C, H, W), 8 bits, a chunk at a time; what cannot be decoded is a problem. Without `out` it is only
    tried."""
    chunk = 1024
    for start in range(0, len(paths), chunk):
        some = paths[start : start + chunk]
        for place, pixels in enumerate(in_threads(lambda path: _pixels(path, resolution, mode), some)):
            if isinstance(pixels, str):
                name = some[place].relative_to(folder).as_posix()
                problems.add("damaged images", f"{name} ({pixels})", _REPAIR)
            elif out is not None:
                out[start + place] = pixels


def in_threads(function: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Decoding releases Python's lock, so threads use all cores."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with ThreadPoolExecutor(cores) as pool:
        return list(pool.map(function, items))


def _header(path: Path) -> tuple[int, int, str] | str:
    """Width, height and mode, or why they cannot be had."""
    try:
        with Image.open(path) as picture:
            return *picture.size, picture.mode
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        return MOST_PIXELS + 1, 1, "RGB"
    except Image.UnidentifiedImageError:
        return "not an image"
    except _UNREADABLE as error:
        return first_line(error, 100)


def _pixels(path: Path, resolution: int, mode: str) -> np.ndarray | str:
    """The middle square, scaled: (C, H, W). Where colours are asked of a transparent image, it lies on white."""
    try:
        with Image.open(path) as opened:
            picture = ImageOps.exif_transpose(opened)
            if mode != "RGBA" and (picture.mode in ("RGBA", "LA", "PA") or "transparency" in picture.info):
                paper = Image.new("RGBA", picture.size, "white")
                picture = Image.alpha_composite(paper, picture.convert("RGBA"))
            side = min(picture.size)
            left, top = ((length - side) // 2 for length in picture.size)
            square = picture.convert(mode).crop((left, top, left + side, top + side))
        if side != resolution:
            square = square.resize((resolution, resolution), Image.Resampling.BILINEAR)
        pixels = np.asarray(square)
        return pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)
    except _UNREADABLE as error:
        return first_line(error, 100)
