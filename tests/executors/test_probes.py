"""Two runs that need one probe."""

import threading
from pathlib import Path

import pytest

from conceptlab.errors import InputError
from conceptlab.executors.probes import check_probe, prepare_probe, probe_hash, unlearned
from conceptlab.store import Store
from conceptlab.store.files import Busy, locked
from conceptlab.worlds import QUICKSTART

WORLD, PROBE = {"name": "shapes", **QUICKSTART}, {"name": "analytic"}


def test_a_probe_that_another_run_trains_is_waited_for(tmp_path: Path) -> None:
    store = Store(tmp_path)
    folder = store.probe_path(probe_hash(WORLD, PROBE))
    second = threading.Thread(target=prepare_probe, args=(store, WORLD, PROBE), kwargs={"judges": False})
    with locked(folder):
        second.start()
        second.join(0.5)
        assert second.is_alive()
        assert not (folder / "validation.json").exists()
    second.join(60)
    assert (folder / "validation.json").exists()


def test_a_probe_that_several_worlds_share_is_trained_once_and_an_analytic_one_never(tmp_path: Path) -> None:
    store, judge = Store(tmp_path), {"name": "detector", "steps": 1, "images_per_class": 8}
    one, every = ({"name": "discs", "labelled": labelled} for labelled in ("one", "all"))
    assert len(unlearned(store, [(one, judge), (every, judge), (WORLD, PROBE)])) == 1
    prepare_probe(store, every, judge, judges=False)
    assert unlearned(store, [(one, judge), (every, judge)]) == []


def test_who_does_not_wait_is_told(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(Busy, match="another process"), locked(tmp_path):
        pass


@pytest.mark.parametrize("wrong", [{"seed": "x"}, {"batch": 1.5}, {"images_per_class": -1}, {"seed": True}])
def test_what_is_no_whole_number_is_told_before_anything_is_trained(wrong):
    (setting,) = wrong
    with pytest.raises(InputError, match=rf"evaluation\.probe\.{setting}=.* must be a whole number"):
        check_probe({"name": "cnn", **wrong})
