from __future__ import annotations

import os

import numpy as np
import pytest
import torch

from conceptlab import cache
from conceptlab.atomic import replacing
from conceptlab.claims import write_claims
from conceptlab.store.files import write_tensors


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o002, 0o664), (0o077, 0o600)])
def test_files_have_the_permissions_that_the_user_gives(umask, mode, tmp_path, monkeypatch):
    monkeypatch.setenv("CONCEPTLAB_CACHE", str(tmp_path / "cache"))
    before = os.umask(umask)
    try:
        cache.array("images", "a", (2,), np.uint8, lambda out: None)
        write_tensors(tmp_path / "b.safetensors", {"a": torch.zeros(1)})
        write_claims(tmp_path / "claims.json", [])
    finally:
        os.umask(before)
    for name in ("cache/images/a.npy", "b.safetensors", "claims.json"):
        assert (tmp_path / name).stat().st_mode & 0o777 == mode


def test_what_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    (tmp_path / "a.txt").write_text("old")

    def write() -> None:
        with replacing(tmp_path / "a.txt") as temporary:
            temporary.write_text("half")
            raise ValueError

    with pytest.raises(ValueError):
        write()
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]
