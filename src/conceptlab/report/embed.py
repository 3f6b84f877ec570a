"""Pictures inside the page: as data URIs, within a budget of bytes."""

from __future__ import annotations

import base64
import gzip
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from conceptlab.errors import InputError
from conceptlab.report.colours import fewer_colours

# The width of a figure in the house style, and the one below which nothing can be read.
_WIDTH, _LEAST_WIDTH = 1540, 400


@dataclass(frozen=True)
class Embedded:
    """Pictures as data URIs, and how many characters they would take if all were exact."""

    uris: list[str]
    exact: int


def embedded(paths: Sequence[Path], most: int, most_exact: int) -> Embedded:
    """Figures' PNGs in at most `most` characters together: exact if all take `most_exact` at most, else with only as
    many colours as look the same, or slightly lossy where they need more. If these do not fit either, all are
    narrowed to one width: a picture of many panels keeps its words."""
    exact = [_exact(path, most) for path in paths]
    # One that is too large to be tried takes as much as there is.
    whole = sum(_characters(data) if data else most for data in exact)
    if whole <= most_exact:
        return Embedded([_uri(data) for data in exact], whole)
    plain = [_plain(path, data) for path, data in zip(paths, exact)]
    if sum(map(_characters, plain)) > most:
        plain = _fitting(paths, plain, most)
    return Embedded([_uri(data) for data in plain], whole)


def _plain(path: Path, exact: bytes) -> bytes:
    picture = read_picture(path)
    few = fewer_colours(picture)
    other = _webp(few or picture, lossless=few is not None)
    return min(other, exact or other, key=len)


def _fitting(paths: Sequence[Path], plain: Sequence[bytes], most: int) -> list[bytes]:
    width = _WIDTH
    while True:
        lossy = [_webp(_narrowed(read_picture(path), width), lossless=False) for path in paths]
        made = [min(data, whole, key=len) for data, whole in zip(lossy, plain)]
        total = sum(map(_characters, made))
        if total <= most or width <= _LEAST_WIDTH:
            return made
        # The bytes of a line drawing go about with its width.
        width = max(_LEAST_WIDTH, min(width - 20, width * most // total))


def _exact(path: Path, most: int) -> bytes:
    """The picture as it is; nothing where it cannot fit. Exact WebP takes about the bytes of the PNG, and is slow to
    make of a photograph."""
    return _webp(read_picture(path), lossless=True) if path.stat().st_size < 2 * most else b""


def read_picture(path: Path) -> Image.Image:
    """A figure's PNG, no wider than the house style draws it."""
    try:
        with Image.open(path) as opened:
            return _narrowed(opened.convert("RGB"), _WIDTH)
    except (OSError, ValueError, SyntaxError) as error:
        raise InputError(f"{path.name} cannot be read as a picture ({type(error).__name__})") from error


def is_narrow(path: Path) -> bool:
    """Whether a picture has the width of one column: across the page its letters would be twice those of others."""
    with Image.open(path) as opened:
        return opened.width < 0.6 * _WIDTH


def png_uri(path: Path) -> str:
    """A PNG as it is, as a data URI: quick, where bytes do not matter."""
    try:
        with Image.open(path, formats=["PNG"]) as opened:
            opened.verify()
        return f"data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}"
    except (OSError, ValueError, SyntaxError) as error:
        raise InputError(f"{path.name} cannot be read as a picture ({type(error).__name__})") from error


def _narrowed(picture: Image.Image, width: int) -> Image.Image:
    if picture.width <= width:
        return picture
    size = (width, max(1, round(picture.height * width / picture.width)))
    return picture.resize(size, Image.Resampling.LANCZOS)


def pixels_uri(pixels: np.ndarray, *, exact: bool) -> str:
    """An image (height, width, 3) as a data URI; `exact` keeps every pixel."""
    return _uri(_webp(Image.fromarray(pixels), lossless=exact, quick=True))


def _webp(picture: Image.Image, *, lossless: bool, quick: bool = False) -> bytes:
    written = io.BytesIO()
    # Where nothing is lost, quality is effort. The quick one, for samples of which a page has hundreds, takes a quarter
    # of the time and a tenth more bytes; more effort than the other's hardly saves any.
    effort = {"quality": 20, "method": 2} if quick else {"quality": 50, "method": 4}
    picture.save(
        written, format="WEBP", lossless=lossless, **(effort if lossless else {"quality": 80, "method": 4})
    )
    return written.getvalue()


def _characters(data: bytes) -> int:
    """What it takes in the page, where four characters stand for three bytes."""
    return 4 * math.ceil(len(data) / 3)


def _uri(data: bytes) -> str:
    return f"data:image/webp;base64,{base64.b64encode(data).decode()}"


def packed(text: str) -> str:
    """A long text for the page to unpack: of plotly.js two fifths of its bytes. The same text always gives the same."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
