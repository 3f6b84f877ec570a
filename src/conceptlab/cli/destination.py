"""The one file that a command writes: what its user names is his to overwrite, a default name overwrites nothing."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterator
from pathlib import Path

from conceptlab.errors import InputError, unwritten
from conceptlab.store.files import check_writable, make_folder

# What is written, by the ending of its default name, and the endings under which a reader expects just that. JPEG is
# not among them: it would smear tiles of a few pixels.
_KINDS = {
    ".png": ("a PNG picture", (".png",)),
    ".html": ("an HTML page", (".html", ".htm")),
    ".md": ("a Markdown page", (".md", ".markdown")),
}


def check_destination(named: Path | None, default: str) -> None:
    """Whoever works long for a file asks this first. Without a name it will lie in the working directory."""
    if named is None:
        make_folder(Path())
    else:
        _check_ending(named, default)
        check_writable(named)


def _check_ending(named: Path, default: str) -> None:
    """A name that promises another kind of file would mislead who opens it. One without an ending promises none, nor
    does one that ends in a number, as `sheet-0.4`."""
    kind, endings = _KINDS[Path(default).suffix]
    if named.suffix[1:2].isalpha() and named.suffix.lower() not in endings:
        raise InputError(f"--out {named}: {kind} is written; let its name end in {' or '.join(endings)}")


@contextlib.contextmanager
def destination(named: Path | None, default: str) -> Iterator[Path]:
    """The file to be written now; without a name the first of samples.png, samples-2.png, … that is free. It is taken
    here and not before the work, so that of two commands at once neither writes over the other."""
    if named is not None:
        _check_ending(named, default)
        yield named
        return
    path = _taken(Path(default))
    try:
        yield path
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _taken(default: Path) -> Path:
    """The first free name, with an empty file under it."""
    path = default
    for number in itertools.count(2):
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            break
        except FileExistsError:
            path = default.with_name(f"{default.stem}-{number}{default.suffix}")
        except OSError as error:
            raise unwritten(path, error) from error
    return path
