"""What the studio finds, what it says of what is broken, and what it refuses."""

from __future__ import annotations

import json
import os
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from conceptlab.errors import InputError
from conceptlab.store import FigureRun, Store, export, find_figures
from conceptlab.studio.catalogue import Catalogue, Entry
from conceptlab.studio.live import stamp
from tests.studio.runs import claimed, recipe


@pytest.fixture
def copied(run: FigureRun, tmp_path: Path) -> Path:
    """A copy of the trained run that a test may damage."""
    shutil.copytree(run.store.root, tmp_path / "runs")
    return tmp_path / "runs"


def only(folder: Path) -> Entry:
    (entry,) = Catalogue([folder]).entries()
    return entry


def test_a_finished_run_is_complete_and_can_be_found_by_its_key(copied: Path) -> None:
    catalogue = Catalogue([copied])
    (entry,) = catalogue.entries()
    assert (entry.key, entry.name, entry.status, entry.share) == (
        "runs/quickstart/tiny/emergence", "quickstart.emergence", "complete", 1.0,
    )  # fmt: skip
    assert catalogue.find(entry.key).member().recipe == recipe()


def test_exported_results_are_listed_as_complete_with_nothing_to_prompt(copied: Path, tmp_path: Path) -> None:
    (copied / "quickstart/tiny/emergence/figures").mkdir()
    Image.linear_gradient("L").save(copied / "quickstart/tiny/emergence/figures/emergence.png")
    manifest = copied / "quickstart/tiny/emergence/manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "seconds": 1.0}))
    export(find_figures(copied), tmp_path / "results")
    entry = only(tmp_path / "results")
    assert (entry.key, entry.status, entry.promptable) == (
        "results/quickstart/tiny/emergence",
        "complete",
        [],
    )
    assert entry.member().curves().shape == (4, 8)


def test_runs_come_in_the_order_of_papers_and_figures(tmp_path: Path) -> None:
    made = {
        "bradley2025": ["length"], "custom": ["mine"], "okawa2023": ["frequency", "ablation", "fig10", "fig5"],
        "quickstart": ["emergence"], "yang2025": ["fig2"],
    }  # fmt: skip
    for folder in ("runs", "ships"):
        for study, figure in ((study, figure) for study, figures in made.items() for figure in figures):
            about = {
                "study": study,
                "figure": figure,
                "scale": "tiny",
                "settings": {},
                "members": [],
                "seeds": [],
            }
            Store(tmp_path / folder).figure(study, "tiny", figure).claim(about)
    (tmp_path / "runs/okawa2023/tiny/fig5/manifest.json").write_text("{")
    entries = Catalogue([tmp_path / "runs"], [tmp_path / "ships"]).entries()
    order = ["quickstart.emergence", "okawa2023.fig5", "okawa2023.fig10", "okawa2023.frequency", "okawa2023.ablation",
             "yang2025.fig2", "bradley2025.length", "custom.mine"]  # fmt: skip
    assert [(".".join(entry.names), entry.shipped) for entry in entries] == [
        (name, shipped) for shipped in (False, True) for name in order
    ]
    assert entries[1].problem


def test_when_a_run_ended_is_read_from_what_is_written_not_from_its_files(copied: Path) -> None:
    log = copied / "members" / recipe().hash / "log.jsonl"
    last = json.loads(log.read_text().splitlines()[-1])["time"]
    for path in copied.rglob("*"):
        os.utime(path, (1e9, 1e9))  # a copy, or a checkout
    assert only(copied).ended == last
    manifest = copied / "quickstart/tiny/emergence/manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "ended": 1.5e9}))
    assert only(copied).ended == 1.5e9


@pytest.mark.parametrize("text", ["", "{", '{"time": "noon", "event": "complete"}'])
def test_a_log_that_tells_no_time_is_no_damage(copied: Path, text: str) -> None:
    (copied / "members" / recipe().hash / "log.jsonl").write_text(text)
    entry = only(copied)
    assert (entry.status, entry.ended) == ("complete", 0.0)


@pytest.mark.parametrize(
    "key", ["", "..", "runs/../../etc", "runs/quickstart/tiny/../../../..", "/etc/passwd", "shipped/x"]
)
def test_no_key_leads_out_of_the_folders(copied: Path, key: str) -> None:
    with pytest.raises(InputError, match="no run"):
        Catalogue([copied]).find(key)


def test_a_folder_below_the_root_shows_only_its_own_runs(copied: Path) -> None:
    claimed(Store(copied), [recipe()], figure="other")
    assert len(Catalogue([copied]).entries()) == 2
    (entry,) = Catalogue([copied / "quickstart" / "tiny" / "other"]).entries()
    assert entry.name == "quickstart.other"
    assert entry.status == "complete"  # its member lies beside, in the same store


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"members": "all"}', '{"members": [3]}', "\x00\xff"])
def test_a_broken_manifest_is_said_to_be_broken(copied: Path, text: str) -> None:
    (copied / "quickstart" / "tiny" / "emergence" / "manifest.json").write_text(text)
    entry = only(copied)
    assert entry.status == "damaged"
    assert "manifest.json" in entry.problem
    assert entry.members == ()


@pytest.mark.parametrize(
    "name", ["../../secret", "/etc", "..", "", "0123456789ABCDEF", "0123456789abcdef/.."]
)
def test_a_manifest_cannot_name_a_folder_elsewhere(copied: Path, name: str) -> None:
    claimed(Store(copied), [], figure="evil", members=[name])
    entry = Catalogue([copied]).find("runs/quickstart/tiny/evil")
    assert [state.status for state in entry.members] == ["damaged"]
    with pytest.raises(InputError):
        entry.member()


def test_links_that_lead_out_are_refused(copied: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "manifest.json").write_text(json.dumps({"members": []}))
    (copied / "quickstart" / "tiny" / "linked").symlink_to(secret)
    member = next((copied / "members").iterdir())
    (member / "samples" / "00000099.png").symlink_to(secret / "picture.png")
    entries = {entry.key.rpartition("/")[2]: entry for entry in Catalogue([copied]).entries()}
    assert "leads out" in entries["linked"].problem
    (state,) = entries["emergence"].members
    assert (state.status, "leads out" in state.problem) == ("damaged", True)


def test_a_link_within_the_folder_is_as_good_as_a_file(copied: Path) -> None:
    member = next((copied / "members").iterdir())
    (member / "samples" / "again.png").symlink_to(next((member / "samples").glob("*.png")))
    assert only(copied).status == "complete"


def test_half_written_members(copied: Path) -> None:
    member = next((copied / "members").iterdir())
    (member / "done.json").unlink()
    entry = only(copied)
    assert entry.status == "running"  # it changed a moment ago
    old = time.time() - 3600
    for path in copied.rglob("*"):
        os.utime(path, (old, old))
    assert only(copied).status == "unfinished"
    (member / "config.json").write_text("{")
    assert only(copied).status == "damaged"
    (member / "config.json").unlink()
    assert [state.status for state in only(copied).members] == ["not started"]


def test_a_run_that_has_just_been_claimed_is_there_before_its_members(tmp_path: Path) -> None:
    run = claimed(Store(tmp_path), [recipe(0), recipe(1)])
    entry = only(tmp_path)
    assert [state.status for state in entry.members] == ["not started", "not started"]
    assert (entry.status, entry.share) == ("running", 0.0)  # it may be training its probe
    old = time.time() - 3600
    os.utime(run.path / "manifest.json", (old, old))
    assert only(tmp_path).status == "unfinished"


def test_a_run_that_began_since_the_last_look_is_found(tmp_path: Path) -> None:
    """A page that is opened in the first second of a run would say for good that there is none."""
    catalogue = Catalogue([tmp_path])
    assert catalogue.entries() == []
    claimed(Store(tmp_path), [recipe(0)])
    assert catalogue.find(f"{tmp_path.name}/quickstart/tiny/emergence").members[0].status == "not started"
    with pytest.raises(InputError, match="there is no run"):
        catalogue.find(f"{tmp_path.name}/quickstart/tiny/another")


def test_what_has_not_started_is_not_done(copied: Path) -> None:
    """A second seed is asked for: half of the training lies ahead, although all that began is complete."""
    claimed(Store(copied), [recipe(0), recipe(1)], figure="more")
    entry = Catalogue([copied]).find("runs/quickstart/tiny/more")
    assert [state.status for state in entry.members] == ["complete", "not started"]
    assert entry.share == 0.5


def test_the_step_of_a_run_is_that_of_one_member(copied: Path) -> None:
    """Fine-tuned members train for fewer steps than those they start from."""
    entry = only(copied)
    longer = replace(entry.members[0], step=7900, steps=7900)
    shorter = replace(longer, step=400, steps=800)
    assert replace(entry, members=(longer, shorter)).behind == shorter
    assert replace(entry, members=(longer, replace(shorter, step=800))).behind == longer


def test_figures_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for figure in ("fig10", "fig2", "ablation"):
        claimed(Store(tmp_path), [], figure=figure)
    assert [entry.manifest["figure"] for entry in Catalogue([tmp_path]).entries()] == [
        "ablation",
        "fig2",
        "fig10",
    ]


def test_folders_of_the_same_name_are_kept_apart_and_one_given_twice_is_one(tmp_path: Path) -> None:
    for place in ("a", "b"):
        claimed(Store(tmp_path / place / "runs"), [], figure=place)
    folders = [tmp_path / "a" / "runs", tmp_path / "b" / "runs", tmp_path / "b" / ".." / "a" / "runs"]
    keys = [entry.key for entry in Catalogue(folders).entries()]
    assert keys == ["runs/quickstart/tiny/a", "runs-2/quickstart/tiny/b"]


def test_a_picture_that_is_being_written_changes_nothing_yet(copied: Path) -> None:
    (entry,) = Catalogue([copied]).entries()
    before, figures = stamp(entry), entry.run.path / "figures"
    figures.mkdir(exist_ok=True)
    (figures / ".fig.png.0123.png").write_bytes(b"half")
    assert stamp(entry) == before
    (figures / "fig.png").write_bytes(b"whole")
    assert stamp(entry) != before
