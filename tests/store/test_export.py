"""Exports: everything a reader needs is there, nothing is lost, and what is there already is respected."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from conceptlab.errors import InputError
from conceptlab.store import FigureRun, Member, Store, export, find_figures
from conceptlab.store.files import read_json, read_table, write_json
from tests.figures import synthetic

STEPS = tuple(range(100, 1001, 100))
NAME = "quickstart.emergence at small scale"


def drawn(root: Path, seeds: int = 2, **more) -> FigureRun:
    run = synthetic.figure_run(root, [synthetic.recipe(seed) for seed in range(seeds)], steps=STEPS, **more)
    (run.path / "figures").mkdir(exist_ok=True)
    Image.linear_gradient("L").save(run.path / "figures" / "emergence.png")
    (run.path / "figures" / "times.csv").write_text("step\n1\n")
    for member in run.members:
        (member.path / "checkpoints").mkdir()
        (member.path / "checkpoints" / "00001000.safetensors").write_bytes(b"weights")
    return run


def pixels(path: Path) -> bytes:
    with Image.open(path) as picture:
        return picture.convert("RGB").tobytes()


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> FigureRun:
    """Tests that change it make their own."""
    return drawn(tmp_path_factory.mktemp("export") / "runs")


@pytest.fixture
def out(run, tmp_path) -> Path:
    done = export([run], tmp_path / "results")
    assert (done.new, done.updated, done.unchanged, done.left_out, done.members) == ([NAME], [], [], {}, 2)
    return tmp_path / "results"


def test_what_was_found_is_kept(run, out):
    (kept,) = find_figures(out)
    assert kept.manifest == run.manifest
    assert kept.verdicts == run.verdicts
    assert [pixels(path) for path in kept.pictures] == [pixels(path) for path in run.pictures]
    assert set(kept.tables) == set(run.tables) == {"curves", "times"}
    for name, table in run.tables.items():
        assert kept.tables[name].equals(table), (
            "tables are what claims are judged on: exact, with their types"
        )
    for mine, theirs in zip(run.members, kept.members):
        assert theirs.recipe == mine.recipe
        assert theirs.outcome == mine.outcome
        assert read_json(theirs.path / "probe.json") == read_json(mine.path / "probe.json")
        exact, kept_ones = (read_table(member.path / "metrics.parquet") for member in (mine, theirs))
        assert (exact["value"].dtype, kept_ones["value"].dtype) == (np.float64, np.float32)
        assert kept_ones.drop(columns="value").equals(exact.drop(columns="value"))
        np.testing.assert_array_equal(kept_ones["value"], exact["value"].astype(np.float32))


def test_a_share_that_was_kept_ties_with_the_same_share_just_measured(run, out):
    """Figures mix both where seeds or settings are added to results; in double precision .998 was not .998."""
    (kept,) = find_figures(out)
    for mine, theirs in zip(run.members, kept.members):
        assert theirs.metrics.equals(mine.metrics)


def test_what_is_not_needed_is_left_behind(run, out):
    kinds = {path.suffix for path in out.rglob("*") if path.is_file()}
    assert kinds == {".json", ".jsonl", ".parquet", ".png"}, "no checkpoints, no copies of tables, no locks"
    first, second = (Member(out / "members" / member.id) for member in run.members)
    assert first.sample_steps[-1] == 1000
    assert len(first.sample_steps) == 5
    assert second.sample_steps == [], "another seed of the same setting shows nothing new"
    assert first.samples().shape == (8, 8, 3, 16, 16), "all eight of each class: they are small"
    np.testing.assert_array_equal(first.samples(1000), run.members[0].samples(1000))


def test_tables_on_which_no_claim_rests_are_left_behind(tmp_path):
    run = drawn(tmp_path / "runs", 1, judged=[])
    out = tmp_path / "results"
    assert export([run], out).new == [NAME]
    assert not list(out.rglob("tables/*"))
    assert export([run], out).unchanged == [NAME]


def test_exporting_again_changes_nothing(run, out):
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    done = export([run], out)
    assert (done.new, done.updated, done.unchanged, done.members) == ([], [], [NAME], 0)
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} == before


def test_more_seeds_take_the_place_of_fewer_and_not_the_other_way_round(tmp_path):
    few, more = drawn(tmp_path / "few", 1), drawn(tmp_path / "more", 3)
    out = tmp_path / "results"
    export([few], out)
    done = export([more], out)
    assert (done.updated, done.members) == ([NAME], 2)
    assert find_figures(out)[0].manifest["seeds"] == [0, 1, 2]
    with pytest.raises(InputError, match=r"2 members that .* lacks and that would be lost"):
        export([few], out)
    assert len(find_figures(out)[0].members) == 3


def test_a_figure_made_otherwise_is_not_replaced(run, out, tmp_path):
    other = drawn(tmp_path / "other", settings={"steps": 500})
    with pytest.raises(InputError, match="other settings"):
        export([other], out)
    assert find_figures(out)[0].manifest == run.manifest


def test_a_member_with_other_numbers_is_refused_before_anything_is_written(run, out, tmp_path):
    place = out / "members" / run.members[0].id / "metrics.parquet"
    metrics = Member(place.parent).metrics
    metrics.assign(value=metrics["value"] / 2).to_parquet(place)
    data = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    with pytest.raises(InputError, match="holds other numbers"):
        export([drawn(tmp_path / "again", 3)], out)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == data


def test_pictures_that_a_figure_no_longer_has_do_not_stay(run, out, tmp_path):
    Image.linear_gradient("L").save(out / "quickstart/small/emergence/figures/old.png")
    assert export([run], out).updated == [NAME]
    assert [path.name for path in find_figures(out)[0].pictures] == ["emergence.png"]


def test_unfinished_figures_are_left_out_with_the_reason(tmp_path, run):
    missing = drawn(tmp_path / "a", 1)
    (missing.members[0].path / "done.json").unlink()
    undrawn = synthetic.figure_run(tmp_path / "b", [synthetic.recipe(0)], figure="other", steps=STEPS)
    done = export([run, missing, undrawn], tmp_path / "results")
    assert done.new == [NAME]
    command = "conceptlab run quickstart --scale small --seeds 1 --out"
    assert done.left_out == {
        NAME: f"1 of 1 members are not trained; `{command} {tmp_path / 'a'}` goes on with it",
        "quickstart.other at small scale": f"it was not drawn; `{command} {tmp_path / 'b'}` draws it",
    }


def test_where_every_figure_is_left_out_nothing_was_done(tmp_path, run):
    """It is an error that says how to get there, not a folder of 0.0 MB; what is there already is something."""
    out = tmp_path / "results"
    recipes = [synthetic.recipe(0)]
    missing = [
        synthetic.figure_run(tmp_path / "a", recipes, figure=figure, statuses=("unfinished",))
        for figure in ("first", "second")
    ]
    with pytest.raises(InputError) as caught:
        export(missing, out)
    assert str(caught.value) == (
        f"nothing was exported to {out}; left out: quickstart.first at small scale and 1 more: "
        "1 of 1 members are not trained; `conceptlab run quickstart --scale small --seeds 1 "
        f"--out {tmp_path / 'a'}` goes on with it"
    )
    assert not out.exists()
    export([run], out)
    assert export([run, missing[0]], out).unchanged == [NAME]


@pytest.mark.parametrize(
    "path",
    [
        "/data/celeba",
        "C:\\data\\celeba",
        "run --data /data/celeba",
        "run --data '/my data'",
        "--set world.folder=/data",
    ],
)
def test_paths_of_this_machine_do_not_leave_it(tmp_path, path):
    run = drawn(tmp_path / "runs", 1)
    write_json(run.path / "manifest.json", {**run.manifest, "command": path})
    with pytest.raises(InputError, match=r"names a path of this machine .*; keep the run folder itself"):
        export([run], tmp_path / "results")
    assert not (tmp_path / "results").exists()


def test_where_a_command_was_run_does_not_leave_this_machine_and_keeps_nothing_here(tmp_path):
    run, out = drawn(tmp_path / "runs", 1, directory=str(tmp_path)), tmp_path / "results"
    assert export([run], out).new == [NAME]
    assert str(tmp_path) not in (out / run.path.relative_to(tmp_path / "runs") / "manifest.json").read_text()
    assert export([run], out).unchanged == [NAME]


def test_a_slash_between_words_is_no_path(tmp_path):
    run = drawn(tmp_path / "runs", 1, shows="colour / size, red/blue")
    assert export([run], tmp_path / "results").new == [NAME]


def test_a_folder_is_not_exported_into_itself(run):
    with pytest.raises(InputError, match="choose another --out"):
        export([run], run.store.root)


def test_members_that_others_started_from_come_along(tmp_path):
    before = synthetic.recipe(0)
    after = synthetic.recipe(0, start=before.to_dict())
    synthetic.member(Store(tmp_path / "runs"), before, steps=STEPS)
    run = synthetic.figure_run(tmp_path / "runs", [after], steps=STEPS)
    (run.path / "figures").mkdir()
    Image.linear_gradient("L").save(run.path / "figures" / "emergence.png")
    export([run], tmp_path / "results")
    assert {path.name for path in (tmp_path / "results" / "members").iterdir()} == {before.hash, after.hash}


def test_logs_keep_when_each_stretch_began_and_ended(tmp_path):
    run = drawn(tmp_path / "runs", 1)
    events = ["started", "evaluated", "evaluated", "resumed", "evaluated", "complete"]
    lines = [{"time": 10.0 * i, "event": event} for i, event in enumerate(events)]
    (run.members[0].path / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    export([run], tmp_path / "results")
    kept = Member(tmp_path / "results" / "members" / run.members[0].id).log()
    assert [line["time"] for line in kept] == [0.0, 20.0, 30.0, 50.0]


def _break(run: FigureRun, what: str) -> None:
    member = run.members[-1].path
    places = {
        "table": run.path / "tables" / "times.parquet",
        "picture": run.path / "figures" / "emergence.png",
        "claims": run.path / "claims.json",
        "metrics": member / "metrics.parquet",
        "log": member / "log.jsonl",
        "environment": member / "environment.json",
        "probe": member / "probe.json",
        "done": member / "done.json",
        "sample": run.members[0].path / "samples" / "00001000.png",
    }
    places[what].write_text("{damage}")


@pytest.mark.parametrize(
    "what",
    ["table", "picture", "claims", "metrics", "log", "environment", "probe", "done", "sample"],
)
def test_what_is_damaged_is_refused_before_anything_is_written(tmp_path, what):
    good, bad = drawn(tmp_path / "good", 1, figure="other"), drawn(tmp_path / "runs")
    _break(bad, what)
    with pytest.raises(InputError, match="damaged"):
        export([good, bad], tmp_path / "results")
    assert not (tmp_path / "results").exists()


def test_a_member_without_its_metrics_is_not_exported_as_an_empty_one(tmp_path):
    run = drawn(tmp_path / "runs")
    (run.members[1].path / "metrics.parquet").unlink()
    with pytest.raises(InputError, match=r"metrics\.parquet is damaged"):
        export([run], tmp_path / "results")
    assert not (tmp_path / "results").exists()


def test_of_two_folders_with_one_figure_neither_takes_the_place_of_the_other(tmp_path):
    more, few = drawn(tmp_path / "more", 3), drawn(tmp_path / "few", 1)
    with pytest.raises(InputError, match="are the same figure; export one of them"):
        export([more, few], tmp_path / "results")
    assert not (tmp_path / "results").exists()
