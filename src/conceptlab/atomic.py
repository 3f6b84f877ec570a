"""Files that readers find whole, the old one or the new one, and with the permissions that the user's umask gives."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """An empty temporary file beside `path` to be filled; it then takes the place of `path`, or goes if that fails."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}{path.suffix}")
    handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    mode = os.fstat(handle).st_mode & 0o777
    os.close(handle)
    try:
        yield temporary
        # Some writers, such as safetensors, make the file anew and private.
        temporary.chmod(mode)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
