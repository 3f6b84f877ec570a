"""The command line: parses, calls, prints. What it does lies in the rooms it calls."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from conceptlab import plugins
from conceptlab.cli.console import ERR, show_what_can_be_shown
from conceptlab.cli.parser import build_parser
from conceptlab.errors import InputError, explained

__all__ = ["build_parser", "main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit codes: 0 done; 2 bad input; 3 a claim was not reproduced under --strict; 130 interrupted; 1 our bug."""
    show_what_can_be_shown()
    options = argparse.Namespace(name="")
    try:
        options, unknown = build_parser().parse_known_args(arguments)
        # argparse itself would point to the help of conceptlab, which does not list a command's options.
        if unknown:
            raise InputError(
                f"unrecognized arguments: {' '.join(unknown)}; see `conceptlab {options.name} --help`"
            )
        plugins.add(options.plugin)
        return options.command(options)
    except KeyboardInterrupt:
        goes_on = "; the same command continues where it stopped" if options.name in ("run", "export") else ""
        ERR.print(f"interrupted{goes_on}")
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except Exception as error:
        told = explained(error)
        if told is None:
            raise
        ERR.print(f"conceptlab: {told}", style="bold red")
        return 2
