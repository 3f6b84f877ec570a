"""What is slow to make and always comes out the same: decoded or rendered images, kept as arrays on this machine.

The cache lies in `CONCEPTLAB_CACHE`, or in `conceptlab` in the user's cache folder (`XDG_CACHE_HOME`, or `~/.cache`).
It may be deleted at any time; nothing but time is lost. Arrays are memory-mapped: a set larger than memory is read
piece by piece as it is used.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from conceptlab.atomic import replacing
from conceptlab.errors import InputError


def root() -> Path:
    """Where everything lies that is kept on this machine; it need not be there yet."""
    named = os.environ.get("CONCEPTLAB_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "conceptlab"


def folder(kind: str) -> Path:
    """The folder for one kind of array, made if need be."""
    path = root() / kind
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(path, error) from error
    return path


def key(*parts: Any) -> str:
    """A name for what follows from these parts (anything that JSON can write)."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def array(
    kind: str, name: str, shape: Sequence[int], dtype: DTypeLike, fill: Callable[[np.ndarray], None]
) -> np.ndarray:
    """The array kept under a name, memory-mapped; `fill` makes it in place if it is not there yet.

    Whatever interrupts `fill` leaves nothing behind, and a second process waits for the first instead of working
    twice. Pages that are written to are private: the file never changes.
    """
    path = folder(kind) / f"{name}.npy"
    held = _opened(path, shape, dtype)
    if held is not None:
        return held
    try:
        with (path.parent / f".{name}.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            held = _opened(path, shape, dtype)
            if held is None:
                _make(path, shape, dtype, fill)
                held = np.load(path, mmap_mode="c")
    except OSError as error:
        raise _unwritable(path, error) from error
    return held


def _opened(path: Path, shape: Sequence[int], dtype: DTypeLike) -> np.ndarray | None:
    """The kept array; none if there is none, or a damaged one, which is then made again."""
    try:
        held = np.load(path, mmap_mode="c")
    except (FileNotFoundError, ValueError, EOFError):
        return None
    return held if held.shape == tuple(shape) and held.dtype == np.dtype(dtype) else None


def _make(path: Path, shape: Sequence[int], dtype: DTypeLike, fill: Callable[[np.ndarray], None]) -> None:
    with replacing(path) as temporary:
        # A header for no elements cannot be mapped; such an array is written as a whole.
        if 0 in shape:
            np.save(temporary, np.zeros(tuple(shape), dtype))
        else:
            made = np.lib.format.open_memmap(temporary, mode="w+", dtype=np.dtype(dtype), shape=tuple(shape))
            _reserve(temporary)
            fill(made)
            made.flush()
            del made


def _reserve(path: Path) -> None:
    """Take the room for all of a file: on a full disk, to write into what was only promised ends the process."""
    if hasattr(os, "posix_fallocate"):  # not everywhere
        with path.open("r+b") as handle:
            os.posix_fallocate(handle.fileno(), 0, path.stat().st_size)


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(
        f"cannot keep decoded images in {path}: {error.strerror or error}; name a folder with room for them, "
        "e.g. CONCEPTLAB_CACHE=/scratch/cache"
    )
