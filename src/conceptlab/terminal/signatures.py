"""How members failed, if they did: printed below the verdicts of a run."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from conceptlab.store import FigureRun, Signature


def signature_table(runs: Sequence[FigureRun]) -> Table | None:
    """A block of rows for each figure; figures that tell the same, having the same members, share one."""
    blocks: dict[tuple[Signature, ...], list[str]] = {}
    for run in runs:
        if found := tuple(run.signatures):
            blocks.setdefault(found, []).append(run.name)
    if not blocks:
        return None
    table = Table()
    table.add_column("figure", max_width=20)
    table.add_column("signature of failure")
    table.add_column("members", justify="right", no_wrap=True)
    table.add_column("seen")
    for found, names in blocks.items():
        for place, signature in enumerate(found):
            figure = together(names) if place == 0 else ""
            share = Text(signature.share, style="yellow" if signature.shown else "dim")
            table.add_row(figure, signature.name, share, Text(signature.seen))
        table.add_section()
    return table


def together(names: Sequence[str]) -> str:
    """`okawa2023.fig5, fig6`: the study is named once."""
    study = names[0].partition(".")[0]
    return ", ".join([names[0], *(name.removeprefix(f"{study}.") for name in names[1:])])
