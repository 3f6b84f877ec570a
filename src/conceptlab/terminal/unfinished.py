"""Which figures are not finished yet, and the command that goes on with them."""

from __future__ import annotations

from collections.abc import Sequence

from conceptlab.store import FigureRun, go_on, has_ended, untrained
from conceptlab.terminal.signatures import together


def unfinished_lines(runs: Sequence[FigureRun]) -> list[str]:
    """A line for each command: figures that were begun together go on together."""
    begun: dict[str, list[FigureRun]] = {}
    for run in runs:
        if not has_ended(run):
            begun.setdefault(go_on(run), []).append(run)
    return [_line(command, found) for command, found in begun.items()]


def _line(command: str, runs: Sequence[FigureRun]) -> str:
    names = f"{together([run.name for run in runs])} at {runs[0].manifest['scale']} scale"
    members = {id_ for run in runs for id_ in run.manifest["members"]}
    missing = {id_ for run in runs for id_ in untrained(run)}
    lacks = f"{len(missing)} of {len(members)} members are not trained" if missing else "not drawn and judged"
    return f"not finished: {names} ({lacks}); `{command}` goes on with {'it' if len(runs) == 1 else 'them'}"
