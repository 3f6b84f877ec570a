"""Parts of one's own: a world, denoiser, process or measurement in a Python file or package, used by its name.

A plug-in registers its parts when it is imported. Files are named with `--plugin` or in `CONCEPTLAB_PLUGINS`, which
processes that train for this one inherit; packages announce a module under the entry point group `conceptlab.plugins`.
All are imported when a name is asked for that nothing built in has.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Iterable
from importlib.metadata import entry_points
from pathlib import Path

from conceptlab.errors import InputError

VARIABLE = "CONCEPTLAB_PLUGINS"
GROUP = "conceptlab.plugins"

_imported: set[str] = set()


def add(files: Iterable[Path | str]) -> None:
    """Import plug-in files, here and in every process that is started from here."""
    named = [str(Path(part).resolve()) for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]
    for file in files:
        path = str(Path(file).resolve())
        if os.pathsep in path:  # which parts the names of those that other processes are told of
            raise InputError(f"plug-in {path} has '{os.pathsep}' in its path; move or rename it")
        if path not in named:
            named.append(path)
        _import_file(path)
    os.environ[VARIABLE] = os.pathsep.join(named)


def load() -> None:
    """Import whatever is named or installed and has not been imported yet."""
    for path in os.environ.get(VARIABLE, "").split(os.pathsep):
        if path:
            _import_file(str(Path(path).resolve()))
    for point in entry_points(group=GROUP):
        if point.value not in _imported:
            _imported.add(point.value)
            try:
                point.load()
            except InputError:
                raise
            except (Exception, SystemExit) as error:
                raise InputError(f"plug-in '{point.name}' ({point.value}) fails: {_what(error)}") from error


def _import_file(path: str) -> None:
    if path in _imported:
        return
    if Path(path).is_dir():
        raise InputError(f"plug-in {path} is a folder; name a Python file in it")
    if not Path(path).is_file():
        raise InputError(f"plug-in {path} does not exist; name a Python file")
    name = f"conceptlab_plugin_{Path(path).stem}_{hashlib.sha256(path.encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError(f"plug-in {path} is not a Python file; name one that ends in .py")
    module = importlib.util.module_from_spec(spec)
    # Before it runs: dataclasses look their module up, and a plug-in may itself ask for parts by name.
    _imported.add(path)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        _imported.discard(path)
        del sys.modules[name]
        # One that ends the process would end the command, too, without a word.
        if isinstance(error, InputError) or not isinstance(error, Exception | SystemExit):
            raise
        lines = [
            frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path
        ]
        line = getattr(error, "lineno", None) or (lines[-1] if lines else "?")
        raise InputError(f"plug-in {path}, line {line}: {_what(error)}") from error


def _what(error: BaseException) -> str:
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
