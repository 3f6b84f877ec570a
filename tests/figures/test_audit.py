"""Every figure of every study keeps the rules of the house; and the audit that says so notices when one does not."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from conceptlab import executors, figures, studies
from conceptlab.figures import Page
from conceptlab.store import Store
from conceptlab.studies import Results
from tests.figures import synthetic
from tests.figures.audit import complaints


@figures.house()
def good() -> Page:
    page = figures.figure(columns=1)
    ax = page.add_subplot()
    figures.panel(ax, "a", "Accuracy")
    figures.accuracy_by_distance(ax, synthetic.curves(synthetic.cube_split(), seeds=2))
    figures.caption(page, figures.seeds_text(2))
    return page


def test_a_good_figure_has_nothing_to_complain_about() -> None:
    assert complaints(good()) == []


def test_what_breaks_a_rule_is_noticed() -> None:
    page = good()
    ax = page.axes[0]
    page.supxlabel("A figure.")
    ax.set_xlabel("")
    ax.text(0.5, 0.5, "one text", transform=ax.transAxes)
    ax.text(0.5, 0.5, "another", transform=ax.transAxes)
    ax.text(1.5, 0.5, "beyond the edge of the page", transform=ax.transAxes).set_in_layout(False)
    ax.plot([100, 900], [0.5, 0.5], label="a line right behind the legend")
    ax.legend(loc="center")
    said = " ".join(complaints(page))
    for rule in ("how many seeds", "what the band is", "x axis", "'one text' and 'another' overlap",
                 "leaves the page", "the legend of"):  # fmt: skip
        assert rule in said


def test_the_quickstart_keeps_the_rules(tmp_path: Path) -> None:
    run = synthetic.figure_run(tmp_path, [synthetic.recipe(0), synthetic.recipe(1)])
    figure = studies.find("quickstart")[1][0]
    results = Results(run.members, "small", (0, 1))
    assert complaints(figure.draw(results, run.tables)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["okawa2023", "park2024", "yang2025", "bradley2025"])
def test_a_whole_study_keeps_the_rules(tmp_path: Path, name: str) -> None:
    """Trained at tiny scale, where curves are at their most unruly."""
    study, wanted = studies.find(name)
    order = studies.Order(study, wanted, "tiny", (0, 1), {})
    store = Store(tmp_path)
    runs = studies.run(order, store, torch.device("cpu"), lambda members, steps: None)
    found = {}
    for figure, run in zip(wanted, runs):
        names = {path.suffix for path in (run.path / "figures").iterdir()}
        results = Results([store.member(recipe) for recipe in order.recipes(figure)], "tiny", (0, 1))
        found[figure.id] = complaints(figure.draw(results, run.tables))
        if not {".png", ".pdf", ".csv"} <= names:
            found[figure.id].append(f"kept only as {sorted(names)}")
    assert {figure: said for figure, said in found.items() if said} == {}
    assert executors.pending(order.all_recipes(), store) == []
