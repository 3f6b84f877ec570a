"""Writing states must hold nothing up, lose nothing and hide nothing."""

from __future__ import annotations

from threading import Event

import pandas as pd
import pytest
import torch

from conceptlab.executors import states
from conceptlab.executors.states import States
from conceptlab.store import METRIC_COLUMNS, MemberWriter
from tests.tiny import tiny_recipe


class Slow(MemberWriter):
    """Writes once it is let."""

    let: Event

    def write_state(self, step, tensors):
        assert self.let.wait(60)
        super().write_state(step, tensors)


@pytest.fixture
def slow(tmp_path) -> Slow:
    writer = Slow(tmp_path / "member", tiny_recipe(), {})
    for step in (3, 6, 9):  # a state without what was measured before it is none to go on from
        writer.metrics(step, pd.DataFrame(columns=METRIC_COLUMNS))
    writer.let = Event()
    return writer


def state(step: int) -> list[dict[str, torch.Tensor]]:
    return [{"step": torch.tensor(step)}]


def test_training_goes_on_while_a_state_is_written(slow):
    kept = States()
    assert kept.due()
    kept.write(3, [slow], lambda: state(3))  # returns though nothing can be written yet
    assert not slow.state_steps()
    assert not kept.due()
    slow.let.set()
    kept.close()
    assert slow.state_steps() == {3}
    assert slow.read_state(3)["step"] == 3


def test_one_state_is_left_and_it_is_the_last(slow):
    kept = States()
    slow.let.set()
    for step in (3, 6, 9):
        kept.write(step, [slow], lambda step=step: state(step))
    kept.wait()
    assert slow.state_steps() == {9}


def test_a_state_of_long_writing_waits_for_its_share(slow, monkeypatch):
    kept, now = States(), 1000.0
    monkeypatch.setattr(states.time, "perf_counter", lambda: now)
    slow.let.set()
    kept.write(3, [slow], lambda: state(3))
    kept.wait()
    kept._ended = now + 2  # as if it had taken two seconds
    now += 2 / states.SHARE - 1
    assert not kept.due()
    now += 2
    assert kept.due()


def test_what_goes_wrong_in_the_thread_is_raised_in_the_training(slow, monkeypatch):
    def full(self, step, tensors):
        raise OSError("no space left on device")

    monkeypatch.setattr(Slow, "write_state", full)
    kept = States()
    kept.write(3, [slow], lambda: state(3))
    with pytest.raises(OSError, match="no space"):
        kept.wait()
