from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch

from conceptlab import executors
from conceptlab.executors import local
from conceptlab.store import Store
from conceptlab.store.files import locked
from tests.tiny import tiny_recipe

SCRIPT = """
import torch
from conceptlab import executors
from conceptlab.executors import local
from conceptlab.recipe import Evaluation, Recipe
from conceptlab.store import Store

local.cores = lambda: 2
judge = Evaluation(count=1, images=2, probe={"name": "analytic"}, second_probe=None)
sweep = [Recipe(train={"000": 8}, steps=1, batch=2, evaluation=judge, seed=seed) for seed in range(2)]
executors.run(sweep, Store("runs"), torch.device("cpu"), lambda *_: None)
"""


def test_a_script_that_trains_at_its_top_level_is_told_what_to_do(tmp_path: Path) -> None:
    """Every process that trains imports it, and would start training itself."""
    (tmp_path / "mine.py").write_text(SCRIPT, encoding="utf-8")
    environment = {**os.environ, "CONCEPTLAB_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, "mine.py"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode != 0
    assert "call run below `if __name__ == '__main__':` in mine.py" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("cores", [1, 2])
def test_what_another_process_trains_is_left_to_it_and_waited_for(tmp_path, monkeypatch, cores):
    """It does the rest meanwhile; what the other leaves undone it does in the end."""
    store, first, second = Store(tmp_path), tiny_recipe(), tiny_recipe(seed=1)
    held, ended = threading.Event(), threading.Event()

    def other() -> None:
        with locked(store.member_path(first)):
            held.set()
            while not store.is_done(second) and not ended.wait(0.02):
                pass

    monkeypatch.setattr(local, "cores", lambda: cores)
    thread = threading.Thread(target=other)
    thread.start()
    held.wait()
    try:
        executors.run([first, second], store, torch.device("cpu"), lambda *_: None)
    finally:
        ended.set()
        thread.join()
    assert store.is_done(first)
    assert store.is_done(second)


IDLE = """
import multiprocessing, os, time
from concurrent.futures import ProcessPoolExecutor
from conceptlab.executors.local import _begin

if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(1, context, initializer=_begin, initargs=(context.Queue(),))
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
