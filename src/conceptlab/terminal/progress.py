"""Progress of what takes long, training or drawing, with rate and time left: in a terminal, or as lines in a log."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence

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
        return
    begun = False
    with _metered("training", total, "model-steps", console) as tell:

        def told(members: Sequence[str], steps: int) -> None:
            nonlocal begun
            if not begun and not console.is_terminal:
                console.print(f"training: {total} model-steps")
            begun = True
            # The clock begins with the first step: what is compiled before is not part of the rate.
            if steps:
                tell(steps * len(members))

        yield told


@contextlib.contextmanager
def showing_images(total: int, console: Console) -> Iterator[Callable[[int], None]]:
    """A function to call with the images drawn since the last call. Most are drawn in a moment: a log gets its first
    line after a pause, and a terminal keeps nothing once they are there."""
    with _metered("drawing", total, "images", console, transient=True) as tell:
        yield tell


@contextlib.contextmanager
def _metered(
    doing: str, total: int, unit: str, console: Console, transient: bool = False
) -> Iterator[Callable[[int], None]]:
    if console.is_terminal:
        columns = (TextColumn(doing), BarColumn(), MofNCompleteColumn(), TextColumn(unit))
        rate = TextColumn("{task.fields[rate]}")
        with Progress(*columns, rate, TimeRemainingColumn(), console=console, transient=transient) as bar:
            yield _Meter(total, unit, bar=bar).tell
    else:
        yield _Meter(total, unit, console=console).tell


class _Meter:
    """Its clock begins when it is first told of something: what there is by then, such as the steps of a resumed run,
    is not part of the rate."""

    def __init__(
        self, total: int, unit: str, bar: Progress | None = None, console: Console | None = None
    ) -> None:
        self.total, self.unit, self.done, self.before = total, unit, 0, 0
        self.started = self.printed = 0.0
        self.begun = False
        self.bar, self.console = bar, console
        self.task = bar.add_task("", total=total, rate="") if bar else None

    def tell(self, made: int) -> None:
        now = time.monotonic()
        if not self.begun:
            self.started = self.printed = now
            self.before, self.begun = made, True
        self.done += made
        rate = (self.done - self.before) / max(1e-3, now - self.started)
        if self.bar is not None and self.task is not None:
            self.bar.update(self.task, completed=self.done, rate=f"{rate:.0f}/s" if rate else "")
        elif self.console is not None and rate and now - self.printed > PAUSE:
            self.printed = now
            left = duration((self.total - self.done) / rate)
            self.console.print(f"{self.done}/{self.total} {self.unit}, {rate:.0f}/s, {left} left")
