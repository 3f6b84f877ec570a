"""Damage is one clear line; nothing half-written is ever seen; nothing existing is lost."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pandas as pd
import pytest
import torch
from safetensors import SafetensorError

from conceptlab.errors import InputError
from conceptlab.store import Member, Store, files, load


def test_what_is_written_reads_back(tmp_path):
    files.write_json(tmp_path / "a.json", {"ä": [1, None]})
    assert files.read_json(tmp_path / "a.json") == {"ä": [1, None]}
    table = pd.DataFrame({"step": [1, 2], "value": [0.5, float("nan")]})
    files.write_table(tmp_path / "t.parquet", table)
    pd.testing.assert_frame_equal(files.read_table(tmp_path / "t.parquet"), table)
    tensors = {"x": torch.randn(3, 2).T}
    files.write_tensors(tmp_path / "w.safetensors", tensors)
    assert torch.equal(files.read_tensors(tmp_path / "w.safetensors")["x"], tensors["x"])


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_sheets_are_exact_to_a_level(tmp_path, channels):
    images = torch.rand(2, 3, channels, 5, 4)
    files.write_sheet(tmp_path / "s.png", images)
    found = files.read_sheet(tmp_path / "s.png", (channels, 5, 4))
    assert found.shape == images.shape
    assert torch.equal(found, (images * 255).round().to(torch.uint8))


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path):
    path = tmp_path / "a.json"
    files.write_json(path, 1)
    with pytest.raises(ValueError, match="not JSON compliant"):
        files.write_json(path, float("nan"))
    with pytest.raises(RuntimeError):
        files.write_atomically(path, lambda temporary: (_ for _ in ()).throw(RuntimeError()))
    assert files.read_json(path) == 1
    assert os.listdir(tmp_path) == ["a.json"]


@pytest.mark.parametrize(
    ("name", "read"),
    [("a.json", files.read_json), ("a.parquet", files.read_table), ("a.safetensors", files.read_tensors)],
)
@pytest.mark.parametrize("content", [b"", b"junk", b'{"half": '])
def test_damage_is_one_clear_line(tmp_path, name, read, content):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match="damaged") as failure:
        read(path)
    assert "\n" not in str(failure.value)
    path.unlink()
    with pytest.raises(InputError, match="missing"):
        read(path)


def test_a_lock_that_cannot_be_had_is_one_clear_line(tmp_path):
    """As of another user; a folder in its place also holds off whoever may write anywhere."""
    (tmp_path / ".lock").mkdir()
    with pytest.raises(InputError, match=r"cannot write .*\.lock") as refusal, files.locked(tmp_path):
        pytest.fail("it must not be entered")
    assert "\n" not in str(refusal.value)


def test_a_file_is_not_written_where_a_folder_is(tmp_path):
    with pytest.raises(InputError, match="is a folder, not a file"):
        files.write_text(tmp_path, "text")


def test_a_file_never_takes_the_place_of_a_device_or_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="a device or a pipe, not a file"):
        files.write_text(pipe, "text")
    assert pipe.is_fifo()


@pytest.mark.parametrize("name", ["../other", "a/b", "", ".hidden", 5])
def test_a_figure_lies_nowhere_but_in_its_store(tmp_path, name):
    with pytest.raises(InputError, match="is no name"):
        Store(tmp_path).figure("quickstart", "tiny", name)


def test_loading_what_is_not_there(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        load(tmp_path / "nowhere")
    with pytest.raises(InputError, match="no finished figure"):
        load(tmp_path)
    with pytest.raises(InputError, match="missing"):
        Member(tmp_path)


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
        OSError(errno.EDQUOT, os.strerror(errno.EDQUOT)),
        SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)"),
    ],
)
def test_a_full_disk_names_the_file_and_leaves_the_old_one(tmp_path, error):
    def write(path: Path) -> None:
        path.write_bytes(b"half")
        raise error

    path = tmp_path / "table.parquet"
    path.write_bytes(b"old")
    with pytest.raises(
        InputError, match=r"table\.parquet: the disk is full; make room, and the same command"
    ):
        files.write_atomically(path, write)
    assert path.read_bytes() == b"old"
    assert [left.name for left in tmp_path.iterdir()] == ["table.parquet"]


def test_what_else_keeps_a_file_from_being_written_is_said(tmp_path):
    def write(path: Path) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with pytest.raises(InputError, match=r"cannot write .*a\.png: Input/output error; mend that"):
        files.write_atomically(tmp_path / "a.png", write)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_line_that_does_not_fit_is_told():
    with pytest.raises(InputError, match="/dev/full: the disk is full"):
        files.append_line(Path("/dev/full"), "{}")


def test_lines_are_added(tmp_path):
    for line in ("one", "zwölf"):
        files.append_line(tmp_path / "log.jsonl", line)
    assert (tmp_path / "log.jsonl").read_text(encoding="utf-8") == "one\nzwölf\n"
