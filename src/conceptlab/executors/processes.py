"""Work that is shared out among processes of this machine, of one thread each.

Numbers must not depend on how many cores there are: what a process computes, it computes alone.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import torch

from conceptlab.errors import InputError
from conceptlab.executors.cohort import Report
from conceptlab.store.files import Busy


class Processes:
    """As many processes as there are workers. They start when there is work for them, and stay for what comes next:
    each has torch to load first."""

    def __init__(self, workers: int, report: Report) -> None:
        self._report = report
        context = multiprocessing.get_context("spawn")
        # What is told lies in a simple queue before the call returns; a `Queue` leaves that to a thread, and what a
        # call told last could come after its result.
        self._progress: Any = context.SimpleQueue()
        self._pool = ProcessPoolExecutor(workers, context, initializer=_begin, initargs=(self._progress,))

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._pool.shutdown()
            return
        for child in multiprocessing.active_children():
            child.terminate()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def each(self, call: Callable[..., None], tasks: Sequence[tuple[Any, ...]]) -> list[int]:
        """Make a call with each task's arguments, and return the places of those tasks whose folder was in another
        process's hands. A call may `tell` of progress."""
        numbers = {self._pool.submit(call, *task): number for number, task in enumerate(tasks)}
        left, busy = set(numbers), []
        while left:
            finished, left = wait(left, timeout=0.2, return_when=FIRST_COMPLETED)
            self._drain()
            for task in finished:
                try:
                    _result(task)
                except Busy:
                    busy.append(numbers[task])
        self._drain()
        return sorted(busy)

    def _drain(self) -> None:
        while not self._progress.empty():
            self._report(*self._progress.get())


def _result(task: Future[None]) -> None:
    try:
        task.result()
    except BrokenProcessPool as error:
        raise InputError(_died()) from error


def _died() -> str:
    """A script of a user's own is imported by every process: training at its top level, each would start training."""
    name = Path(getattr(sys.modules["__main__"], "__file__", None) or "").name
    if name.endswith(".py") and name != "__main__.py":
        return (
            f"a training process died (out of memory?); call run below `if __name__ == '__main__':` in {name}"
        )
    return "a training process died (out of memory?); the same command continues the run"


# --- inside a worker process ----------------------------------------------------------------------------------

_progress: Any = None


def tell(members: Sequence[str], steps: int) -> None:
    """Report from inside a call."""
    _progress.put((list(members), steps))


def _begin(progress: Any) -> None:
    global _progress
    _progress = progress
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # Ctrl-C reaches the whole group; the parent decides and ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)


def _end_with_parent() -> None:
    """A parent that was killed cannot end its workers, nor can one that waits for work see it: it would wait for ever,
    and one that trains would keep its folders from the run that continues."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
