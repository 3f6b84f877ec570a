"""Progress of a run: model-steps with rate and time left, in a terminal or as plain lines in a log."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from conceptlab import executors
from conceptlab.executors import Report
from conceptlab.recipe import Recipe
from conceptlab.store import Store
from conceptlab.terminal.listing import duration

# Seconds between two lines where there is no terminal.
PAUSE = 15.0


@contextlib.contextmanager
def showing_progress(recipes: Sequence[Recipe], store: Store, console: Console) -> Iterator[Report]:
    """A function to call with (members, steps made), showing how far all of them are."""
    todo = executors.pending(recipes, store)
    total = sum(recipe.steps for recipe in todo)
    if len(todo) < len(recipes):
        console.print(f"{len(recipes) - len(todo)} of {len(recipes)} members are done already")
    if not todo:
        yield lambda members, steps: None
    elif console.is_terminal:
        columns = (TextColumn("training"), BarColumn(), MofNCompleteColumn(), TextColumn("model-steps"))
        rate = TextColumn("{task.fields[rate]}")
        with Progress(*columns, rate, TimeRemainingColumn(), console=console) as bar:
            yield _Meter(total, bar=bar).tell
    else:
        yield _Meter(total, console=console).tell


class _Meter:
    def __init__(self, total: int, bar: Progress | None = None, console: Console | None = None) -> None:
        self.total, self.done, self.before, self.begun = total, 0, 0, False
        self.started = self.printed = time.monotonic()
        self.bar, self.console = bar, console
        self.task = bar.add_task("", total=total, rate="") if bar else None

    def tell(self, members: Sequence[str], steps: int) -> None:
        now = time.monotonic()
        if self.done == 0 and self.console is not None and not self.begun:
            self.console.print(f"training: {self.total} model-steps")
        self.begun = True
        if self.done == 0:
            # Probes and start-up come before the first steps, and those of a resumed member were made long ago: the
            # rate is that of all that follow.
            self.started = self.printed = now
            self.before = steps * len(members)
        self.done += steps * len(members)
        rate = (self.done - self.before) / max(1e-3, now - self.started)
        if self.bar is not None and self.task is not None:
            self.bar.update(self.task, completed=self.done, rate=f"{rate:.0f}/s" if rate else "")
        elif self.console is not None and rate and now - self.printed > PAUSE:
            self.printed = now
            left = duration((self.total - self.done) / rate)
            self.console.print(f"{self.done}/{self.total} model-steps, {rate:.0f}/s, {left} left")
