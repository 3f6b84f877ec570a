"""Where the command line writes: results to standard output, progress and errors to standard error."""

from __future__ import annotations

import sys

from rich.console import Console

# Rich takes a pipe or a log for 80 columns wide; tables of claims need more.
OUT = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 140)
ERR = Console(stderr=True, highlight=False, soft_wrap=True)
