"""What is shown of work that takes long."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from conceptlab.store import Store
from conceptlab.terminal import progress
from conceptlab.terminal.progress import showing_images, showing_progress
from tests.tiny import tiny_recipe


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    """The time as progress sees it; set by tests."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def console(terminal: bool = False) -> Console:
    return Console(file=io.StringIO(), force_terminal=terminal, width=100, markup=False, highlight=False)


def told(shown: Console) -> str:
    assert isinstance(shown.file, io.StringIO)
    return shown.file.getvalue()


@pytest.mark.parametrize("first", [[(5.0, 0), (65.0, 50)], [(65.0, 50)]], ids=["from the start", "resumed"])
def test_the_rate_is_that_of_the_steps_made_since_it_is_taken(tmp_path, clock, first):
    """50 steps that came with start-up, or were made before the run was interrupted, then 20 in 20 seconds."""
    log = console()
    with showing_progress([tiny_recipe(steps=100)], Store(tmp_path), log) as tell:
        for now, steps in (*first, (75.0, 10), (85.0, 10)):
            clock[0] = now
            tell(["member"], steps)
    *_, line = told(log).splitlines()
    assert line == "70/100 model-steps, 1/s, 30 s left"


def test_a_log_is_told_of_images_after_a_pause_and_not_before(clock):
    log = console()
    with showing_images(1000, log) as tell:
        for now, images in ((5.0, 0), (10.0, 100), (25.0, 300)):
            clock[0] = now
            tell(images)
    assert told(log) == "400/1000 images, 20/s, 30 s left\n", "loading a model is not part of the rate"


def test_a_terminal_shows_images_and_keeps_nothing_of_it():
    terminal = console(terminal=True)
    with showing_images(1000, terminal) as tell:
        tell(0)
        tell(400)
    shown = told(terminal)
    assert "400/1000" in shown
    assert shown.endswith("\x1b[2K"), "the line is erased"
