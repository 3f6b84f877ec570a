"""The background worker: progress, cancelling, one viewer's newest wish, and no job that takes it down."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from conceptlab.errors import InputError
from conceptlab.studio.worker import Job, Tell, Worker


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.005)


def ended(job: Job) -> Job:
    wait_for(lambda: job.ended)
    return job


class Gate:
    """Work of five steps that waits before each until it is let through."""

    def __init__(self) -> None:
        self.open = threading.Event()

    def __call__(self, tell: Tell) -> str:
        for step in range(5):
            tell(step, 5)
            if step == 2:
                self.open.wait(10)
        return "result"


def test_progress_is_told_while_it_works_and_the_result_is_there_afterwards() -> None:
    worker, gate = Worker(), Gate()
    job = worker.submit("me", gate)
    wait_for(lambda: job.done == 2)
    assert (job.state, job.total, worker.job(job.id)) == ("drawing", 5, job)
    gate.open.set()
    assert ended(job).result == "result"
    assert job.seconds > 0


def test_cancelling_ends_a_job_between_two_steps() -> None:
    worker, gate = Worker(), Gate()
    job = worker.submit("me", gate)
    wait_for(lambda: job.done == 2)
    worker.cancel(job.id)
    gate.open.set()
    assert ended(job).state == "cancelled"
    assert job.result is None
    assert job.done == 3


def test_a_viewer_who_asks_again_takes_the_older_question_back_and_no_one_elses() -> None:
    worker, gate = Worker(), Gate()
    first = worker.submit("me", gate)
    waiting = worker.submit("me", lambda tell: "never wanted")
    other = worker.submit("you", lambda tell: "yours")
    newest = worker.submit("me", lambda tell: "mine")
    gate.open.set()
    assert [ended(job).state for job in (first, waiting, other, newest)] == [
        "cancelled",
        "cancelled",
        "done",
        "done",
    ]
    assert (other.result, newest.result) == ("yours", "mine")


@pytest.mark.parametrize(
    ("error", "said"),
    [(InputError("what and how"), "what and how"), (ZeroDivisionError("x"), "ZeroDivisionError")],
)
def test_work_that_fails_says_why_and_the_worker_goes_on(error: Exception, said: str) -> None:
    worker = Worker()

    def fail(tell: Tell) -> None:
        raise error

    job = ended(worker.submit("me", fail))
    assert job.state == "failed"
    assert said in job.problem
    assert ended(worker.submit("me", lambda tell: 1)).result == 1


def test_an_unknown_job_is_none_and_cannot_be_cancelled() -> None:
    worker = Worker()
    assert worker.job("job-99") is None
    worker.cancel("job-99")
