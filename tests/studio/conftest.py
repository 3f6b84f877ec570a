from __future__ import annotations

from pathlib import Path

import pytest

from conceptlab.store import FigureRun
from tests.studio.runs import trained

pytest.importorskip("dash", reason="the studio needs dash: pip install 'conceptlab[studio]'")


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> FigureRun:
    """One trained member; tests that change something make their own."""
    folder: Path = tmp_path_factory.mktemp("studio") / "runs"
    return trained(folder)
