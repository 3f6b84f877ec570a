"""The commands that make results to keep: a compact copy of runs, and the page of what was reproduced."""

from __future__ import annotations

import argparse
from pathlib import Path

from conceptlab.cli.console import OUT

_PAGE = Path("REPRODUCTION.md")


def export(options: argparse.Namespace) -> int:
    from conceptlab.store import Store, find_figures
    from conceptlab.store import export as write
    from conceptlab.studies import STUDIES, judge_study
    from conceptlab.terminal.exported import exported_text

    runs = {run.path: run for path in options.paths for run in find_figures(path)}
    done = write(list(runs.values()), options.out)
    # Figures that come from several run folders are one paper's here, and are judged together.
    for study, scale in {(run.manifest["study"], run.manifest["scale"]) for run in runs.values()}:
        if study in STUDIES:
            judge_study(STUDIES[study], scale, Store(options.out))
    OUT.print(exported_text(done, options.out))
    return 0


def reproduction(options: argparse.Namespace) -> int:
    from conceptlab.cli.destination import check_destination, destination
    from conceptlab.report.reproduction import reproduction as describe
    from conceptlab.store.files import write_text

    named = options.out or (_PAGE if _is_made(_PAGE) else None)
    check_destination(named, _PAGE.name)
    page = describe(options.path, (named or _PAGE).parent)
    with destination(named, _PAGE.name) as out:
        write_text(out, page)
    OUT.print(f"reproduction: {out}")
    return 0


def _is_made(page: Path) -> bool:
    """Whether a page was made by `reproduction`: such a one is made anew, and holds nothing written by hand."""
    try:
        return page.read_bytes().startswith(b"<!-- Made by `conceptlab reproduction")
    except OSError:
        return False
