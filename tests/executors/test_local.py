from __future__ import annotations

import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from conceptlab import executors
from conceptlab.errors import InputError
from conceptlab.executors import local
from conceptlab.store import Store
from conceptlab.store.files import locked
from tests.tiny import WORLD, tiny_recipe

SCRIPT = """
import torch
from conceptlab import executors
from conceptlab.errors import InputError
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


def test_probes_of_several_worlds_are_trained_side_by_side_and_as_they_are_one_by_one(tmp_path, monkeypatch):
    judge = {"name": "cnn", "steps": 40, "images_per_class": 40}
    evaluation = replace(tiny_recipe().evaluation, probe={"name": "analytic"}, second_probe=judge)
    recipes = [
        tiny_recipe(world={**WORLD, "location": location}, evaluation=evaluation) for location in (0.02, 0.05)
    ]
    trained: dict[int, dict[str, bytes]] = {}
    for cores in (1, 2):
        store = Store(tmp_path / str(cores))
        monkeypatch.setattr(local, "cores", lambda cores=cores: cores)
        executors.run(recipes, store, torch.device("cpu"), lambda *_: None)
        files = (store.root / "probes").rglob("*.safetensors")
        trained[cores] = {str(path.relative_to(store.root)): path.read_bytes() for path in files}
    assert len(trained[2]) == 2
    assert trained[1] == trained[2]


def test_a_probe_that_may_not_judge_stops_the_run_before_anything_is_trained(tmp_path, monkeypatch):
    monkeypatch.setattr(local, "cores", lambda: 2)
    blind = replace(tiny_recipe().evaluation, probe={"name": "cnn", "steps": 1, "images_per_class": 40})
    recipes = [tiny_recipe(evaluation=blind, seed=seed) for seed in range(2)]
    with pytest.raises(InputError, match="train it longer"):
        executors.run(recipes, Store(tmp_path), torch.device("cpu"), lambda *_: None)
    assert not list((tmp_path / "members").glob("*/metrics*"))
