"""`claims.json` and the terminal: stable keys, no NaN, no half-written file."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
from rich.console import Console

from conceptlab.claims import (
    Claim,
    PerSeed,
    Verdict,
    count_text,
    interval_text,
    judge,
    read_claims,
    render_verdicts,
    summary,
    threshold_text,
    to_json,
    value_text,
    write_claims,
)
from conceptlab.errors import InputError

KEYS = ["id", "paper", "figure", "kind", "statement", "statistic", "value", "ci_low", "ci_high"]
KEYS += [
    "threshold",
    "verdict",
    "strength",
    "seeds",
    "censored",
    "note",
    "failed",
    "floor",
    "why",
    "transform",
    "resolution",
    "bound",
]


def verdict(**changes) -> Verdict:
    settings = {
        "id": "order",
        "paper": "okawa2023",
        "figure": "fig5",
        "kind": "empirical",
        "statement": "Later with distance [1].",
        "statistic": "ratio",
        "value": 2.0,
        "ci_low": 1.5,
        "ci_high": float("inf"),
        "threshold": 1.0,
        "verdict": "reproduced",
        "strength": "firm",
        "seeds": 5,
        "censored": 1,
        "note": "",
    }
    return Verdict(**(settings | changes))


def test_the_file_round_trips_with_exactly_the_promised_keys(tmp_path):
    verdicts = [
        verdict(),
        verdict(id="other", value=float("nan"), verdict="inconclusive", strength="indicative"),
    ]
    path = write_claims(tmp_path / "new" / "claims.json", verdicts)
    entries = json.loads(path.read_text(encoding="utf-8"))
    assert [list(entry) for entry in entries] == [KEYS, KEYS]
    assert entries[0]["ci_high"] is None
    assert entries[1]["value"] is None
    assert read_claims(path) == verdicts
    assert os.listdir(path.parent) == ["claims.json"]


def test_others_may_read_the_file(tmp_path):
    assert write_claims(tmp_path / "claims.json", [verdict()]).stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize(
    "lacks",
    [("failed",), ("transform",), ("resolution",), ("floor", "why"), ("failed", "floor", "why")],
)
def test_a_file_from_before_a_field_was_written_tells_nothing_of_it(tmp_path, lacks):
    later = {"failed": 2, "floor": -1.0, "why": "one seed has no spread", "transform": "log"}
    later["resolution"] = 0.1
    path = write_claims(tmp_path / "claims.json", [verdict(verdict="inconclusive", **later)])
    (entry,) = json.loads(path.read_text(encoding="utf-8"))
    assert {key: entry[key] for key in later} == later
    path.write_text(json.dumps([{k: v for k, v in entry.items() if k not in lacks}]), encoding="utf-8")
    kept = {key: value for key, value in later.items() if key not in lacks}
    (found,) = read_claims(path)
    assert found == verdict(verdict="inconclusive", **kept)
    assert threshold_text(found) == ("1" if "floor" in lacks else "± 1")
    for width in (80, 160):
        assert ("because" in shown([found], width)) == ("why" not in lacks)


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path, monkeypatch):
    path = write_claims(tmp_path / "claims.json", [verdict()])

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(InputError, match="the disk is full"):
        write_claims(path, [])
    assert len(read_claims(path)) == 1
    assert os.listdir(tmp_path) == ["claims.json"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[{", "damaged"),
        ("{}", "not a list"),
        ("[1]", "claim 1"),
        (json.dumps([{"id": "x"}]), "missing or unexpected keys"),
        (json.dumps([to_json([verdict()])[0] | {"verdict": "maybe"}]), "wrong type"),
        (json.dumps([to_json([verdict()])[0] | {"seeds": "5"}]), "wrong type"),
        (json.dumps([to_json([verdict()])[0] | {"failed": None}]), "wrong type"),
        (json.dumps([to_json([verdict()])[0] | {"value": True}]), "wrong type"),
        (json.dumps([to_json([verdict()])[0] | {"floor": "-1"}]), "wrong type"),
        (json.dumps([to_json([verdict()])[0] | {"why": 3}]), "wrong type"),
    ],
)
def test_damaged_files_are_named_in_one_line(tmp_path, text, message):
    path = tmp_path / "claims.json"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read_claims(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text_and_files_that_are_not_there(tmp_path):
    (tmp_path / "claims.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="damaged"):
        read_claims(tmp_path / "claims.json")
    with pytest.raises(InputError, match="cannot read"):
        read_claims(tmp_path / "nowhere.json")


def shown(verdicts, width):
    console = Console(width=width, record=True, file=open(os.devnull, "w"))  # noqa: SIM115
    console.print(render_verdicts(verdicts, "okawa2023", width))
    console.file.close()
    return console.export_text()


def test_the_terminal_shows_open_ends_brackets_and_counts_identities_apart():
    verdicts = [verdict(), verdict(kind="identity", ci_low=None, ci_high=None, strength="indicative")]
    text = shown(verdicts, 200)
    for part in ("1.5 … ∞", "Later with distance [1].", "(indicative)", "5 (1 cens.)"):
        assert part in text
    assert summary(verdicts[:1]) == "1 claim: 1 reproduced"
    assert summary(verdicts) == "1 claim: 1 reproduced; 1 identity: 1 reproduced (indicative)"
    assert summary([]) == "no claims"


def test_firm_and_indicative_verdicts_are_never_added_up():
    weak = verdict(strength="indicative")
    open_ = verdict(verdict="inconclusive", strength="indicative")
    assert summary([verdict(), weak, weak, open_]) == (
        "4 claims: 1 reproduced (2 more indicative), 1 inconclusive (indicative)"
    )
    # Below an outcome's name, as in a table.
    assert count_text([verdict(), weak, weak]) == "1 firm, 2 indicative"
    assert (count_text([open_]), count_text([verdict()]), count_text([])) == ("1 indicative", "1", "0")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (PerSeed((0, 1, 2), np.array([1.0, 1.68, 2.0]), np.array([np.inf] * 3)), "≥ 1.68"),
        (PerSeed((0, 1, 2), np.array([-np.inf] * 3), np.array([1.0, 17.8, 20.0])), "≤ 17.8"),
        (PerSeed.exact({0: 1.0, 1: 2.0, 2: 3.0}), "2"),
    ],
)
def test_a_bound_is_printed_as_one_also_from_a_file(tmp_path, values, said):
    claim = Claim("a.b", "a", "b", "It is so.", "a ratio", lambda _: values, 1.0, "above")
    path = write_claims(tmp_path / "claims.json", judge([claim], {}, "paper"))
    (found,) = read_claims(path)
    assert value_text(found) == said
    # An earlier version said so in the note alone.
    (entry,) = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps([{key: entry[key] for key in entry if key != "bound"}]), encoding="utf-8")
    assert read_claims(path) == [found]
    for width, edge in ((200, "│"), (80, "(" if "∞" in interval_text(found) else "")):
        assert any(f" {said} {edge}" in line for line in shown([found], width).splitlines())


def test_no_value_is_printed_without_a_sign():
    assert value_text(verdict(value=None, bound="lower")) == "–"


def test_what_a_note_says_in_passing_makes_no_bound(tmp_path):
    assert value_text(verdict(note="value is a lower bound on the median")) == "2", "the field alone counts"
    path = tmp_path / "claims.json"
    entry = to_json([verdict(note="seed 1 says that its value is a lower bound on the median")])[0]
    del entry["bound"]
    path.write_text(json.dumps([entry]), encoding="utf-8")
    assert read_claims(path)[0].bound is None


def test_what_a_solver_leaves_of_nothing_is_printed_as_nothing():
    rounding = verdict(value=4.55e-13, ci_low=-3e-17, ci_high=0.02)
    assert (value_text(rounding), interval_text(rounding)) == ("0", "0 … 0.02")
    small = verdict(value=2e-6, ci_low=1e-7, ci_high=3e-6)
    assert (value_text(small), interval_text(small)) == ("2e-06", "1e-07 … 3e-06")
    assert value_text(verdict(kind="identity", value=4.55e-13)) == "4.55e-13", (
        "an error that is meant to be small"
    )


def test_a_large_number_is_printed_without_powers_of_ten():
    large = verdict(value=999.6, ci_low=-1234.0, ci_high=25451.9)
    assert (value_text(large), interval_text(large)) == ("1,000", "-1,230 … 25,500")
    assert interval_text(verdict(ci_low=0.0, ci_high=3e8)) == "0 … 3e+08"


def test_a_narrow_terminal_breaks_no_word_and_leaves_nothing_out():
    statement = "The worst class at each distance emerges later than the worst at the distance before it."
    verdicts = [
        verdict(statement=statement, verdict="not reproduced"), verdict(figure="fig6", seeds=1, censored=0)
    ]  # fmt: skip
    text = shown(verdicts, 80)
    lines = [line.rstrip() for line in text.splitlines()]
    assert max(map(len, lines)) <= 80
    assert not any("…" in line and "1.5 … ∞" not in line for line in lines)  # nothing is cut short
    # The statement takes two lines, not one for each word or two.
    first = next(place for place, line in enumerate(lines) if "The worst class" in line)
    assert " ".join(" ".join(lines[first : first + 2]).split()) == f"not reproduced {statement}"
    one, other = "threshold 1, 5 seeds (1 censored)", "threshold 1, 1 seed"
    assert one in lines[first + 2]
    assert any(line.endswith(other) for line in lines)
    assert [line.strip() for line in lines if line.strip().startswith("okawa2023.")] == [
        "okawa2023.fig5", "okawa2023.fig6",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (PerSeed.exact(dict.fromkeys(range(5), 2.0)), "all seeds tie and the claim states no resolution, so no"),
        (PerSeed.exact({0: 2.0}), "one seed has no spread"),
        (PerSeed((0, 1, 2), np.array([-np.inf, 1, 2]), np.array([np.inf, 1, 2])), "1 of 3 seeds have no value"),
        (PerSeed((0, 1), np.array([-np.inf] * 2), np.array([np.inf] * 2)), "2 of 2 seeds have no value"),
        (PerSeed.exact({0: 1.2, 1: 2.0, 2: 1.5}), "3 seeds are too few; with this mean and spread 5 seeds would"),
        (PerSeed.exact({0: 2.0, 1: 2.1, 2: 2.2}), None),  # decided
    ],
)  # fmt: skip
def test_what_the_numbers_do_not_show_is_told_beside_them(tmp_path, values, why):
    claim = Claim("a.b", "a", "b", "It is so.", "a ratio", lambda _: values, 1.0, "above")
    (found,) = read_claims(write_claims(tmp_path / "claims.json", judge([claim], {}, "paper")))
    assert found.why is None if why is None else found.why.startswith(why)
    for width in (80, 120, 160):
        text = " ".join(shown([found], width).replace("│", " ").split())
        assert (f"because {why}"[:30] in text) == (why is not None)


def test_neither_reason_nor_second_threshold_is_read_from_prose():
    """Whatever a sentence looks like, what is not in the fields is not there."""
    prose = verdict(
        verdict="inconclusive",
        statistic="a gap; claimed within -0.05 … 0.05",
        note="all seeds tie; definitions 0",
    )
    assert threshold_text(prose) == "1"
    assert "because" not in shown([prose], 80)


def test_columns_stay_where_they_leave_room_for_the_claim():
    """Wide numbers and long names take it: then they stand below."""
    wide = {"ci_low": -0.00123, "ci_high": 0.0000456, "value": 0.000123, "verdict": "not reproduced"}
    short, long = verdict(), verdict(figure="a-name-that-takes-room", **wide)
    assert "┃ claim" in shown([short], 112)
    assert "┃ claim" not in shown([long], 112)
    assert "┃ claim" in shown([long], 160)


def test_a_claim_of_two_thresholds_is_printed_with_both():
    assert threshold_text(verdict(threshold=0.05, floor=-0.05)) == "± 0.05"
    ratio = verdict(threshold=10**0.5, floor=10**-0.5)
    assert threshold_text(ratio) == "0.316 … 3.16"
    assert threshold_text(verdict()) == "1"
    assert "threshold 0.316 … 3.16" in shown([ratio], 80)


def test_an_identity_is_checked_in_cases_not_seeds():
    identity = verdict(kind="identity", ci_low=None, ci_high=None, seeds=4, censored=0)
    assert "4 cases" in shown([identity], 160)
    assert "4 cases" in shown([identity], 80)
    assert "1 case" in shown([verdict(kind="identity", seeds=1, censored=0)], 80)
