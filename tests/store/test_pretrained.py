"""The models that ship with the package: small, whole, without pickles, and able to do what they are there to show."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from conceptlab.claims import judge_measured, measure
from conceptlab.errors import InputError
from conceptlab.executors import elicit
from conceptlab.store import Member, find_figures, find_members
from conceptlab.store.files import read_json, read_tensors
from conceptlab.store.pretrained import SHIPPED, pack
from conceptlab.studies import STUDIES
from conceptlab.studies.study import Results
from conceptlab.studio import prompting
from conceptlab.studio.catalogue import Catalogue, Entry
from tests.studio.runs import trained


def silent(done: int, total: int) -> None:
    pass


@pytest.fixture(scope="module")
def entries() -> dict[str, Entry]:
    return {entry.name: entry for entry in Catalogue([], shipped=[SHIPPED]).entries()}


def test_they_weigh_less_than_ten_megabytes_and_hold_no_pickles() -> None:
    files = [path for path in SHIPPED.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 10_000_000
    assert {path.suffix for path in files} == {".json", ".safetensors", ".parquet", ".png"}


def test_every_one_is_complete_and_recorded(entries: dict[str, Entry]) -> None:
    assert set(entries) == {"quickstart.emergence", "park2024.fig2"}
    made = read_json(SHIPPED / "made.json")
    for name, entry in entries.items():
        assert entry.status == "complete"
        assert len(entry.promptable) == 1
        assert made[name]["command"] == entry.manifest["command"]
        assert made[name]["seconds"] > 0
        assert made[name]["environment"]["torch"]


def test_their_verdicts_are_what_the_claims_say_today() -> None:
    """Made long ago, and judged again whenever a claim or an interval changes."""
    for run in find_figures(SHIPPED):
        figure = STUDIES[run.manifest["study"]].figure(run.manifest["figure"])
        tables = figure.tables(Results(run.members, run.manifest["scale"], run.manifest["seeds"]))
        again = judge_measured(measure(figure.claims, tables), run.manifest["scale"])
        assert [v.id for v in again] == [v.id for v in run.verdicts]
        for old, new in zip(run.verdicts, again):
            assert (old.verdict, old.note) == (new.verdict, new.note)
            assert (old.floor, old.why) == (new.floor, new.why)
            assert (old.value, old.ci_low, old.ci_high) == pytest.approx((new.value, new.ci_low, new.ci_high))


def test_checkpoints_are_in_half_precision(entries: dict[str, Entry]) -> None:
    for entry in entries.values():
        member = entry.member(entry.promptable[0])
        assert len(member.checkpoint_steps) >= 5
        for tensor in member.weights().values():
            assert tensor.dtype.itemsize == 2


def accuracy(member: Member, step: int, code: str, place: dict[str, float]) -> tuple[int, int]:
    """Images read as the class when asked plainly and when variables are put somewhere else, of 16."""
    world = member.world
    cls = world.space.parse(code)
    axes = prompting.axes_of(member)
    values = {
        entry.place: number
        for axis in axes
        if axis.variable in place
        for entry, number in zip(axis.entries, prompting.numbers_at(axis, 0, place[axis.variable]))
    }
    condition = prompting.condition_from(world, cls, axes, values)
    drawn = prompting.draw(member, step, "raw", cls, condition, 16, silent)
    assert drawn.plain_read is not None
    assert drawn.asked_read is not None
    return drawn.plain_read.right, drawn.asked_read.right


def test_the_quickstart_network_draws_what_it_never_saw(entries: dict[str, Entry]) -> None:
    entry = entries["quickstart.emergence"]
    member = entry.member(entry.promptable[0])
    assert [accuracy(member, 1000, code, {})[0] for code in ("000", "011", "101", "110")] == [16] * 4
    assert accuracy(member, 1000, "111", {})[0] >= 10


@pytest.mark.parametrize("step", [675, 1200])
def test_the_park2024_network_hides_a_capability_that_a_slider_brings_out(
    entries: dict[str, Entry], step: int
) -> None:
    entry = entries["park2024.fig2"]
    plain, asked = accuracy(entry.member(entry.promptable[0]), step, "11", {"colour": 3.0})
    assert plain <= 8
    assert asked >= 13


def test_packing_keeps_what_is_asked_for_and_nothing_else(tmp_path: Path) -> None:
    run = trained(tmp_path / "runs")
    member = run.members[0]
    step = member.checkpoint_steps[0]
    before = _digest(run.store.root)
    pack(run, tmp_path / "packed", {member.id: [step]})
    (entry,) = Catalogue([tmp_path / "packed"]).entries()
    packed = entry.member(member.id)
    assert packed.recipe == member.recipe
    assert packed.checkpoint_steps == [step]
    wanted, kept = member.weights(step), packed.weights()
    assert set(kept) == {name for name in wanted if name.startswith("raw.")}
    for name, tensor in kept.items():
        assert (tensor.float() - wanted[name]).abs().max() <= 1e-3 * wanted[name].abs().max() + 1e-6
    assert _digest(run.store.root) == before
    with pytest.raises(InputError, match="no member"):
        pack(run, tmp_path / "other", {"0123456789abcdef": [step]})


def _digest(folder: Path) -> str:
    found = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        found.update(path.read_bytes())
    return found.hexdigest()


def test_a_checkpoint_is_read_without_running_anything_in_it(tmp_path: Path) -> None:
    fake = tmp_path / "00000001.safetensors"
    fake.write_bytes(b"\x80\x04cos\nsystem\n(S'touch evil'\ntR.")
    with pytest.raises(InputError, match="damaged"):
        read_tensors(fake)


@pytest.mark.parametrize(("study", "cls"), [("quickstart", "111"), ("park2024", "11")])
def test_they_can_be_asked_by_the_probes_that_ship_with_them(study, cls, monkeypatch) -> None:
    """Also by those whose names were made in another way than now."""
    member = find_members(SHIPPED / study)[0]
    last = member.checkpoint_steps[-1:]
    monkeypatch.setattr(Member, "checkpoint_steps", property(lambda _: last))
    heard: list[str] = []
    assert elicit(member, cls, images=4, tell=heard.append).sentence.endswith("--n 32 draws more.")
    assert [line.endswith(f"step {last[0]}, 1 of 1") for line in heard] == [True]
