from __future__ import annotations

from conceptlab.store import find_figures


def test_figures_come_in_the_order_a_reader_expects(tmp_path):
    for name in ("fig11", "ablation", "fig2"):
        folder = tmp_path / "study" / "tiny" / name
        folder.mkdir(parents=True)
        (folder / "manifest.json").write_text("{}")
    assert [run.path.name for run in find_figures(tmp_path)] == ["fig2", "fig11", "ablation"]
