"""The quickstart at tiny scale, run once as a user would."""

from __future__ import annotations

from pathlib import Path

import pytest

from conceptlab.cli import main


@pytest.fixture(scope="session")
def out(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    assert main(["run", "quickstart", "--scale", "tiny", "--out", str(folder), "--device", "cpu"]) == 0
    return folder
