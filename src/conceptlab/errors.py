"""The one exception a user is meant to see.

Everything a person can get wrong (a class that does not exist, a folder that cannot be written, a damaged
file) raises `InputError` with one line that says what is wrong, where, and how to mend it. The command line
prints that line and exits with code 2; anything else is our bug and keeps its traceback.
"""

from __future__ import annotations

import difflib
import errno
import re
from collections.abc import Iterable
from pathlib import Path


class InputError(Exception):
    """What is wrong, where, and how to fix it, in one line."""


def unknown(what: str, given: object, known: Iterable[object], *, where: str = "") -> InputError:
    """An `InputError` for a name that is not among the known ones, with the nearest guess."""
    names = [str(name) for name in known]
    close = difflib.get_close_matches(str(given), names, n=1)
    hint = f"did you mean '{close[0]}'? " if close else ""
    place = f" in {where}" if where else ""
    shown = ", ".join(names[:24]) + (", …" if len(names) > 24 else "")
    return InputError(f"unknown {what} '{given}'{place}; {hint}known: {shown or 'none'}")


def first_line(error: BaseException, most: int = 160) -> str:
    """What another library says went wrong, as a part of one line of ours; what says nothing is told by its kind."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:most]


def unwritten(path: Path | str, error: Exception) -> InputError:
    """An `InputError` for a file that could not be written. Files are written whole or not at all, so that whatever was
    done before is there."""
    reason = str(getattr(error, "strerror", None) or error).strip().partition("\n")[0]
    if is_full(error):
        return InputError(
            f"cannot write {path}: the disk is full; make room, and the same command continues where it stopped"
        )
    return InputError(
        f"cannot write {path}: {reason}; mend that, and the same command continues where it stopped"
    )


def unusable(path: Path | str, error: OSError) -> InputError:
    """An `InputError` for a path with which nothing can be done."""
    reason = error.strerror or str(error)
    return InputError(f"cannot use {path}: {reason}; name another path, or mend its permissions")


def is_about_a_path(error: OSError) -> bool:
    """Whether the system refuses a path for what it is, and not because we looked for what is not there."""
    refusals = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG, errno.ELOOP, errno.EIO)
    return error.filename is not None and error.errno in refusals


def is_full(error: Exception) -> bool:
    """Whether writing failed for want of room. Libraries that are not written in Python tell it in words."""
    words = ("no space left", "quota exceeded")
    return getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT) or any(
        word in str(error).lower() for word in words
    )


def is_out_of_files(error: BaseException | None) -> bool:
    """Whether this process or the system has too many files open. Libraries that are not written in Python tell it in
    words."""
    return getattr(error, "errno", None) in (errno.EMFILE, errno.ENFILE) or (
        isinstance(error, Exception) and "too many open files" in str(error).lower()
    )


def out_of_files() -> InputError:
    """An `InputError` for files that cannot be opened because others are."""
    return InputError(
        "too many files are open at once; raise the limit (`ulimit -n 4096`; `ulimit -n` tells what it is), and the "
        "same command continues where it stopped"
    )


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory ran out, of this machine or of a GPU. torch tells it in words."""
    words = ("can't allocate memory", "out of memory", "Storage size calculation overflowed")
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and any(word in str(error) for word in words)
    )


def out_of_memory(error: BaseException) -> InputError:
    """An `InputError` for memory that ran out, with how much was asked for where that is told."""
    asked = re.search(r"allocate ([\d.]+) ?([KMGT]?i?B|bytes)", str(error))
    amount = ""
    if asked is not None:
        number, unit = asked.groups()
        amount = (
            f" when {int(number) / 2**30:,.1f} GiB more" if unit == "bytes" else f" when {number} {unit} more"
        )
        amount += " were asked for"
    return InputError(
        f"memory ran out{amount}; free some, or lower what decides about sizes: batch, evaluation.images, "
        "world.resolution, the widths of the denoiser, the number of seeds"
    )


def explained(error: Exception) -> InputError | None:
    """What an error is to a user who can mend it; None for our bugs. A file that cannot be opened because too many are
    is no damaged file, whatever was made of it on the way."""
    if is_out_of_files(error) or is_out_of_files(error.__cause__):
        return out_of_files()
    if isinstance(error, InputError):
        return error
    if is_out_of_memory(error):
        return out_of_memory(error)
    if isinstance(error, OSError) and is_full(error):
        return unwritten(error.filename or "a file", error)
    if isinstance(error, OSError) and is_about_a_path(error):
        return unusable(error.filename, error)
    return None
