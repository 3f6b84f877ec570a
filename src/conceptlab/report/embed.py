"""Pictures inside the page: as data URIs, within a budget of bytes."""

from __future__ import annotations

import base64
import gzip
import io
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from conceptlab.errors import InputError

# The width of a figure in the house style, and the one below which nothing can be read.
_WIDTH, _LEAST_WIDTH = 1540, 400


def picture_uris(paths: Sequence[Path], most: int) -> list[str]:
    """Figures' PNGs as data URIs of at most `most` bytes together: exact where that is smaller or all fits, else
    slightly lossy and, until they fit, all narrowed to one width: a picture of many panels keeps its words."""
    exact = [_exact(path, most) for path in paths]
    if all(exact) and sum(map(len, exact)) <= most:
        return [_uri(data) for data in exact]
    width = _WIDTH
    while True:
        lossy = [_webp(_narrowed(read_picture(path), width), lossless=False) for path in paths]
        made = [min(data, whole or data, key=len) for data, whole in zip(lossy, exact)]
        total = sum(map(len, made))
        if total <= most or width <= _LEAST_WIDTH:
            return [_uri(data) for data in made]
        # The bytes of a line drawing go about with its width.
        width = max(_LEAST_WIDTH, min(width - 20, width * most // total))


def _exact(path: Path, most: int) -> bytes:
    """The picture as it is; nothing where it cannot fit. Exact WebP takes about the bytes of the PNG, and four times as
    long as lossy WebP."""
    return _webp(read_picture(path), lossless=True) if path.stat().st_size < 2 * most else b""


def read_picture(path: Path) -> Image.Image:
    """A figure's PNG, no wider than the house style draws it."""
    try:
        with Image.open(path) as opened:
            return _narrowed(opened.convert("RGB"), _WIDTH)
    except (OSError, ValueError, SyntaxError) as error:
        raise InputError(f"{path.name} cannot be read as a picture ({type(error).__name__})") from error


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
    return _uri(_webp(Image.fromarray(pixels), lossless=exact))


def _webp(picture: Image.Image, *, lossless: bool) -> bytes:
    written = io.BytesIO()
    # Where nothing is lost, quality is effort: this much takes half the time of 80 and 4, for a twentieth more bytes.
    effort = {"quality": 20, "method": 2} if lossless else {"quality": 80, "method": 4}
    picture.save(written, format="WEBP", lossless=lossless, **effort)
    return written.getvalue()


def _uri(data: bytes) -> str:
    return f"data:image/webp;base64,{base64.b64encode(data).decode()}"


def packed(text: str) -> str:
    """A long text for the page to unpack: of plotly.js two fifths of its bytes. The same text always gives the same."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def packed_json(value: object) -> str:
    """A chart for the page to unpack: its numbers and labels repeat."""
    return packed(json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":")))
