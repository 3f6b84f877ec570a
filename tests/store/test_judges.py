"""Probes go along with the members they judged, whole or not at all, and never replace one that is there."""

from __future__ import annotations

import pytest

from conceptlab.store import FigureRun, Store
from conceptlab.store.files import read_json, write_json
from conceptlab.store.judges import copy_judges
from tests.figures import synthetic


@pytest.fixture
def run(tmp_path) -> FigureRun:
    run = synthetic.figure_run(tmp_path / "runs", [synthetic.recipe()])
    (member,) = run.members
    write_json(member.path / "probe.json", {"judge": {"probe": "aa"}, "second": {"probe": "bb"}})
    for name in ("aa", "bb", "cc"):
        for part in ("probe.json", "validation.json"):
            write_json(run.store.probe_path(name) / part, {"of": name})
        (run.store.probe_path(name) / ".lock").touch()
    return run


def test_the_probes_of_members_are_copied_and_no_others(run, tmp_path):
    target = Store(tmp_path / "results")
    copy_judges(run.members, run.store, target)
    assert sorted(path.name for path in (target.root / "probes").iterdir()) == ["aa", "bb"]
    assert sorted(p.name for p in target.probe_path("aa").iterdir()) == ["probe.json", "validation.json"]
    assert read_json(target.probe_path("bb") / "probe.json") == {"of": "bb"}


def test_a_probe_that_is_there_stays(run, tmp_path):
    target = Store(tmp_path / "results")
    write_json(target.probe_path("aa") / "validation.json", {"of": "others"})
    copy_judges(run.members, run.store, target)
    assert [path.name for path in target.probe_path("aa").iterdir()] == ["validation.json"]


def test_a_probe_that_is_not_validated_is_not_copied(run, tmp_path):
    (run.store.probe_path("aa") / "validation.json").unlink()
    target = Store(tmp_path / "results")
    copy_judges(run.members, run.store, target)
    assert not target.probe_path("aa").exists()
