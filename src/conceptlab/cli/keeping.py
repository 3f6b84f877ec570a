"""The commands that make results to keep: a compact copy of runs, and the page of what was reproduced."""

from __future__ import annotations

import argparse

from conceptlab.cli.console import OUT


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
    from conceptlab.report.reproduction import reproduction as describe
    from conceptlab.store.files import write_text

    write_text(options.out, describe(options.path, options.out.parent))
    OUT.print(f"reproduction: {options.out}")
    return 0
