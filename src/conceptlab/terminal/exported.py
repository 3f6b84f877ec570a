"""What an export did, in lines."""

from __future__ import annotations

import textwrap
from pathlib import Path

from conceptlab.store import Exported

_WIDTH = 120


def exported_text(done: Exported, out: Path) -> str:
    lines = []
    for state in ("new", "updated", "unchanged"):
        names = getattr(done, state)
        if names:
            lines += textwrap.wrap(f"{state}: {', '.join(names)}", _WIDTH, subsequent_indent="  ")
    lines += [f"left out: {name}: {reason}" for name, reason in done.left_out.items()]
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file()) / 1e6
    lines.append(f"members written: {done.members}; {out} now holds {size:.1f} MB")
    return "\n".join(lines)
