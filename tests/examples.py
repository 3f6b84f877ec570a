"""Runs an example of the docs as its reader would: as a script of its own, made quick by changing its numbers."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from conceptlab.store import Member


def run_script(source: str, changes: Mapping[str, str], folder: Path) -> list[Member]:
    """The members that the script leaves in `runs`; every change must have something to change."""
    for old, new in changes.items():
        assert old in source, f"the example has no {old}"
        source = source.replace(old, new)
    (folder / "example.py").write_text(source, encoding="utf-8")
    environment = {**os.environ, "CONCEPTLAB_CACHE": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "example.py"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return [Member(path) for path in sorted((folder / "runs" / "members").iterdir())]
