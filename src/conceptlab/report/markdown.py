"""Pieces of Markdown that GitHub renders: tables, folded parts, lines that do not break."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# Inside a cell of a table Markdown knows no other way to begin a new line.
NEW_LINE = "<br>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *([_cell(text) for text in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def folded(summary: str, text: str) -> str:
    """A part that shows its summary alone until it is opened."""
    return f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>"


def unbroken(text: str) -> str:
    """Text that a narrow column keeps on one line, so that an interval is read as one thing."""
    return text.replace(" ", "\u00a0")


def _cell(text: str) -> str:
    # Plain white space alone: `str.split` would undo what `unbroken` did.
    return re.sub(r"[ \t\n]+", " ", text).strip(" ").replace("|", "\\|")
