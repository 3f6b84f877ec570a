"""Where the command line writes: results to standard output, progress and errors to standard error."""

from __future__ import annotations

import io
import json
import os
import sys
from typing import Any

from rich.console import Console


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """A reader that has gone, such as `head`, ends no work: what it would have read is written nowhere."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.file.fileno())
        os.close(nowhere)


# Rich takes a pipe or a log for 80 columns wide; tables of claims need more. COLUMNS overrules both. Names of files and
# values may look like markup, or like an emoji's name (`000:x:`), and nothing here is either. A stream that was closed
# is none at all.
_TOLD = (sys.stdout is not None and sys.stdout.isatty()) or "COLUMNS" in os.environ
OUT = _Console(markup=False, emoji=False, highlight=False, soft_wrap=True, width=None if _TOLD else 140)
ERR = _Console(stderr=True, markup=False, emoji=False, highlight=False, soft_wrap=True)


def show_what_can_be_shown() -> None:
    """A dash that a terminal's encoding lacks, or a name that is no text, is shown as a question mark: it must not cost
    a run its verdicts."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):
            stream.reconfigure(errors="replace")


def print_json(value: Any) -> None:
    """For machines, which read what an encoding lacks from JSON's own escapes."""
    encoding = getattr(sys.stdout, "encoding", None) or ""
    print(json.dumps(value, indent=1, ensure_ascii=not encoding.lower().startswith("utf")))
