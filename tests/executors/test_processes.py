from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conceptlab.errors import InputError
from conceptlab.executors.processes import Processes, tell
from conceptlab.store.files import Busy


def _work(number: int) -> None:
    if number == 2:
        raise Busy("another process")
    tell([str(os.getpid())], number)


def _fail() -> None:
    raise InputError("wrong")


def test_every_task_is_done_reports_and_says_if_another_process_has_its_folder() -> None:
    reports: list[tuple[tuple[str, ...], int]] = []
    with Processes(2, lambda who, steps: reports.append((tuple(who), steps))) as workers:
        assert workers.each(_work, [(number,) for number in range(4)]) == [2]
        # They stay for what comes next.
        assert workers.each(_work, [(4,)]) == []
    assert sorted(steps for _, steps in reports) == [0, 1, 3, 4]
    assert len({who for who, _ in reports}) <= 2
    assert (str(os.getpid()),) not in {who for who, _ in reports}


def test_what_is_wrong_in_a_worker_is_told_as_it_would_be_here() -> None:
    with pytest.raises(InputError, match=r"^wrong$"), Processes(1, lambda *_: None) as workers:
        workers.each(_fail, [()])


def test_a_worker_that_died_is_told_in_one_line() -> None:
    with pytest.raises(InputError, match="a training process died"), Processes(1, lambda *_: None) as workers:
        workers.each(os._exit, [(1,)])


IDLE = """
import multiprocessing, os, time
from concurrent.futures import ProcessPoolExecutor
from conceptlab.executors.processes import _begin

if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(1, context, initializer=_begin, initargs=(context.SimpleQueue(),))
    print(pool.submit(os.getpid).result(), flush=True)
    time.sleep(600)
"""


def test_a_worker_without_work_ends_with_a_parent_that_was_killed(tmp_path: Path) -> None:
    """Nobody else would ever end it, and it keeps what the parent wrote to open."""
    (tmp_path / "idle.py").write_text(IDLE, encoding="utf-8")
    with subprocess.Popen([sys.executable, "idle.py"], cwd=tmp_path, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        parent.kill()
        try:
            # The end of the output comes when the last of both has gone.
            parent.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            os.kill(worker, signal.SIGKILL)
            raise
