"""Pictures inside the page: as data URIs, within a budget of bytes."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import numpy as np
from PIL import Image

from conceptlab.errors import InputError

# Nothing can be read in a picture narrower than this.
_LEAST_WIDTH = 400


def picture_uri(path: Path, most: int, width: int = 1500) -> str:
    """A figure's PNG as a data URI of at most `most` bytes: exact if that fits, else slightly lossy, else smaller."""
    try:
        with Image.open(path) as opened:
            picture = opened.convert("RGB")
    except (OSError, ValueError, SyntaxError) as error:
        raise InputError(f"{path.name} cannot be read as a picture ({type(error).__name__})") from error
    picture = _narrowed(picture, width)
    # Exact WebP takes about the bytes of the PNG and four times as long as lossy WebP: tried only where it may fit.
    if path.stat().st_size < 2 * most and len(data := _webp(picture, lossless=True)) <= most:
        return _uri(data)
    while len(data := _webp(picture, lossless=False)) > most and picture.width > _LEAST_WIDTH:
        picture = _narrowed(picture, round(0.75 * picture.width))
    return _uri(data)


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
