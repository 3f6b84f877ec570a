"""Reading a member while it is being written, and one that is damaged."""

from __future__ import annotations

import shutil

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from conceptlab.errors import InputError
from conceptlab.store import Member, MemberWriter, Store, gather
from conceptlab.store.files import write_json
from conceptlab.store.timing import stretches
from tests.figures import synthetic
from tests.tiny import tiny_recipe


def test_files_that_are_still_being_written_are_not_read(tmp_path):
    recipe = synthetic.recipe(0)
    synthetic.member(Store(tmp_path), recipe, status="unfinished", steps=(50, 100))
    member = Member(tmp_path / "members" / recipe.hash)
    rows = len(member.metrics)
    # As `write_atomically` names what it has not finished.
    (member.path / "metrics" / ".00000150.parquet.x7.parquet").write_bytes(b"half")
    (member.path / "samples" / ".00000150.png.x7.png").write_bytes(b"half")
    assert len(member.metrics) == rows
    assert member.sample_steps == [50, 100]


def test_what_a_killed_writer_had_begun_goes_when_the_member_is_taken_up_again(tmp_path):
    """Half a state, by our name and by that of safetensors, which writes to a temporary file of its own."""
    recipe = synthetic.recipe(0)
    synthetic.member(Store(tmp_path), recipe, status="unfinished", steps=(50,))
    path = tmp_path / "members" / recipe.hash
    (path / ".lock").touch()
    states = path / "checkpoints"
    states.mkdir(exist_ok=True)
    for name in (".tmpa1B2c3", ".state-00000050.safetensors.x7.safetensors"):
        (states / name).write_bytes(b"half")
    MemberWriter(path, recipe, {})
    assert [file.name for file in path.rglob(".*")] == [".lock"]
    assert Member(path).sample_steps == [50]


@pytest.mark.parametrize("cut", [0, 1, 20])
def test_a_line_that_a_crash_cut_off_is_not_added_to(tmp_path, cut):
    recipe, log = synthetic.recipe(0), tmp_path / "member" / "log.jsonl"
    first = MemberWriter(log.parent, recipe, {})
    first.log("started", step=0)
    first.log("evaluated", step=50)
    log.write_bytes(log.read_bytes()[: -cut or None])
    MemberWriter(log.parent, recipe, {}).log("resumed", step=50)
    events = [line["event"] for line in Member(log.parent).log()]
    assert events == ["started", *([] if cut else ["evaluated"]), "resumed"]


def test_a_finished_member_without_its_metrics_is_damaged_not_empty(tmp_path):
    recipe = synthetic.recipe(0)
    synthetic.member(Store(tmp_path), recipe, steps=(50, 100))
    member = Member(tmp_path / "members" / recipe.hash)
    pd.DataFrame({"step": [1]}).to_parquet(member.path / "metrics.parquet")
    with pytest.raises(InputError, match="lacks the columns weights, class, variable, measure, value"):
        _ = member.metrics
    (member.path / "metrics.parquet").unlink()
    with pytest.raises(InputError, match=r"metrics\.parquet is damaged \(it is missing\); move .* away"):
        _ = member.metrics
    (member.path / "metrics.parquet").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        _ = member.metrics


@pytest.mark.parametrize(
    ("name", "text", "read"),
    [
        ("config.json", "[]", lambda path: Member(path)),
        ("config.json", "{}", lambda path: Member(path)),
        ("config.json", '{"nonsense": 1}', lambda path: Member(path)),
        ("done.json", "[]", lambda path: Member(path).status),
        ("environment.json", "[]", lambda path: Member(path).environment),
        ("environment.json", '{"members": 0}', lambda path: stretches(Member(path))),
        ("probe.json", "3", lambda path: Member(path).probe),
        ("log.jsonl", "{junk}\n", lambda path: Member(path).log()),
        ("log.jsonl", '{"event": "started"}\n', lambda path: Member(path).log()),
    ],
)
def test_damaged_files_are_named(tmp_path, name, text, read):
    recipe = synthetic.recipe(0)
    synthetic.member(Store(tmp_path), recipe, steps=(50, 100))
    path = tmp_path / "members" / recipe.hash
    (path / name).write_text(text)
    with pytest.raises(InputError, match=rf"{name} is damaged") as raised:
        read(path)
    assert "move" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_setting_that_only_another_version_knows_is_told_so(tmp_path):
    """To train again what a newer one has trained would be for nothing."""
    synthetic.member(Store(tmp_path), recipe := synthetic.recipe(0), steps=(50, 100))
    path = tmp_path / "members" / recipe.hash
    write_json(path / "config.json", recipe.to_dict() | {"future": 3})
    with pytest.raises(
        InputError, match=r"unknown setting 'future'.*; read it with the conceptlab that wrote it"
    ):
        Member(path)


def test_files_with_other_names_or_sizes_are_not_taken_for_samples(tmp_path):
    recipe = synthetic.recipe(0)
    synthetic.member(Store(tmp_path), recipe, steps=(50, 100))
    member = Member(tmp_path / "members" / recipe.hash)
    (member.path / "samples" / "100 (copy).png").write_bytes(b"")
    assert member.sample_steps == [50, 100]
    Image.new("RGB", (5, 7)).save(member.path / "samples" / "00000100.png")
    with pytest.raises(InputError, match=r"00000100\.png is missing or damaged") as raised:
        member.samples(100)
    # Not the sheet alone: a figure would show an earlier one as the last.
    assert str(raised.value).endswith(f"; move {member.path} away and run again")


def test_members_with_and_without_rows_make_one_table_of_numbers(tmp_path):
    for seed, steps in ((0, (50, 100)), (1, ())):
        synthetic.member(Store(tmp_path), synthetic.recipe(seed), status="unfinished", steps=steps)
    table = gather([Member(path) for path in sorted((tmp_path / "members").iterdir())])
    assert len(table)
    assert (table["value"].dtype, table["step"].dtype) == (np.float32, np.int64)


def test_a_finished_member_without_its_configuration_is_damaged(tmp_path):
    recipe = synthetic.recipe(0)
    synthetic.member(Store(tmp_path), recipe)
    path = tmp_path / "members" / recipe.hash
    (path / "config.json").unlink()
    with pytest.raises(
        InputError, match=r"config.json is damaged .it is missing.; move .* away and run again"
    ):
        Member(path)


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("config.json", lambda path: Member(path)),
        ("metrics.parquet", lambda path: Member(path).metrics),
        ("checkpoints/00000100.safetensors", lambda path: Member(path).weights()),
    ],
)
def test_what_no_run_makes_again_in_a_finished_member_sends_the_whole_member_away(tmp_path, name, read):
    """A member that is done is not looked into: with the damaged file alone gone, `run` would train nothing."""
    recipe = synthetic.recipe(0)
    synthetic.member(Store(tmp_path), recipe)
    path = tmp_path / "members" / recipe.hash
    (path / name).parent.mkdir(exist_ok=True)
    (path / name).write_text("no")
    with pytest.raises(InputError, match=rf"{name} is damaged .*; move {path} away and run again$"):
        read(path)


def test_a_configuration_that_belies_the_name_of_its_folder_is_refused(tmp_path):
    recipe = tiny_recipe()
    path = tmp_path / "members" / recipe.hash
    write_json(path / "config.json", recipe.to_dict())
    assert Member(path).recipe == recipe
    write_json(path / "config.json", tiny_recipe(batch=5).to_dict())
    with pytest.raises(InputError, match=f"changed by hand.* restore it, or move {path} away"):
        Member(path)
    shutil.copytree(path, tmp_path / "mine")
    assert Member(tmp_path / "mine").recipe.batch == 5, "a user may give a copy any name"


def test_a_member_of_an_earlier_version_is_read(tmp_path, monkeypatch):
    recipe = tiny_recipe()
    monkeypatch.setattr("conceptlab.recipe.RECIPE_VERSION", 9)
    write_json(tmp_path / recipe.hash / "config.json", recipe.to_dict())
    assert Member(tmp_path / recipe.hash).recipe == recipe
