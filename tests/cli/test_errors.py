"""Every kind of bad input, damaged folders, a full disk: one line and exit code 2."""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from conceptlab.cli import main
from conceptlab.errors import InputError

THEORY = Path(__file__).parents[2] / "results" / "yang2025" / "paper" / "fig3"


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["run", "nothing"], "unknown study"),
        (["run", "quickstartt"], "did you mean 'quickstart'"),
        (["run", "quickstart.fig9"], "unknown figure"),
        (["run", "quickstart."], "lacks the name of a figure"),
        (["run", "okawa2023.fig5,"], "lacks the name of a figure"),
        (["run", "okawa2023.fig5,fig99"], "fig99"),
        (["run", "quickstart", "--seeds", "-1"], "at least one seed"),
        (["run", "quickstart", "--seeds", "many"], "no whole number"),
        (["run", "quickstart", "--seeds", "9" * 4000], "no whole number"),
        (["run", "quickstart", "--piece", ""], "--piece : say which"),
        (["run", "quickstart", "--out", "", "--plan"], "the name is empty"),
        (["verdict", ""], "the name is empty"),
        (["verdict", "x" * 300], "File name too long; name another path"),
        (["sample", "x" * 300], "File name too long; name another path"),
        (["inspect", "x" * 300], "File name too long; name another path"),
        (
            ["run", "quickstart", "--scale", "tiny", "--out", "x" * 300],
            "File name too long; name another path",
        ),
        (["run", "quickstart", "--seeds", "1000000000000"], "GiB are free; take fewer"),
        (["run", "quickstart", "--set", "batch=1000000000000"], "GiB are free; lower batch"),
        (["run", "quickstart", "--set", "batch=1000000000000", "--piece", "1/2"], "lower batch"),
        (["run", "quickstart", "--set", "world.resolution=100000000", "--plan"], "memory ran out when"),
        (["run", "quickstart", "--set", "stepz=1"], "unknown setting"),
        (["run", "quickstart", "--set", "world.colour=3", "--plan"], "unknown setting"),
        (["run", "park2024.fig1", "--set", "world.colour_separation=0.5"], "leave it out"),
        (["run", "okawa2023.fig8", "--set", "train.001=9", "--plan"], "varies train itself"),
        (["run", "quickstart", "--device", "cuda"], "not available"),
        (["run", "quickstart", "--out", "/proc/nowhere"], "/proc/nowhere"),
        (["run"], "required"),
        ([], "required: COMMAND"),
        (["fly"], "invalid choice"),
        (["sample", "runs", "--prompt", "11", "10"], "arguments: 10; see `conceptlab sample --help`"),
        (["verdict", "nowhere"], "does not exist"),
        (["report", "nowhere"], "does not exist"),
        (["sample", "nowhere"], "does not exist"),
        (["diff", "nowhere", "nowhere"], "does not exist"),
        (["sample", str(THEORY)], "no trained model"),
        (["elicit", str(THEORY), "--class", "11"], "no trained model"),
        (["bench", "train", "--members", "0"], "--members 0: at least one"),
        (["bench", "sample", "--members", "4", "-3"], "--members -3: at least one"),
        (["bench", "train", "--members", "99999999999"], "--members 99999999999: at most 256"),
        (["bench", "sample", "--members", "4", "257"], "--members 257: at most 256"),
        (["studio", str(THEORY), "--port", "65536"], "--port 65536"),
        (["studio", str(THEORY), "--port", "-1"], "--port -1"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, word, capsys):
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert word in captured.err
    assert len(captured.err.strip().splitlines()) == 1
    assert "Traceback" not in captured.err


@pytest.mark.parametrize(
    ("spoil", "arguments"),
    [
        ("claims.json", ["verdict"]),
        ("metrics.parquet", ["run", "quickstart", "--scale", "tiny", "--device", "cpu", "--out"]),
        ("checkpoint", ["sample"]),
    ],
)
def test_damaged_files_are_named(out, tmp_path, capsys, spoil, arguments):
    copy = tmp_path / "runs"
    shutil.copytree(out, copy)
    member = sorted((copy / "members").iterdir())[0]
    places = {
        "claims.json": copy / "quickstart" / "tiny" / "emergence" / "claims.json",
        "metrics.parquet": member / "metrics.parquet",
        "checkpoint": next((member / "checkpoints").glob("*.safetensors")),
    }
    places[spoil].write_bytes(b"damage")
    target = str(member) if spoil == "checkpoint" else str(copy)
    assert main([*arguments, target]) == 2
    message = capsys.readouterr().err.strip().splitlines()[-1]
    assert places[spoil].name in message
    assert "damaged" in message
    assert places[spoil].read_bytes() == b"damage", "nothing existing is overwritten"


DAMAGES = {
    "manifest []": ("quickstart/tiny/emergence/manifest.json", "[]"),
    "manifest {}": ("quickstart/tiny/emergence/manifest.json", "{}"),
    "table": ("quickstart/tiny/emergence/tables/curves.parquet", "damage"),
    "picture": ("quickstart/tiny/emergence/figures/emergence.png", "damage"),
    "metrics": ("members/{member}/metrics.parquet", "damage"),
    "no metrics": ("members/{member}/metrics.parquet", None),
    "config []": ("members/{member}/config.json", "[]"),
    "config {}": ("members/{member}/config.json", "{}"),
    "done": ("members/{member}/done.json", "[]"),
    "environment": ("members/{member}/environment.json", "[]"),
    "log": ("members/{member}/log.jsonl", "{junk}"),
    "stray": ("stray", "a file where folders lie"),
    "no members": ("members", "a file where a folder is expected"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_run_folder_is_never_a_traceback(out, tmp_path, capsys, damage):
    place, text = DAMAGES[damage]
    copy = tmp_path / "runs"
    shutil.copytree(out, copy)
    path = copy / place.format(member=sorted((copy / "members").iterdir())[0].name)
    if path.is_dir():
        shutil.rmtree(path)
    if text is None:
        path.unlink()
    else:
        path.write_text(text)
    for command in (
        ["report", str(copy), "--out", str(tmp_path / "page.html")],
        ["verdict", str(copy)],
        ["export", str(copy), "--out", str(tmp_path / "kept")],
        ["diff", str(copy), str(out)],
    ):
        code = main(command)
        told = capsys.readouterr().err.strip().splitlines()
        assert (code, len(told)) in ((0, 0), (0, 1), (2, 1)), (command[0], told)
        if code and command[0] == "export":
            assert not (tmp_path / "kept").exists(), "all is read before anything is written"


def test_of_several_figures_the_damaged_and_the_copied_are_left_out(out, tmp_path, caplog):
    copy = tmp_path / "runs"
    shutil.copytree(out, copy)
    figure = copy / "quickstart" / "tiny" / "emergence"
    shutil.copytree(figure, figure.parent / "again")
    broken = figure.parent / "broken"
    broken.mkdir()
    (broken / "manifest.json").write_text("[]")
    assert main(["export", str(copy), "--out", str(tmp_path / "kept")]) == 0
    assert len(caplog.messages) == 2
    assert all(line.startswith("left out: ") for line in caplog.messages)
    assert [path.name for path in (tmp_path / "kept" / "quickstart" / "tiny").iterdir()] == ["emergence"]


def test_a_full_disk_is_told_in_one_line_and_the_same_command_continues(tmp_path, capsys, monkeypatch):
    command = [
        "run", "quickstart", "--scale", "tiny", "--seeds", "1", "--device", "cpu", "--out", str(tmp_path / "runs"),
    ]  # fmt: skip
    to_parquet, written = pd.DataFrame.to_parquet, []

    def until_it_is_full(table, path, **options):
        if len(written) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written.append(path)
        to_parquet(table, path, **options)

    with monkeypatch.context() as patch:
        patch.setattr(pd.DataFrame, "to_parquet", until_it_is_full)
        assert main(command) == 2
    told = capsys.readouterr().err
    assert "Traceback" not in told
    last = told.strip().splitlines()[-1]
    assert re.search(
        r"cannot write \S+/metrics/\d+\.parquet: the disk is full; make room, and the same", last
    )
    assert not list(tmp_path.rglob(".0*.parquet")), "no half-written file is left"
    assert main(command) == 0


def test_whatever_else_finds_the_disk_full_is_told_in_one_line(monkeypatch, capsys):
    def full() -> dict[str, object]:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "somewhere.bin")

    monkeypatch.setattr("conceptlab.terminal.listing.listing", full)
    assert main(["list", "--json"]) == 2
    told = capsys.readouterr().err.strip().splitlines()
    assert len(told) == 1
    assert "cannot write somewhere.bin: the disk is full" in told[0]


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("DefaultCPUAllocator: can't allocate memory"),
        RuntimeError("Storage size calculation overflowed"),
    ],
)
def test_memory_that_runs_out_is_told_in_one_line(monkeypatch, capsys, error):
    assert "memory ran out; free some, or lower" in _told_of(error, monkeypatch, capsys)


def _told_of(error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """The one line by which a command ends that meets this error."""

    def failing() -> dict[str, object]:
        raise error

    monkeypatch.setattr("conceptlab.terminal.listing.listing", failing)
    assert main(["list", "--json"]) == 2
    (told,) = capsys.readouterr().err.strip().splitlines()
    return told


def _damaged(error: Exception) -> InputError:
    """As a file is called that cannot be read, whatever the reason."""
    made = InputError("config.json is damaged; move it away")
    made.__cause__ = error
    return made


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EMFILE, os.strerror(errno.EMFILE)),
        OSError(errno.ENFILE, os.strerror(errno.ENFILE), "somewhere.bin"),
        RuntimeError("unable to open shared memory object: Too many open files (24)"),
        _damaged(OSError(errno.EMFILE, os.strerror(errno.EMFILE), "config.json")),
    ],
)
def test_too_many_open_files_are_told_in_one_line(monkeypatch, capsys, error):
    told = _told_of(error, monkeypatch, capsys)
    assert "too many files are open at once; raise the limit (`ulimit -n 4096`" in told


@pytest.mark.skipif(not hasattr(os, "fork"), reason="limits are set between fork and exec")
def test_a_limit_on_open_files_ends_a_run_in_one_line(tmp_path):
    """Nine files are too few for the processes that train, and enough to import everything."""
    command = [
        "-m",
        "conceptlab",
        "run",
        "quickstart",
        "--scale",
        "tiny",
        "--device",
        "cpu",
        "--out",
        str(tmp_path),
    ]
    ended = subprocess.run(
        ["sh", "-c", 'ulimit -n 9; exec "$0" "$@"', sys.executable, *command],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
    assert "too many files are open at once" in ended.stderr.strip().splitlines()[-1]


def test_names_that_look_like_markup_are_printed_as_they_are(out, tmp_path, capsys):
    odd = tmp_path / "runs[old][/b]"
    shutil.copytree(out, odd)
    assert main(["verdict", str(odd)]) == 0
    assert "runs[old][/b]" in capsys.readouterr().out.replace("\n", "")
