"""Data flows one way through the rooms: imports point left along the arrow, never back."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import conceptlab

ROOT = Path(conceptlab.__file__).parent

# From left to right; a room may import from itself and from rooms to its left.
ARROW = (
    "errors", "atomic", "cache", "plugins", "registry", "random", "plain", "concepts", "recipe", "worlds", "denoisers",
    "diffusion", "kernels", "training", "probes", "measures", "evaluation", "claims", "theory", "store", "executors",
    "figures", "studies", "report", "studio", "bench", "terminal", "cli",
)  # fmt: skip
NO_TORCH = ("concepts", "claims", "errors", "registry", "plain", "recipe", "figures")


def room_of(path: Path) -> str:
    first = path.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            if node.module == "conceptlab":
                found |= {f"conceptlab.{alias.name}" for alias in node.names}
    return found


FILES = sorted(set(ROOT.rglob("*.py")) - {ROOT / "__init__.py", ROOT / "__main__.py"})


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_follow_the_arrow(path):
    room = room_of(path)
    assert room in ARROW, f"{room} has no place on the arrow"
    for name in imports(path):
        parts = name.split(".")
        if parts[0] == "conceptlab" and len(parts) > 1 and parts[1] in ARROW:
            assert ARROW.index(parts[1]) <= ARROW.index(room), f"{path.name} imports {name} from its right"


@pytest.mark.parametrize("room", NO_TORCH)
def test_rooms_that_know_nothing_of_torch(room):
    files = [path for path in FILES if room_of(path) == room]
    assert files
    for path in files:
        assert not any(name.split(".")[0] == "torch" for name in imports(path)), path.name


def test_studies_know_nothing_of_html():
    for path in FILES:
        if room_of(path) == "studies":
            assert not any(
                name.startswith(("jinja2", "plotly", "conceptlab.report")) for name in imports(path)
            )


def test_no_pickle_is_ever_loaded():
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        assert "torch.load" not in text
        assert "pickle" not in imports(path)
