from __future__ import annotations

import errno
import os

import numpy as np
import pytest

from conceptlab import cache
from conceptlab.errors import InputError


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CONCEPTLAB_CACHE", str(tmp_path / "cache"))


def test_made_once_and_mapped_afterwards(tmp_path):
    calls = []

    def fill(out):
        calls.append(1)
        out[:] = np.arange(6).reshape(2, 3)

    for _ in range(2):
        held = cache.array("images", "a", (2, 3), np.uint8, fill)
        assert isinstance(held, np.memmap)
        assert held.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert calls == [1]


def test_an_interrupted_fill_leaves_nothing(tmp_path):
    def fail(out):
        out[0] = 7
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache.array("images", "b", (2,), np.uint8, fail)
    assert not [p for p in (tmp_path / "cache" / "images").iterdir() if p.suffix == ".npy"]
    assert cache.array("images", "b", (2,), np.uint8, lambda out: out.fill(1)).tolist() == [1, 1]


def test_damage_and_other_shapes_are_made_again(tmp_path):
    cache.array("images", "c", (2,), np.uint8, lambda out: out.fill(1))
    (tmp_path / "cache" / "images" / "c.npy").write_bytes(b"damage")
    assert cache.array("images", "c", (2,), np.uint8, lambda out: out.fill(2)).tolist() == [2, 2]
    assert cache.array("images", "c", (3,), np.uint8, lambda out: out.fill(3)).tolist() == [3, 3, 3]
    assert cache.array("images", "none", (0, 4), np.uint8, lambda out: None).shape == (0, 4)


def test_writing_to_what_is_kept_changes_no_file():
    held = cache.array("images", "d", (2,), np.uint8, lambda out: out.fill(1))
    held[0] = 9
    assert cache.array("images", "d", (2,), np.uint8, lambda out: None).tolist() == [1, 1]


def test_keys_follow_the_parts():
    assert cache.key({"a": 1, "b": 2}) == cache.key({"b": 2, "a": 1})
    assert cache.key("a", "b") != cache.key("ab")


def test_a_folder_that_cannot_be_made_is_one_line(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CONCEPTLAB_CACHE", str(tmp_path / "file"))
    with pytest.raises(InputError, match="CONCEPTLAB_CACHE="):
        cache.folder("images")


def test_a_full_disk_is_told_before_anything_is_decoded(tmp_path, monkeypatch):
    """A file that is only promised its room ends the process where the room turns out to be missing."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(InputError, match="No space left on device; name a folder with room"):
        cache.array("images", "a", (2, 3), np.uint8, lambda out: pytest.fail("there is no room for it"))
    assert not list((tmp_path / "cache" / "images").glob("*.npy"))


def test_without_a_name_it_lies_in_the_users_cache_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("CONCEPTLAB_CACHE")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache.root() == tmp_path / ".cache" / "conceptlab"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    assert cache.root() == tmp_path / "own" / "conceptlab"
    assert cache.folder("images") == tmp_path / "own" / "conceptlab" / "images"
