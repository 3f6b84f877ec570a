"""Where the command line writes: results to standard output, progress and errors to standard error."""

from __future__ import annotations

import os
import sys

from rich.console import Console

# Rich takes a pipe or a log for 80 columns wide; tables of claims need more. COLUMNS overrules both. Names of files and
# values may look like markup, and nothing here is.
_TOLD = sys.stdout.isatty() or "COLUMNS" in os.environ
OUT = Console(markup=False, highlight=False, soft_wrap=True, width=None if _TOLD else 140)
ERR = Console(stderr=True, markup=False, highlight=False, soft_wrap=True)
