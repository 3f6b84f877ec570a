"""Results to keep: the figures of a run folder and the members behind them, small enough to be committed.

What is made is a run folder again, so that everything that reads one reads it: without checkpoints, with metrics in
float32, with a few samples and with the probes that judged. Tables on which claims are judged are kept exactly; those
of figures without claims, on which nothing rests and which can be large, are not.

Nothing is lost silently. A figure is replaced only by one of the same configuration that has at least its members and
its seeds, and the caller is told; a member that is there already is never changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from conceptlab.claims import write_claims
from conceptlab.errors import InputError
from conceptlab.store.compact import compact_picture, read_picture, write_compact
from conceptlab.store.files import write_atomically, write_json, write_sheet, write_text
from conceptlab.store.judges import copy_judges
from conceptlab.store.machine_paths import machine_paths, without_place
from conceptlab.store.member import Member
from conceptlab.store.runs import FigureRun, Store
from conceptlab.store.timing import milestones
from conceptlab.store.unfinished import go_on, has_ended, is_drawn, untrained

# Samples: the first member of a figure shows at so many steps how it learnt, others of its seed how they ended.
SHOWN_STEPS = 5
# A sheet has at most about so many pixels, 50 kB, and at least one image of each class.
SHEET_PIXELS = 24_000
# What says when a figure was made and on what, not what it found.
_CIRCUMSTANCES = ("seconds", "ended", "environment")


@dataclass
class Exported:
    """What became of each figure, by name, and how many members were written."""

    new: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    members: int = 0


def export(runs: Sequence[FigureRun], out: Path | str) -> Exported:
    """Put every finished figure into `out`, with its members. What cannot be read or taken over is refused before
    anything is written; figures that are not finished are left out, with the reason. To leave out all is an error."""
    target, done = Store(out), Exported()
    chosen: list[tuple[FigureRun, list[Member]]] = []
    for run in runs:
        if run.store.root.resolve() == target.root.resolve():
            raise InputError(f"{out} is the folder that is exported; choose another --out")
        members, reason = _members(run)
        if reason:
            done.left_out[_name(run)] = reason
        else:
            chosen.append((run, members))
    if done.left_out and not chosen:
        raise InputError(_nothing(done.left_out, out))
    members = {member.id: member for _, found in chosen for member in found}
    _check_places([run for run, _ in chosen], target)
    fresh = [member for member in members.values() if _is_new(member, target)]
    shown = _shown(chosen)
    for member in members.values():
        _read_member(member, shown.get(member.id, 0))
    for run, _ in chosen:
        _read_figure(run)
    same = {run.path: _is_same(run, _place(run, target)) for run, _ in chosen}
    for member in members.values():
        if member in fresh:
            _write_member(member, target.root / "members" / member.id)
        _write_samples(member, target.root / "members" / member.id, shown.get(member.id, 0))
    done.members = len(fresh)
    for run, found in chosen:
        copy_judges(found, run.store, target)
        place = _place(run, target)
        states = done.unchanged if same[run.path] else done.updated if _exists(place) else done.new
        if states is not done.unchanged:
            _write_figure(run, place)
        states.append(_name(run))
    return done


def _name(run: FigureRun) -> str:
    return "{study}.{figure} at {scale} scale".format_map(run.manifest)


def _nothing(left_out: Mapping[str, str], out: Path | str) -> str:
    """One line. The first figure stands for all: those that were run together lack the same and have one command."""
    (name, reason), *others = left_out.items()
    more = f" and {len(others)} more" if others else ""
    return f"nothing was exported to {out}; left out: {name}{more}: {reason}"


def _place(run: FigureRun, target: Store) -> FigureRun:
    manifest = run.manifest
    return target.figure(manifest["study"], manifest["scale"], manifest["figure"])


def _exists(run: FigureRun) -> bool:
    return (run.path / "manifest.json").exists()


def _members(run: FigureRun) -> tuple[list[Member], str]:
    """The members of a figure and those they started from; or why the figure cannot be exported."""
    manifest = run.manifest
    folder = run.store.root / "members"
    ids = list(dict.fromkeys(manifest["members"]))
    if missing := untrained(run):
        return [], f"{len(missing)} of {len(ids)} members are not trained; `{go_on(run)}` goes on with it"
    if is_drawn(run) and run.pictures and not has_ended(run):
        return [], f"it was not judged; `{go_on(run)}` judges it"
    if not has_ended(run) or not run.pictures:
        return [], f"it was not drawn; `{go_on(run)}` draws it"
    found: dict[str, Member] = {}
    for id_ in ids:
        found[id_] = member = Member(folder / id_)
        before = member.recipe.before
        while before is not None and (folder / before.hash / "done.json").exists():
            found[before.hash] = Member(folder / before.hash)
            before = before.before
    for said in (without_place(manifest), *(member.recipe.to_dict() for member in found.values())):
        if local := next(machine_paths(said), None):
            reason = f"its configuration names a path of this machine ({local})"
            return [], f"{reason}; keep the run folder itself, or its report"
    return list(found.values()), ""


# --- what is there already ---


def _check_places(runs: Sequence[FigureRun], target: Store) -> None:
    """Every figure has a place of its own, where it may be written."""
    taken: dict[Path, FigureRun] = {}
    for run in runs:
        place = _place(run, target)
        other = taken.setdefault(place.path, run)
        if other is not run:
            raise InputError(f"{other.path} and {run.path} are the same figure; export one of them")
        _check_figure(run, place)


def _check_figure(run: FigureRun, place: FigureRun) -> None:
    if not _exists(place):
        return
    old, new = place.manifest, run.manifest
    if old.get("settings") != new.get("settings"):
        raise InputError(
            f"{place.path} was made with other settings ({old.get('settings')}); choose another --out"
        )
    for what in ("members", "seeds"):
        lost = [one for one in old[what] if one not in new[what]]
        if lost:
            raise InputError(
                f"{place.path} has {len(lost)} {what} that {run.path} lacks and that would be lost; "
                "move it away or choose another --out"
            )


def _is_same(run: FigureRun, place: FigureRun) -> bool:
    """Whether a figure is there already with the same numbers and pictures; verdicts follow from the numbers."""
    if not _exists(place):
        return False
    said = place.manifest, _manifest(run)
    old, new = ({k: v for k, v in manifest.items() if k not in _CIRCUMSTANCES} for manifest in said)
    theirs, ours = place.tables, _tables(run)
    return (
        old == new
        and set(theirs) == set(ours)
        and all(theirs[name].equals(ours[name]) for name in ours)
        and {p.name: p.read_bytes() for p in place.pictures}
        == {p.name: compact_picture(p) for p in run.pictures}
    )


def _is_new(member: Member, target: Store) -> bool:
    """Whether a member has yet to be written; one that is there with other numbers is refused."""
    place = target.root / "members" / member.id
    if not (place / "done.json").exists():
        return True
    there = Member(place)
    if there.recipe != member.recipe or not there.metrics.equals(member.metrics):
        raise InputError(
            f"{place} holds other numbers than {member.path}; move it away or choose another --out"
        )
    return False


def _read_member(member: Member, steps: int) -> None:
    """Read all that will be written of a member, and forget it: the metrics of thousands would fill the memory."""
    for needed in (member.metrics, member.log(), member.environment, member.probe, member.outcome):
        del needed
    for step in _sample_steps(member, steps):
        member.samples(step)


def _read_figure(run: FigureRun) -> None:
    for needed in (run.signatures, run.verdicts, _tables(run)):
        del needed
    for picture in run.pictures:
        read_picture(picture)


# --- writing ---


def _write_member(member: Member, place: Path) -> None:
    """`done.json` comes last: a folder without it is unfinished to every reader."""
    write_json(place / "config.json", member.recipe.to_dict())
    for name, entries in (("environment.json", member.environment), ("probe.json", member.probe)):
        if entries:
            write_json(place / name, entries)
    write_compact(place / "metrics.parquet", member.metrics)
    write_text(place / "log.jsonl", milestones(member.log()))
    write_json(place / "done.json", member.outcome)


def _sample_steps(member: Member, count: int) -> list[int]:
    """The steps at which samples are kept: of one the end, otherwise spread over training."""
    there = member.sample_steps
    places = np.linspace(0, len(there) - 1, min(count, len(there))).round().astype(int)
    return sorted({there[-1 - i] for i in places})


def _write_samples(member: Member, place: Path, steps: int) -> None:
    for step in _sample_steps(member, steps):
        path = place / "samples" / f"{step:08d}.png"
        if not path.exists():
            sheet = member.samples(step)
            images = max(1, SHEET_PIXELS // sheet[:, 0, 0].numel())
            write_sheet(path, sheet[:, :images].float() / 255)


def _shown(chosen: Iterable[tuple[FigureRun, list[Member]]]) -> dict[str, int]:
    """At how many steps each member shows samples, if it does."""
    found: dict[str, int] = {}
    for _, members in chosen:
        seed = min((member.recipe.seed for member in members), default=0)
        for member in members:
            if member.recipe.seed == seed:
                found.setdefault(member.id, 1)
        if members:
            found[members[0].id] = SHOWN_STEPS
    return found


def _tables(run: FigureRun) -> dict[str, pd.DataFrame]:
    return run.tables if run.verdicts else {}


def _manifest(run: FigureRun) -> dict[str, Any]:
    """What a figure's manifest says of what is kept of it."""
    manifest = without_place(run.manifest)
    return {**manifest, "tables": sorted(_tables(run))} if "tables" in manifest else manifest


def _write_figure(run: FigureRun, place: FigureRun) -> None:
    tables = _tables(run)
    for name, table in tables.items():
        write_compact(place.path / "tables" / f"{name}.parquet", table)
    for picture in run.pictures:
        packed = compact_picture(picture)
        write_atomically(place.path / "figures" / picture.name, partial(Path.write_bytes, data=packed))
    # What an earlier version of the same figure had and this one has not would be shown as its own.
    kept = {p.name for p in run.pictures} | {f"{name}.parquet" for name in tables}
    for path in (*place.path.glob("figures/*"), *place.path.glob("tables/*")):
        if path.name not in kept:
            path.unlink()
    if run.verdicts:
        write_claims(place.path / "claims.json", run.verdicts)
    write_json(place.path / "manifest.json", _manifest(run))
