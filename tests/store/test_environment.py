"""Which commit a member is said to be trained by."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from conceptlab.store.environment import commit_of

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package in a checkout of its own, with one commit."""
    found = tmp_path / "src" / "package"
    found.mkdir(parents=True)
    (found / "__init__.py").write_text("")
    (tmp_path / "notes.md").write_text("")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first")
    return found


def git(folder: Path, *asked: str) -> str:
    return subprocess.run(["git", "-C", folder, *asked], check=True, capture_output=True, text=True).stdout


def test_a_checkout_tells_its_commit(package):
    commit_of.cache_clear()
    assert commit_of(package) == git(package, "rev-parse", "--short=12", "HEAD").strip()


def test_only_changes_of_the_package_count(package):
    (package.parents[1] / "notes.md").write_text("changed")
    commit_of.cache_clear()
    clean = commit_of(package)
    assert clean is not None
    assert not clean.endswith("-dirty")
    (package / "__init__.py").write_text("changed = True")
    commit_of.cache_clear()
    assert commit_of(package) == f"{clean}-dirty"


def test_a_package_installed_within_a_checkout_has_no_commit(package):
    installed = package.parents[1] / "venv" / "package"
    installed.mkdir(parents=True)
    (installed / "__init__.py").write_text("")
    commit_of.cache_clear()
    assert commit_of(installed) is None


def test_a_folder_without_a_checkout_has_no_commit(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    commit_of.cache_clear()
    assert commit_of(tmp_path) is None
