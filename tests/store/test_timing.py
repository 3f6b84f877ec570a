from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from conceptlab.errors import InputError
from conceptlab.store import Member, device_seconds, wall_seconds
from conceptlab.store.files import write_json
from conceptlab.store.member import MemberWriter
from conceptlab.store.timing import milestones, stretches
from tests.tiny import tiny_recipe


def trained(folder: Path, together: int, events: list[tuple[float, str]], *told: int) -> Member:
    """`told` is what each beginning says of how many trained together; older logs say nothing."""
    write_json(folder / "config.json", tiny_recipe().to_dict())
    write_json(folder / "environment.json", {"members": together})
    said, lines = list(told), []
    for moment, event in events:
        more = {"together": said.pop(0)} if said and event in ("started", "resumed") else {}
        lines.append(json.dumps({"time": moment, "event": event, **more}) + "\n")
    (folder / "log.jsonl").write_text("".join(lines))
    return Member(folder)


@pytest.fixture
def members(tmp_path) -> list[Member]:
    """Two in one cohort for 100 s; one alone that was interrupted, and whose second stretch overlaps with theirs."""
    pair = [(1000.0, "started"), (1050.0, "evaluated"), (1100.0, "complete")]
    alone = [(500.0, "started"), (520.0, "evaluated"), (1090.0, "resumed"), (1120.0, "complete")]
    return [
        trained(tmp_path / "a", 2, pair),
        trained(tmp_path / "b", 2, pair),
        trained(tmp_path / "c", 1, alone),
    ]


def test_a_cohort_shares_its_time(members):
    assert device_seconds(members[:2]) == 100
    assert device_seconds(members) == 100 + 20 + 30


def test_a_cohort_takes_its_device_until_its_last_member_leaves(tmp_path):
    """Of three one fails after 10 s, and the others are finished after 100 s and 104 s."""
    ends = [(1010.0, "failed"), (1100.002, "complete"), (1104.003, "complete")]
    cohort = [
        trained(tmp_path / str(i), 3, [(1000.0 + 0.001 * i, "started"), end]) for i, end in enumerate(ends, 1)
    ]
    assert device_seconds(cohort) == pytest.approx(104, abs=0.01)
    assert wall_seconds(cohort) == pytest.approx(104, abs=0.01)
    assert device_seconds(cohort[:1]) == pytest.approx(10 / 3, abs=0.01)
    assert device_seconds(cohort[1:]) == pytest.approx(2 / 3 * 100 + 4 / 2, abs=0.01)


def test_cohorts_of_one_size_that_begin_at_once_are_told_apart_by_it(tmp_path):
    """Two cohorts on two devices, a whole one of two and one that only one member of three is known of."""
    one, other = [(1000.0, "started"), (1050.0, "complete")], [(1000.0, "started"), (1030.0, "complete")]
    pair = [trained(tmp_path / name, 2, one) for name in "ab"]
    alone = [trained(tmp_path / name, 1, other) for name in "cd"]
    third = trained(tmp_path / "e", 3, other)
    assert device_seconds([*pair, *alone, third]) == pytest.approx(50 + 30 + 30 + 10)


def test_the_clock_on_the_wall_counts_what_overlaps_once_and_what_lies_between_not_at_all(members):
    assert wall_seconds(members[:2]) == 100
    assert wall_seconds(members) == 20 + 120
    assert wall_seconds([]) == device_seconds([]) == 0


def test_milestones_are_enough_to_tell_the_stretches(members, tmp_path):
    for member in members:
        before = stretches(member)
        (member.path / "log.jsonl").write_text(milestones(member.log()))
        assert stretches(member) == before


def test_the_share_of_each_stretch_is_that_of_the_cohort_it_was_trained_in(tmp_path):
    """Four began together and ran out of memory after 10 s; then each trained for 100 s by itself."""
    events = [(0.0, "started"), (10.0, "evaluated"), (1000.0, "resumed"), (1100.0, "complete")]
    member = trained(tmp_path / "a", 4, events, 4, 1)
    assert device_seconds([member]) == 10 / 4 + 100
    (member.path / "log.jsonl").write_text(milestones(member.log()))
    assert device_seconds([member]) == 10 / 4 + 100
    broken = trained(tmp_path / "b", 4, events, 4, 0)
    with pytest.raises(InputError, match=r"log.jsonl is damaged \(together is 0\)"):
        device_seconds([broken])


def test_a_clock_that_was_set_back_takes_no_time_away(tmp_path):
    """It went back by an hour after 20 s of training."""
    events = [(5000.0, "started"), (5020.0, "evaluated"), (1450.0, "evaluated"), (1480.0, "complete")]
    member = trained(tmp_path / "a", 1, events)
    assert device_seconds([member]) == wall_seconds([member]) == 20


def test_a_log_goes_on_by_a_clock_that_nobody_sets(tmp_path, monkeypatch):
    writer = MemberWriter(tmp_path / "a", tiny_recipe(), {"members": 1})
    writer.log("started", together=1)
    monkeypatch.setattr(time, "time", lambda: 1000.0)
    writer.log("complete")
    (stretch,) = stretches(Member(tmp_path / "a"))
    assert 0 <= stretch.end - stretch.begin < 60
    assert stretch.begin > 1e9, "seconds since 1970"
