from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests leave nothing in the user's cache."""
    monkeypatch.setenv("CONCEPTLAB_CACHE", str(tmp_path_factory.mktemp("cache")))
