"""A user's own parts: by file, by environment in other processes, by entry point; and what is said when they fail."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from conceptlab import plugins
from conceptlab.errors import InputError
from conceptlab.registry import Registry

PLUGIN = """
from conceptlab.denoisers import register
from conceptlab.denoisers.film import Film

@register("{name}")
class Mine(Film):
    pass
"""


@pytest.fixture(autouse=True)
def _as_before(monkeypatch):
    monkeypatch.setenv(plugins.VARIABLE, "")
    imported = set(plugins._imported)
    yield
    plugins._imported.clear()
    plugins._imported.update(imported)


def written(path: Path, text: str) -> Path:
    path.write_text(textwrap.dedent(text))
    return path


def test_a_file_adds_its_parts_here_and_in_other_processes(tmp_path):
    from conceptlab import denoisers

    file = written(tmp_path / "mine.py", PLUGIN.format(name="test-own-film"))
    plugins.add([file])
    assert denoisers.build("test-own-film", (3, 8, 8), (6,), seed=0).image_shape == (3, 8, 8)
    code = "from conceptlab import denoisers; denoisers.build('test-own-film', (3, 8, 8), (6,), seed=0)"
    subprocess.run([sys.executable, "-c", code], check=True, env=dict(os.environ))
    plugins.add([file])  # twice is once


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "import nothing_of_this_name\n",
            "line 1: ModuleNotFoundError: No module named 'nothing_of_this_name'",
        ),
        ("x = 1\nx.y\n", "line 2: AttributeError"),
        ("def f(:\n", "line 1: SyntaxError"),
        ("import sys\nsys.exit(3)\n", "line 2: SystemExit: 3"),
        (PLUGIN.format(name="film"), "there is already a denoiser 'film'"),
    ],
)
def test_what_fails_is_one_line_with_its_place(tmp_path, text, message):
    file = written(tmp_path / "bad.py", text)
    with pytest.raises(InputError, match=message) as caught:
        plugins.add([file])
    assert "\n" not in str(caught.value)
    assert os.environ[plugins.VARIABLE] == "", "what fails here is not handed on"


def test_a_file_under_two_names_is_imported_once(tmp_path, monkeypatch):
    file = written(tmp_path / "mine.py", PLUGIN.format(name="test-named-twice"))
    (tmp_path / "link.py").symlink_to(file)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(plugins.VARIABLE, os.pathsep.join(("mine.py", "link.py")))
    plugins.load()
    plugins.add(["link.py", file])
    assert set(os.environ[plugins.VARIABLE].split(os.pathsep)) == {str(file)}


def test_a_path_that_cannot_be_handed_on_is_refused(tmp_path):
    (tmp_path / "a:b").mkdir()
    file = written(tmp_path / "a:b" / "mine.py", PLUGIN.format(name="test-colon"))
    with pytest.raises(InputError, match="has ':' in its path; move or rename it"):
        plugins.add([file])


def test_a_missing_file(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        plugins.add(["nowhere.py"])
    with pytest.raises(InputError, match="is a folder; name a Python file in it"):
        plugins.add([tmp_path])


def test_an_installed_package_is_found_by_its_entry_point(tmp_path, monkeypatch):
    written(
        tmp_path / "own_parts.py",
        "from tests.test_plugins import REGISTRY\n\n@REGISTRY.register('own')\ndef own():\n    return 7\n",
    )
    about = tmp_path / "own_parts-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: own-parts\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[{plugins.GROUP}]\nown = own_parts\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert REGISTRY.make("own") == 7


REGISTRY: Registry[int] = Registry("thing")
