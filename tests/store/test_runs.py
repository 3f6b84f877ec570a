"""The folder of a figure: whose it is, and what of it is whole."""

from __future__ import annotations

import multiprocessing
import shutil
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from conceptlab.errors import InputError
from conceptlab.recipe import Recipe
from conceptlab.store import FigureRun, MemberWriter, Store
from conceptlab.store.files import is_worked_for, write_atomically, write_json, write_table
from tests.tiny import tiny_recipe

MANIFEST = {"study": "study", "scale": "tiny", "settings": {}, "members": [], "seeds": [0]}


def claimed(root: Path, *figures: str) -> list[FigureRun]:
    runs = [Store(root).figure("study", "tiny", figure) for figure in figures]
    for run in runs:
        run.claim({**MANIFEST, "figure": run.path.name})
    return runs


def trained(root: Path, recipe: Recipe) -> None:
    write_json(Store(root).member_path(recipe) / "config.json", recipe.to_dict())
    write_json(Store(root).member_path(recipe) / "done.json", {"status": "complete"})


def test_a_folder_made_by_another_configuration_is_not_taken_over(tmp_path):
    (run,) = claimed(tmp_path, "f")
    members = [tiny_recipe(seed=seed) for seed in range(2)]
    manifest = {**MANIFEST, "figure": "f", "members": [members[0].hash]}
    run.claim({**manifest, "members": [recipe.hash for recipe in members], "seeds": [0, 1]})
    trained(tmp_path, members[1])
    with pytest.raises(InputError, match="another configuration"):
        run.claim({**manifest, "settings": {"steps": 5}})
    run.claim(manifest)
    assert run.manifest["members"] == [recipe.hash for recipe in members], (
        "fewer seeds must not forget others"
    )
    assert run.manifest["seeds"] == [0, 1]


def test_only_what_differs_is_told_of_another_configuration(tmp_path):
    (run,) = claimed(tmp_path, "f")
    world = {"name": "folder", "variables": [["colour", ["red", "blue"]]]}
    run.claim({**MANIFEST, "figure": "f", "settings": {"steps": 5, "world": {**world, "resolution": 16}}})
    (run.path / "tables").mkdir(exist_ok=True)
    with pytest.raises(
        InputError, match=r"configuration \(steps=5, world\.resolution=16, batch not set\), or"
    ):
        run.claim({**MANIFEST, "figure": "f", "settings": {"world": {**world, "resolution": 8}, "batch": 2}})


def test_data_that_changed_are_told_in_words(tmp_path):
    (run,) = claimed(tmp_path, "f")
    run.claim({**MANIFEST, "figure": "f", "settings": {"world": {"name": "folder", "fingerprint": "5e17"}}})
    (run.path / "tables").mkdir(exist_ok=True)
    with pytest.raises(InputError, match=r"another configuration \(other images or labels\), or"):
        run.claim(
            {**MANIFEST, "figure": "f", "settings": {"world": {"name": "folder", "fingerprint": "08e7"}}}
        )


def test_members_that_an_abandoned_run_never_trained_are_forgotten(tmp_path):
    (run,) = claimed(tmp_path, "f")
    members = [tiny_recipe(seed=seed) for seed in range(8)]
    many = {"members": [recipe.hash for recipe in members], "seeds": list(range(8))}
    run.claim({**MANIFEST, "figure": "f", **many})
    trained(tmp_path, members[5])
    run.claim({**MANIFEST, "figure": "f", "members": many["members"][:2], "seeds": [0, 1]})
    assert run.manifest["members"] == [members[index].hash for index in (0, 1, 5)]
    assert run.manifest["seeds"] == [0, 1, 5]


def test_a_folder_in_which_nothing_was_made_may_be_claimed_anew(tmp_path):
    """Else the corrected command would be refused for the sake of the mistaken one."""
    manifest = {**MANIFEST, "figure": "f", "members": ["a"]}
    run = Store(tmp_path).figure("study", "tiny", "f")
    run.claim({**manifest, "settings": {"steps": 5}})
    run.claim(manifest)
    assert run.manifest["settings"] == {}
    (run.path / "tables").mkdir()
    with pytest.raises(InputError, match="another configuration"):
        run.claim({**manifest, "settings": {"steps": 5}})


def test_a_folder_for_which_another_run_has_begun_to_train_is_not_taken_over(tmp_path):
    (run,), member = claimed(tmp_path, "f"), tiny_recipe()
    run.claim({**MANIFEST, "figure": "f", "members": [member.hash]})
    MemberWriter(Store(tmp_path).member_path(member), member, {})
    other = {**MANIFEST, "figure": "f", "members": ["a"], "settings": {"steps": 5}}
    with pytest.raises(InputError, match=r"or is being made; .* move that folder away if it was given up"):
        run.claim(other)
    shutil.move(run.path, tmp_path / "given up")
    run.claim(other)
    assert run.manifest["settings"] == {"steps": 5}


def test_a_folder_is_kept_from_another_configuration_while_a_run_lasts(tmp_path):
    """Also before that has begun to train: it may be training a probe, or computing what needs no member."""
    run, manifest = Store(tmp_path).figure("study", "tiny", "f"), {**MANIFEST, "figure": "f"}
    other = {**manifest, "settings": {"steps": 5}}
    refused = pytest.raises(
        InputError, match=r"is being made by another configuration \(steps not set\) in another"
    )
    with run.claimed(manifest):
        with refused, run.claimed(other):
            pytest.fail("it was let in")
        with run.claimed({**manifest, "seeds": [0, 1]}):
            assert run.manifest["seeds"] == [0, 1], "the same configuration shares it"
        with refused, run.claimed(other):
            pytest.fail("it was let in")
    with run.claimed(other):
        assert run.manifest["settings"] == {"steps": 5}, "nothing was made of it"


def test_a_killed_run_keeps_no_folder(tmp_path):
    run, manifest = Store(tmp_path).figure("study", "tiny", "f"), {**MANIFEST, "figure": "f"}
    process = multiprocessing.get_context("spawn").Process(target=_held_for_ever, args=(run, manifest))
    process.start()
    for _ in range(600):
        if is_worked_for(run.path):
            break
        time.sleep(0.05)
    with pytest.raises(InputError, match="is being made"):
        run.claim({**manifest, "settings": {"steps": 5}})
    process.kill()
    process.join()
    run.claim({**manifest, "settings": {"steps": 5}})


def _held_for_ever(run: FigureRun, manifest: dict[str, Any]) -> None:
    with run.claimed(manifest):
        time.sleep(600)


def test_a_folder_that_is_another_s_by_now_is_not_finished(tmp_path):
    (run,) = claimed(tmp_path, "f")
    run.claim({**MANIFEST, "figure": "f", "settings": {"steps": 5}})
    with pytest.raises(InputError, match="another configuration"):
        run.finish({**MANIFEST, "figure": "f"})


def test_what_a_killed_run_was_writing_is_neither_table_nor_picture(tmp_path, monkeypatch):
    (run,) = claimed(tmp_path, "fig1")
    whole = pd.DataFrame({"x": [1, 2]})
    write_table(run.path / "tables" / "t.parquet", whole)
    write_atomically(run.path / "figures" / "fig1.png", lambda path: path.touch())
    monkeypatch.setattr(Path, "unlink", lambda *_, **__: None)  # killed: nothing is tidied up
    for name in ("tables/t.parquet", "figures/fig1.png"):
        with pytest.raises(KeyboardInterrupt):
            write_atomically(run.path / name, _half)
    assert len(list(run.path.glob("*/.*"))) == 2
    pd.testing.assert_frame_equal(run.tables["t"], whole)
    assert set(run.tables) == {"t"}
    assert [path.name for path in run.pictures] == ["fig1.png"]


def _half(path: Path) -> None:
    path.write_bytes(b"half")
    raise KeyboardInterrupt
