"""Files that are never half-written: every write goes to a temporary name and is then renamed into place."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
import torch
from PIL import Image
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from conceptlab.atomic import replacing
from conceptlab.errors import InputError, first_line, unwritten

LOG = logging.getLogger(__name__)


class Busy(InputError):
    """A folder that another process is writing."""


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file beside `path`, then rename it: readers see the old or the new file."""
    check_writable(path)
    try:
        with replacing(path) as temporary:
            write(temporary)
    except (OSError, SafetensorError) as error:
        raise unwritten(path, error) from error


def check_writable(path: Path) -> None:
    """Make the folder that a file is to lie in. Whoever works long for a file asks this first."""
    make_folder(path.parent)
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a file; give the name of a file")
    # A file that is renamed into the place of a device or a pipe would take it from everyone.
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is a device or a pipe, not a file; give the name of a file")


def append_line(path: Path, line: str) -> None:
    """Add a line to a file; one that does not fit leaves no half behind, which the next would be added to."""
    data = f"{line}\n".encode()
    try:
        with path.open("ab", buffering=0) as handle:
            end = handle.tell()
            if handle.write(data) < len(data):
                handle.truncate(end)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except OSError as error:
        raise unwritten(path, error) from error


def drop_half_line(path: Path) -> None:
    """Take away what is left of a last line that a crash of the machine cut off: the next would be added to it."""
    written = path.read_bytes() if path.exists() else b""
    whole = written.rfind(b"\n") + 1
    if whole < len(written):
        try:
            os.truncate(path, whole)
        except OSError as error:
            raise unwritten(path, error) from error


def make_folder(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make folder {path}: {error.strerror}; choose another with --out") from error
    if not os.access(path, os.W_OK):
        raise InputError(f"cannot write in folder {path}; choose another with --out")
    return path


def write_text(path: Path, text: str) -> None:
    write_atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def write_json(path: Path, value: Any) -> None:
    write_text(path, json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as text ({first_line(error)}); save it as UTF-8") from error


def read_json(path: Path, part_of: Path | None = None) -> Any:
    """`part_of`: the folder that is to be made anew, where one cannot go on with the file alone gone."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path} is missing; is {path.parent} a run folder?") from None
    except (OSError, ValueError) as error:
        raise _damaged(path, part_of, error) from error


def write_table(path: Path, table: pd.DataFrame) -> None:
    write_atomically(path, lambda temporary: table.to_parquet(temporary, index=False))


def read_table(path: Path, part_of: Path | None = None) -> pd.DataFrame:
    if path.is_dir():  # which would be read as a table in parts
        raise InputError(f"{path} is a folder, not a table; move it away and run again")
    try:
        return pd.read_parquet(path)
    except FileNotFoundError:
        raise InputError(f"{path} is missing; is {path.parent} the folder of a finished member?") from None
    except (OSError, ValueError) as error:  # pyarrow's errors are ValueErrors
        raise _damaged(path, part_of, error) from error


def write_tensors(path: Path, tensors: Mapping[str, Tensor], notes: Mapping[str, str] | None = None) -> None:
    held = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    write_atomically(path, lambda temporary: save_file(held, temporary, metadata=dict(notes or {})))


def read_tensors(path: Path, part_of: Path | None = None) -> dict[str, Tensor]:
    try:
        return load_file(path)
    except FileNotFoundError:
        raise InputError(f"{path} is missing") from None
    except (SafetensorError, OSError, ValueError) as error:
        raise _damaged(path, part_of, error) from error


def _damaged(path: Path, part_of: Path | None, error: Exception) -> InputError:
    return InputError(f"{path} is damaged ({first_line(error)}); move {part_of or 'it'} away and run again")


def write_sheet(path: Path, images: Tensor) -> None:
    """Images (rows, columns, C, H, W) in [0, 1] as one PNG, tiles edge to edge, so that it reads back exactly."""
    rows, columns, channels, height, width = images.shape
    pixels = (images.clamp(0, 1) * 255).round().to(torch.uint8)
    tiled = pixels.permute(0, 3, 1, 4, 2).reshape(rows * height, columns * width, channels).numpy()
    picture = Image.fromarray(tiled[..., 0] if channels == 1 else tiled)
    # Images of a network are noisy and hardly shrink: a third of the time at the usual level for a tenth more bytes. At
    # every evaluation a cohort waits for the sheets of all its members.
    write_atomically(path, lambda temporary: picture.save(temporary, format="PNG", compress_level=3))


def read_sheet(path: Path, shape: tuple[int, int, int], part_of: Path | None = None) -> Tensor:
    """The images of a sheet as uint8 (rows, columns, C, H, W)."""
    channels, height, width = shape
    try:
        with Image.open(path) as picture:
            pixels = torch.from_numpy(np.array(picture))
            columns, rows = picture.width // width, picture.height // height
        tiles = pixels.reshape(rows, height, columns, width, channels)
    except (OSError, ValueError, RuntimeError) as error:  # torch tells a wrong shape by a RuntimeError
        raise InputError(
            f"{path} is missing or damaged ({first_line(error)}); move {part_of or 'it'} away and run again"
        ) from error
    return tiles.permute(0, 2, 4, 1, 3).contiguous()


@contextlib.contextmanager
def locked(folder: Path, *, wait: bool = False) -> Iterator[None]:
    """Keep a second process out of a folder, or let it wait; the lock goes with the process, however it ends."""
    with _opened(folder / ".lock") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if not wait:
                message = f"{folder} is being written by another process; wait for it or end it"
                raise Busy(message) from None
            LOG.warning("waiting for another process that is writing %s", folder)
            fcntl.flock(handle, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(handle, fcntl.LOCK_UN)


@contextlib.contextmanager
def at_work(folder: Path) -> Iterator[None]:
    """Let other processes know that one works for this folder, which any number may; it goes with the process, too."""
    with _opened(folder / ".work") as handle:
        fcntl.flock(handle, fcntl.LOCK_SH)
        yield


def is_worked_for(folder: Path) -> bool:
    """Whether any process is at work for a folder."""
    with _opened(folder / ".work") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def _opened(path: Path) -> IO[str]:
    make_folder(path.parent)
    try:
        return path.open("a+")
    except OSError as error:  # made by another user, for one
        raise unwritten(path, error) from error
