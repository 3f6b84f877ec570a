"""Where what is printed goes: readers that leave, streams that are closed, encodings that lack a character."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FIGURE = Path(__file__).parents[2] / "results" / "yang2025" / "paper" / "fig3"
COMMAND = [sys.executable, "-m", "conceptlab"]


def run(arguments: list[str], **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*COMMAND, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        timeout=120,
        check=False,
    )


def test_a_reader_that_has_gone_ends_no_work():
    """As in `conceptlab run … | head -1`: whatever comes after the words that nobody reads is done all the same."""
    reader, writer = os.pipe()
    os.close(reader)
    arguments = ["verdict", str(FIGURE)]
    done = subprocess.run(
        [*COMMAND, *arguments], stdout=writer, stderr=subprocess.PIPE, timeout=120, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_what_an_encoding_lacks_costs_no_verdict(encoding):
    done = run(["verdict", str(FIGURE)], PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"?" in done.stdout
    plain, escaped = (run(["list", "--json"], PYTHONIOENCODING=e).stdout for e in ("utf-8", encoding))
    assert json.loads(plain) == json.loads(escaped.decode(encoding))


def test_a_closed_stream_is_no_bug():
    done = subprocess.run(
        ["sh", "-c", f"exec '{sys.executable}' -m conceptlab verdict '{FIGURE}' >&-"],
        capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")


def test_what_looks_like_markup_or_an_emoji_is_printed_as_it_is():
    """A count that is none, as in `--train 000:x`, stands before a colon in the message."""
    done = run(["verdict", "runs[bold]:x:100:"])
    assert done.returncode == 2
    assert b"runs[bold]:x:100:" in done.stderr
