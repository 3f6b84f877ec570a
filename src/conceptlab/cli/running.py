"""`conceptlab run`: train what is missing, draw, judge.

Here and beside it imports lie inside the commands: `conceptlab --help` answers at once, without loading torch.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conceptlab.cli import own_data
from conceptlab.cli.console import ERR, OUT
from conceptlab.errors import InputError

if TYPE_CHECKING:
    from conceptlab.executors import Place
    from conceptlab.store import FigureRun, Store
    from conceptlab.studies import Figure, Order, Study


def run(options: argparse.Namespace) -> int:
    from conceptlab import executors, studies
    from conceptlab.cli.settings import parse_settings
    from conceptlab.store import Store
    from conceptlab.terminal.listing import plan_table
    from conceptlab.terminal.progress import showing_progress

    settings = parse_settings(options.set)
    study, figures = _asked_for(options, settings)
    # While members train, the progress shown holds their recipes, too.
    seeds = studies.parse_seeds(options.seeds, copies=1 if options.plan else 2)
    order = studies.Order(study, figures, options.scale, seeds, settings, options.plugin)
    where = executors.place(
        options.executor, options.device, options.address, options.gpus, options.cohort, planned=options.plan
    )
    store = Store(options.out)
    if options.piece is not None and (options.ready or options.strict):
        raise InputError("--piece trains a share and judges nothing; leave out --ready and --strict")
    if options.piece is not None or options.plan:
        trains = where.is_here and not options.plan
        studies.check(order, store, where.device if trains else None)
    for note in study.notes:
        ERR.print(note)
    if options.piece is not None:
        return _piece(options, order, where, store)
    if options.plan:
        OUT.print(plan_table(order, order.all_recipes(), store, where))
        return 0
    if options.ready:
        order, lacking = studies.ready(order, store)
        for figure, reason in lacking.items():
            ERR.print(f"left out: {study.name}.{figure}, {reason}")
    with showing_progress(order.all_recipes(), store, ERR) as tell:
        runs = studies.run(order, store, where.device, tell, where.train, where.is_here)
    return _told(options, runs, store.root / study.name / options.scale / "report.html")


def _asked_for(options: argparse.Namespace, settings: dict[str, Any]) -> tuple[Study, tuple[Figure, ...]]:
    from conceptlab import studies

    if options.study.partition(".")[0] == "custom":
        return own_data.custom(options, settings)
    if given := [name for name in own_data.OPTIONS if own_data.is_given(getattr(options, name))]:
        raise InputError(f"--{', --'.join(given)}: for `run custom`, not for {options.study}")
    return studies.find(options.study)


def _told(options: argparse.Namespace, runs: list[FigureRun], page: Path) -> int:
    """Verdicts and signatures in the terminal, a report on `page`; the exit code."""
    from conceptlab.claims import render_verdicts
    from conceptlab.report import report
    from conceptlab.terminal.signatures import signature_table

    verdicts = [verdict for run in runs for verdict in run.verdicts]
    numbers = "–".join(str(n) for n in sorted({len(run.manifest["seeds"]) for run in runs}))
    title = f"{options.study} at {options.scale} scale, {numbers} seed{'' if numbers == '1' else 's'}"
    OUT.print(render_verdicts(verdicts, title, OUT.width))
    if signatures := signature_table(runs):
        OUT.print(signatures)
    OUT.print(f"report: {report(runs, page)}")
    failed = any(verdict.verdict == "not reproduced" for verdict in verdicts)
    return 3 if options.strict and failed else 0


def _piece(options: argparse.Namespace, order: Order, where: Place, store: Store) -> int:
    from conceptlab import executors
    from conceptlab.terminal.listing import plan_table
    from conceptlab.terminal.progress import showing_progress

    number, count = executors.parse_piece(options.piece)
    recipes = order.all_recipes()
    share = executors.piece(recipes, number, count)
    if options.plan:
        OUT.print(plan_table(order, share, store, where))
        return 0
    with showing_progress(share, store, ERR) as tell:
        where.train(share, store, where.device, tell)
    OUT.print(
        f"piece {number} of {count}: {len(share)} of {len(recipes)} members are done. Put the folders in "
        f"{store.root / 'members'} of all pieces together, then run this without --piece.",
    )
    return 0
