"""What the pages say: marks, numbers and readings come with words, and the first model one meets can draw."""

from __future__ import annotations

import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conceptlab.claims import write_claims
from conceptlab.store import FigureRun, Store
from conceptlab.store.files import write_json
from conceptlab.studio import Studio
from conceptlab.studio.catalogue import Entry
from conceptlab.studio.pages.prompt import _default
from conceptlab.studio.pages.prompt_results import read
from conceptlab.studio.prompting import Reading
from tests.figures import synthetic
from tests.studio.test_server import LOCAL, client, show


def _text(shown: Any) -> str:
    """What a reader reads of a page, whatever elements it lies in."""
    if isinstance(shown, dict):
        return "".join(
            _text(value) for key, value in shown.items() if isinstance(value, dict) or key == "children"
        )
    return "".join(map(_text, shown)) if isinstance(shown, list) else str(shown)


def test_marks_in_the_list_are_explained(run: FigureRun) -> None:
    browser = client(Studio.of([run.store.root]))
    listed = browser.post("/_dash-update-component", json=show("/"), headers=LOCAL).json
    for said in ("✓ reproduced", "✗ not reproduced", "? inconclusive"):
        assert said in str(listed)


@pytest.mark.parametrize(
    ("ended", "said"), [(1.5e9, time.strftime("%Y-%m-%d %H:%M", time.localtime(1.5e9))), (1e300, "complete")]
)
def test_a_run_in_the_list_says_what_it_is_and_when_it_ended(
    run: FigureRun, tmp_path: Path, ended: float, said: str
) -> None:
    shutil.copytree(run.store.root, tmp_path / "runs")
    figure = Store(tmp_path / "runs").figure("quickstart", "tiny", "emergence")
    write_json(figure.path / "manifest.json", {**figure.manifest, "ended": ended})
    listed = client(Studio.of([tmp_path / "runs"])).post(
        "/_dash-update-component", json=show("/"), headers=LOCAL
    )
    for word in ("Concepts emerge in the order of their distance", "From seen to unseen", "tiny", said):
        assert f"'{word}'" in str(listed.json)


def test_the_number_of_a_claim_comes_with_what_it_measures(run: FigureRun, tmp_path: Path) -> None:
    shutil.copytree(run.store.root, tmp_path / "runs")
    figure = Store(tmp_path / "runs").figure("quickstart", "tiny", "emergence")
    why = "4 seeds are too few"
    write_claims(figure.path / "claims.json", [replace(verdict, why=why) for verdict in synthetic.verdicts()])
    page = show("/run/runs/quickstart/tiny/emergence")
    shown = client(Studio.of([tmp_path / "runs"])).post("/_dash-update-component", json=page, headers=LOCAL)
    for verdict in synthetic.verdicts():
        assert verdict.statistic in str(shown.json)
    assert str(shown.json).count(f"Because {why}.") == len(synthetic.verdicts())


def test_a_run_that_makes_no_claim_says_so(run: FigureRun, tmp_path: Path) -> None:
    describing = synthetic.figure_run(tmp_path / "runs", [], study="park2024", figure="twins", scale="paper")
    to_come = synthetic.figure_run(tmp_path / "runs", [])
    for made in (describing, to_come):
        (made.path / "claims.json").unlink()
    browser = client(Studio.of([tmp_path / "runs"]))
    listed = browser.post("/_dash-update-component", json=show("/"), headers=LOCAL).json
    assert str(listed).count("none made") == 1
    for place, said in (("park2024/paper/twins", 1), ("quickstart/small/emergence", 0)):
        page = browser.post("/_dash-update-component", json=show(f"/run/runs/{place}"), headers=LOCAL).json
        assert str(page).count("none: it describes") == said
    shutil.rmtree(describing.path)  # since the last look for runs
    listed = browser.post("/_dash-update-component", json=show("/"), headers=LOCAL).json
    assert "From seen to unseen" in str(listed)


def test_the_command_that_runs_it_again_names_its_folder(run: FigureRun) -> None:
    # Without it the command would begin anew in `runs`, and continue nothing.
    page = show(f"/run/{run.store.root.name}/quickstart/tiny/emergence")
    shown = client(Studio.of([run.store.root])).post("/_dash-update-component", json=page, headers=LOCAL)
    assert f"--out {run.store.root}" in _text(shown.json)


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        ("park2024 tiny, quickstart small, park2024 small", 2),
        ("quickstart small, park2024 paper", 1),
        ("park2024 tiny, quickstart small", 1),
        ("quickstart tiny, park2024 tiny", 1),
    ],
)
def test_prompting_begins_with_a_model_that_can_draw(run: FigureRun, offered: str, chosen: int) -> None:
    entries = [
        Entry(name, run, manifest=dict(zip(("study", "scale"), name.split()))) for name in offered.split(", ")
    ]
    assert _default(entries) is entries[chosen]


def test_what_was_drawn_instead_is_said_to_be_that(run: FigureRun) -> None:
    member = run.members[0]

    def words(drawn: dict[str, float]) -> str:
        reading = Reading(round(16 * drawn["111"]), 16, {}, drawn)
        said = [part if isinstance(part, str) else part.children for part in read(reading, "111", member)]
        return "".join(said)

    assert words({"111": 1.0}) == "16 of 16 read as 111"
    assert words({"110": 0.75, "111": 0.25}) == "4 of 16 read as 111, else 110 75%"
