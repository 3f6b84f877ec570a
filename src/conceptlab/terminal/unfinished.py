"""Which figures are not finished yet, and the command that goes on with them."""

from __future__ import annotations

from collections.abc import Sequence

from conceptlab.store import FigureRun, go_on, has_ended, is_drawn, untrained
from conceptlab.terminal.signatures import together


def unfinished_lines(runs: Sequence[FigureRun]) -> list[str]:
    """A line for each command: figures that were begun together go on together."""
    begun: dict[str, list[FigureRun]] = {}
    for run in runs:
        if not has_ended(run) or _lacks_verdicts(run):
            begun.setdefault(go_on(run), []).append(run)
    return [_line(command, found) for command, found in begun.items()]


def _lacks_verdicts(run: FigureRun) -> bool:
    """Whether a figure makes claims and none was written. An earlier version called a figure finished before it was
    judged; the file may also have been lost."""
    if (run.path / "claims.json").exists():
        return False
    from conceptlab.studies import makes_no_claim

    return not makes_no_claim(run)


def _line(command: str, runs: Sequence[FigureRun]) -> str:
    names = f"{together([run.name for run in runs])} at {runs[0].manifest['scale']} scale"
    members = {id_ for run in runs for id_ in run.manifest["members"]}
    missing = {id_ for run in runs for id_ in untrained(run)}
    if missing and not all(has_ended(run) for run in runs):
        lacks = f"{len(missing)} of {len(members)} members are not trained"
    else:
        lacks = "drawn, but not judged" if all(map(is_drawn, runs)) else "not drawn and judged"
    return f"not finished: {names} ({lacks}); `{command}` goes on with {'it' if len(runs) == 1 else 'them'}"
