from __future__ import annotations

from pathlib import Path

import pytest

from tests.image_folder import everything, write_folder


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests leave nothing in the user's cache."""
    monkeypatch.setenv("CONCEPTLAB_CACHE", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(tmp_path_factory.mktemp("own") / "data", everything(20))
