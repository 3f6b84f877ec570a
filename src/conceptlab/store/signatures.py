"""What a figure tells of its members beside its claims: how they fail, if they do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conceptlab.errors import InputError


@dataclass(frozen=True)
class Signature:
    """A signature of failure: how many members show it, out of those it can be told of, and what was seen in words."""

    name: str
    shown: int
    of: int
    seen: str

    @property
    def share(self) -> str:
        return f"{self.shown} of {self.of}" if self.of else "–"


def read_signatures(manifest: Mapping[str, Any], path: Path) -> list[Signature]:
    """The signatures that a manifest keeps; most studies have none."""
    try:
        return [
            Signature(str(row["name"]), int(row["shown"]), int(row["of"]), str(row["seen"]))
            for row in manifest.get("signatures", [])
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{path} is damaged: its signatures of failure cannot be read; run its command again"
        ) from error
