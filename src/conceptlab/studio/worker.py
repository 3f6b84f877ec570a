"""Drawing in the background: a page asks, looks at the progress, and may cancel; it never waits.

One thread draws, in the order of asking, so that ten viewers share the machine fairly. A viewer who asks again
takes the older question back: only the latest position of a slider is of interest.
"""

from __future__ import annotations

import itertools
import queue
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from conceptlab.errors import InputError

State = Literal["waiting", "drawing", "done", "cancelled", "failed"]

# Called with the number of steps done and of all steps; raises `Cancelled` when nobody wants the result any more.
Tell = Callable[[int, int], None]
Work = Callable[[Tell], Any]

# Results are kept until this many newer ones have come: a page fetches its own within a moment.
_KEPT = 256


class Cancelled(Exception):
    """The work was called off between two steps."""


@dataclass
class Job:
    """One piece of work and how far it is. Fields are written by the worker alone, except `wanted`."""

    id: str
    viewer: str
    work: Work = field(repr=False)
    state: State = "waiting"
    done: int = 0
    total: int = 0
    result: Any = None
    problem: str = ""
    seconds: float = 0.0
    wanted: bool = True

    @property
    def ended(self) -> bool:
        return self.state in ("done", "cancelled", "failed")


class Worker:
    """A queue and the thread that empties it."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._queue: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        threading.Thread(target=self._run, name="studio worker", daemon=True).start()

    def submit(self, viewer: str, work: Work) -> Job:
        """Ask for a piece of work; what the same viewer asked for before is taken back."""
        job = Job(f"job-{next(self._numbers)}", viewer, work)
        with self._lock:
            for other in self._jobs.values():
                if other.viewer == viewer and not other.ended:
                    other.wanted = False
            self._jobs[job.id] = job
            while len(self._jobs) > _KEPT:
                self._jobs.popitem(last=False)
        self._queue.put(job)
        return job

    def job(self, id_: str) -> Job | None:
        with self._lock:
            return self._jobs.get(id_)

    def cancel(self, id_: str) -> None:
        job = self.job(id_)
        if job is not None:
            job.wanted = False

    def _run(self) -> None:
        while True:
            self._do(self._queue.get())

    def _do(self, job: Job) -> None:
        def tell(done: int, total: int) -> None:
            job.done, job.total = done, total
            if not job.wanted:
                raise Cancelled

        started = time.perf_counter()
        try:
            if not job.wanted:
                raise Cancelled
            job.state = "drawing"
            job.result = job.work(tell)
            job.seconds = time.perf_counter() - started
            job.state = "done"
        except Cancelled:
            job.state = "cancelled"
        except InputError as error:
            job.problem, job.state = str(error), "failed"
        except Exception as error:  # the thread must outlive any single job
            job.problem, job.state = f"drawing failed: {type(error).__name__}: {error}", "failed"
