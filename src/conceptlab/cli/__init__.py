"""The command line: parses, calls, prints. What it does lies in the rooms it calls."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from conceptlab import plugins
from conceptlab.cli.console import ERR, show_what_can_be_shown
from conceptlab.cli.parser import build_parser
from conceptlab.errors import (
    InputError,
    is_about_a_path,
    is_full,
    is_out_of_memory,
    out_of_memory,
    unusable,
    unwritten,
)

__all__ = ["build_parser", "main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit codes: 0 done; 2 bad input; 3 a claim was not reproduced under --strict; 130 interrupted; 1 our bug."""
    show_what_can_be_shown()
    try:
        options = build_parser().parse_args(arguments)
        plugins.add(options.plugin)
        return options.command(options)
    except InputError as error:
        ERR.print(f"conceptlab: {error}", style="bold red")
        return 2
    except KeyboardInterrupt:
        ERR.print("interrupted; the same command continues where it stopped")
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        ERR.print(f"conceptlab: {out_of_memory(error)}", style="bold red")
        return 2
    except OSError as error:
        if not (is_full(error) or is_about_a_path(error)):
            raise
        told = (
            unwritten(error.filename or "a file", error)
            if is_full(error)
            else unusable(error.filename, error)
        )
        ERR.print(f"conceptlab: {told}", style="bold red")
        return 2
