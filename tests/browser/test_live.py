"""A study that starts while the page is open appears by itself and moves on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.browser.conftest import Browser

# It stops half way until it is told to go on: however fast it trains, the page sees it before the end.
TRAIN = """
import sys, time, torch
from pathlib import Path
from conceptlab import executors
from conceptlab.store import Store
from tests.studio.runs import claimed
from tests.tiny import tiny_recipe
torch.set_num_threads(1)
store, recipe = Store(sys.argv[1]), tiny_recipe(seed=7, steps=400)
recipe = recipe.with_settings({"evaluation.count": 16})
claimed(store, [recipe], figure="live")
executors.prepare_probe(store, recipe.world, recipe.evaluation.probe, judges=False)
told, reports = Path(sys.argv[2]), []
def report(members, steps):
    reports.append(steps)
    while len(reports) >= 8 and not told.exists():
        time.sleep(0.05)
executors.run_cohort([recipe], store, torch.device("cpu"), report)
"""


def test_a_running_study_appears_updates_and_ends(browser: Browser, live: Path, tmp_path: Path) -> None:
    browser.open("/", "#runs-list table")
    assert "live" not in browser.js("document.querySelector('#runs-list').textContent")
    root, go_on = Path(__file__).parents[2], tmp_path / "go on"
    training = subprocess.Popen([sys.executable, "-c", TRAIN, str(live), str(go_on)], cwd=root)
    try:
        browser.wait(
            "[...document.querySelectorAll('#runs-list a')].some((a) => a.textContent === 'live')", 60
        )
        browser.wait("document.querySelector('#runs-list .badge.running')", 60)
        browser.screenshot("studio-runs-live")
        browser.open("/run/fresh/quickstart/tiny/live", "#run-facts .badge")
        # It is watched, not reloaded: the page stays, the numbers move.
        browser.driver.execute_script("window.stayed = true")
        browser.wait("document.querySelector('#run-sheet img')", 60)
        seen = "Number(document.querySelector('#run-step-shown').textContent)"
        first = browser.js(seen)
        go_on.touch()
        browser.wait(f"{seen} > {first}", 60)
        browser.wait("document.querySelector('#run-accuracy .js-plotly-plot').data.length > 0", 30)
        browser.screenshot("studio-run-live")
        assert training.wait(120) == 0
        browser.wait("document.querySelector('#run-facts .badge.complete')", 30)
        browser.wait(f"{seen} === 400", 30)
        assert browser.js("window.stayed") is True
        assert browser.errors() == []
    finally:
        training.kill()
        training.wait()
