"""What `conceptlab inspect` prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from conceptlab.cli import main
from tests.image_folder import write_folder


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCEPTLAB_CACHE", str(tmp_path / "cache"))


def test_where_no_page_can_be_written_nothing_is_measured(tmp_path, capsys, monkeypatch):
    def looked(*given):
        raise AssertionError("it was looked at before the destination was")

    monkeypatch.setattr("conceptlab.worlds.inspection.inspect", looked)
    folder = write_folder(tmp_path / "data", {"000": 3, "100": 3})
    (tmp_path / "file").write_text("")
    assert (
        main(["inspect", str(folder), "--variables", "shape", "--out", str(tmp_path / "file" / "page.html")])
        == 2
    )
    assert "cannot make folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        (["shape", "kind=0,1"], "4 more images belong to no class"),
        (["shape", "kind=0,1,2"], "1 more image belongs to no class"),
        (["shape", "kind"], None),
    ],
)
def test_images_of_no_class_are_told(tmp_path, capsys, variables, told):
    folder = write_folder(tmp_path / "data", {"000": 8, "100": 8})
    lines = (folder / "labels.csv").read_text().splitlines()
    kinds = ["kind", *"0001112200011123"]
    (folder / "labels.csv").write_text("".join(f"{line},{kind}\n" for line, kind in zip(lines, kinds)))
    main(["inspect", str(folder), "--variables", *variables, "--out", str(tmp_path / "page.html")])
    printed = " ".join(capsys.readouterr().out.split())
    if told is None:
        assert "no class" not in printed
    else:
        assert f"• {told}, with a value that is not among those chosen." in printed
