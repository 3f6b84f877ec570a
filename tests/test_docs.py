"""The pages hold together: links lead somewhere, and every option of the command line is told on some page."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest

from conceptlab.cli.parser import build_parser

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("*.md", "docs/*.md", "benchmarks/*.md", "results/*.md")
    for path in ROOT.glob(pattern)
)


def _text(page: str | Path) -> str:
    """A page without its examples, in which brackets mean something else."""
    return re.sub(
        r"^```.*?^```", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )


def _anchors(page: Path) -> set[str]:
    """The names by which GitHub links to headings."""
    headings = re.findall(r"^#+ (.*)$", _text(page), re.MULTILINE)
    plain = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings)
    return {re.sub(r"[^\w\- ]", "", heading.strip()).replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", _text(page)):
        if link.startswith("http"):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        assert target.exists(), link
        assert not anchor or anchor in _anchors(target), link


def _options() -> list[tuple[str, argparse.Action]]:
    (commands,) = (a for a in build_parser()._actions if isinstance(a, argparse._SubParsersAction))
    return [
        (f"{name} {action.option_strings[-1]}", action)
        for name, command in commands.choices.items()
        for action in command._actions
        if action.option_strings and action.dest != "help"
    ]


def test_every_option_has_a_help_and_a_place_on_some_page() -> None:
    pages = "\n".join((ROOT / page).read_text(encoding="utf-8") for page in PAGES)
    for name, action in _options():
        assert action.help, f"{name} has no help"
        assert re.search(rf"{action.option_strings[-1]}\b", pages), f"{name} is told on no page"
