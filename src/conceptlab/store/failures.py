"""Which members of a figure failed, as their folders tell: tables hold nothing of them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

from conceptlab.claims import Failures
from conceptlab.store.files import read_json
from conceptlab.store.member import Member


def read_failures(members: Path, manifest: Mapping[str, Any]) -> Failures:
    """The failures among the members that a manifest names. Those that are not there say nothing."""
    names = list(dict.fromkeys(manifest["members"]))
    ended = [name for name in names if (members / name / "done.json").exists()]
    # Of thousands of members only those that failed are read further.
    failed = [Member(members / name) for name in ended if _has_failed(members / name)]
    how: dict[Hashable, str] = {}
    for member in failed:
        how.setdefault(member.recipe.seed, how_it_failed(member))
    return Failures(dict(sorted(how.items(), key=str)), len(manifest["seeds"]), len(failed), len(names))


def _has_failed(path: Path) -> bool:
    outcome = read_json(path / "done.json")
    return isinstance(outcome, dict) and outcome.get("status") == "failed"


def how_it_failed(member: Member) -> str:
    """`the training loss is not finite at step 300`."""
    outcome = member.outcome
    return f"{outcome.get('reason', 'no reason is told')} at step {outcome.get('step', '?')}"
