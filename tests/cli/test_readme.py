"""The README's example, commands, pictures and list of studies."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from conceptlab.cli import build_parser
from conceptlab.terminal.listing import listing

README = Path(__file__).parents[2] / "README.md"


def test_the_readme_example_runs(out, monkeypatch):
    code = README.read_text(encoding="utf-8").split("```python")[1].split("```")[0]
    monkeypatch.chdir(out.parent)
    exec(compile(code.replace('"runs/quickstart"', repr(str(out / "quickstart"))), "README.md", "exec"), {})


def test_the_commands_of_the_readme_exist():
    text = README.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("conceptlab ")]
    assert len(lines) >= 9
    for line in lines:
        command = line.split("  ")[0]
        build_parser().parse_args(shlex.split(command)[1:])


def test_the_readme_tells_of_every_study_that_is_listed():
    rows = re.findall(r"^\| `(\w+)` \|", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == list(dict.fromkeys(figure["study"] for figure in listing()))


def test_the_pictures_and_pages_of_the_readme_exist():
    text = README.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        if not target.startswith("http"):
            assert (README.parent / target).exists(), target
