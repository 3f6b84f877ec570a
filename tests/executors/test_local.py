from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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
