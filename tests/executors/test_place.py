"""Where a run takes place: on this machine, or on which cluster."""

from __future__ import annotations

import sys
from functools import partial

import pytest
import torch

from conceptlab import executors
from conceptlab.errors import InputError
from conceptlab.executors import ray as ray_executor


@pytest.mark.parametrize(
    ("named", "set_", "joined"),
    [
        (None, "", "local"),
        (None, "there:6379", "there:6379"),
        ("auto", "", "auto"),
        ("here:6379", "there:6379", "here:6379"),
    ],
)
def test_without_an_address_no_cluster_is_joined(monkeypatch, named, set_, joined):
    """One that somebody started on this machine, too, is joined by Ray unless it is told not to, and then refuses the
    number of cores."""
    ray = pytest.importorskip("ray")
    asked = []

    def init(**options):
        asked.append(options["address"])
        raise ConnectionError("nobody there")

    monkeypatch.setattr(ray, "init", init)
    monkeypatch.setattr(ray_executor, "_reach", lambda address: None)
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setenv("RAY_ADDRESS", set_)
    told = (
        "Ray does not start on this machine" if joined == "local" else f"no Ray cluster answers at '{joined}'"
    )
    with pytest.raises(InputError, match=rf"^{told} \(nobody there\); "):
        ray_executor.connect(named)
    assert asked == [joined]


@pytest.mark.parametrize("port", [1, 99_999])
def test_an_address_at_which_nobody_listens_is_told_at_once(monkeypatch, port):
    """Ray itself tries for minutes."""
    ray = pytest.importorskip("ray")
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", lambda **_: pytest.fail("Ray was asked"))
    with pytest.raises(
        InputError, match=rf"^no Ray cluster answers at '127\.0\.0\.1:{port}' \(.+\); is `ray"
    ):
        ray_executor.connect(f"127.0.0.1:{port}")


def test_where_a_run_takes_place(monkeypatch):
    here = executors.place("local", "cpu")
    assert here.device == torch.device("cpu")
    assert isinstance(here.train, partial)
    assert here.train.func is executors.run
    with pytest.raises(InputError, match="add --executor ray"):
        executors.place("local", "cpu", address="host:6379")
    with pytest.raises(InputError, match="share of one GPU"):
        executors.place("ray", "cpu", gpus=2.0)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"pip install 'conceptlab\[ray\]'"):
        executors.place("ray", "cpu")
