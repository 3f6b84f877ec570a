"""Which figures are found below a path: in order, and without what is damaged or a copy."""

from __future__ import annotations

import json
import shutil

import pytest

from conceptlab.errors import InputError
from conceptlab.store import find_figures
from tests.store.test_runs import MANIFEST, claimed


def test_figures_come_in_the_order_a_reader_expects(tmp_path):
    claimed(tmp_path, "fig11", "ablation", "fig2")
    assert [run.path.name for run in find_figures(tmp_path)] == ["fig2", "fig11", "ablation"]


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ([], "not a table"),
        (None, "not a table"),
        ({}, "study is missing"),
        ({"scale": None}, "scale is of the wrong kind"),
        ({"members": "all"}, "members is of the wrong kind"),
        ({"members": [3]}, "members are of the wrong kind"),
        ({"seeds": 3}, "seeds is of the wrong kind"),
        ({"seconds": "long"}, "seconds is of the wrong kind"),
        ({"title": 5}, "title is of the wrong kind"),
    ],
)
def test_a_damaged_manifest_is_left_out_or_refused_in_one_line(tmp_path, caplog, damage, said):
    good, bad = claimed(tmp_path, "fig1", "fig2")
    whole = {**MANIFEST, "figure": "fig2"}
    (bad.path / "manifest.json").write_text(json.dumps({**whole, **damage} if damage else damage))
    assert find_figures(tmp_path) == [good]
    assert said in caplog.text
    assert str(bad.path) in caplog.text
    assert find_figures(tmp_path, damaged=True) == [good, bad]
    with pytest.raises(InputError, match=said):
        find_figures(bad.path)


def test_a_copy_of_a_figure_is_left_out(tmp_path, caplog):
    original, other = claimed(tmp_path, "fig1", "fig2")
    shutil.copytree(original.path, original.path.parent / "copy")
    shutil.copy(original.path / "manifest.json", other.path / "manifest.json")
    assert find_figures(tmp_path) == [original]
    assert len(caplog.messages) == 2
    assert original.is_there
    assert not other.is_there
    shutil.rmtree(original.path)
    assert len(find_figures(tmp_path)) == 2, "without the original they are all there is of it"


def test_a_stray_manifest_above_the_figures_is_no_figure(tmp_path, caplog):
    (run,) = claimed(tmp_path, "fig1")
    (tmp_path / "manifest.json").write_text('{"name": "a web page"}')
    assert find_figures(tmp_path) == [run]
    assert "manifest.json is damaged (study is missing)" in caplog.text
