"""Pages in a window as narrow as a phone: nothing is cut off, and nothing has to be scrolled to sideways."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PIL import Image
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver

from conceptlab.report.inspection import inspection_page
from conceptlab.store import FigureRun
from conceptlab.worlds.inspection import inspect
from tests.browser.conftest import Browser
from tests.browser.test_pages import PAGES, RUN
from tests.image_folder import everything, opened, write_folder
from tests.studio.runs import claimed, recipe

PHONE = 420
RECT = "getBoundingClientRect()"


@pytest.mark.parametrize(("page", "ready", "name"), PAGES, ids=[name for *_, name in PAGES])
def test_no_page_is_scrolled_sideways(browser: Browser, page: str, ready: str, name: str) -> None:
    with browser.window(PHONE):
        browser.open(page, ready)
        assert browser.js(f"document.documentElement.scrollWidth <= {PHONE}")


def test_a_run_in_the_list_shows_its_claims_its_state_and_its_prompt(browser: Browser) -> None:
    with browser.window(PHONE):
        browser.open("/", ".runs .button")
        hidden = f"""[...document.querySelectorAll('.scroll')].filter((e) => e.scrollWidth > e.clientWidth).length
            + [...document.querySelectorAll('.claim-marks, .badge, .runs .button')]
                .filter((e) => e.{RECT}.right > {PHONE}).length"""
        assert browser.js(hidden) == 0
        # The head of the table, which named its columns, is not shown.
        named = "getComputedStyle(document.querySelector('.runs td:nth-child({})'), '::before').content"
        assert browser.js(named.format(4)) == '"members: "'
        assert browser.js(named.format(5)) == '"claims: "'


def test_accuracies_stay_beside_drawings_that_need_more_room(browser: Browser) -> None:
    with browser.window(PHONE):
        browser.open(RUN, "#run-sheet img")
        browser.wait("document.querySelector('#run-sheet img').complete")
        browser.js("document.querySelector('#run-sheet img').style.width = '60rem'")
        sheet, values = "document.querySelector('#run-sheet')", "document.querySelector('#run-sheet .right')"
        assert browser.js(f"{sheet}.scrollWidth > {sheet}.clientWidth")
        assert browser.js(f"{values}.{RECT}.right <= {sheet}.{RECT}.right + 1")


def test_a_figure_is_enlarged_beyond_the_window_and_put_away_again(browser: Browser, run: FigureRun) -> None:
    drawn = claimed(run.store, [recipe(seed) for seed in range(2)], "drawn")
    (drawn.path / "figures").mkdir()
    Image.linear_gradient("L").resize((1100, 600)).save(drawn.path / "figures" / "wide.png")
    try:
        with browser.window(PHONE):
            browser.open("/run/runs/quickstart/tiny/drawn", ".enlarge img")
            browser.wait("document.querySelector('.enlarge img').naturalWidth === 1100")
            browser.driver.find_element(By.CSS_SELECTOR, ".enlarge").send_keys(Keys.ENTER)
            browser.wait("document.querySelector('dialog[open] img')?.complete")
            assert browser.js("document.querySelector('dialog img').offsetWidth") == 1100
            assert browser.js("document.querySelector('dialog').offsetWidth") <= PHONE
            browser.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
            browser.wait("!document.querySelector('dialog[open]')")
            assert browser.js("document.activeElement.className") == "enlarge"
    finally:
        shutil.rmtree(drawn.path)


def test_an_inspection_shows_every_combination_with_its_effort(driver: WebDriver, tmp_path: Path) -> None:
    found = inspect(opened(write_folder(tmp_path / "data", everything(4))))
    page = inspection_page(found, tmp_path / "inspection.html", "conceptlab run custom")
    browser, table = Browser(driver, ""), "document.querySelector('#classes .scroll')"
    with browser.window(PHONE):
        browser.open(page.as_uri(), "#classes tbody tr")
        assert browser.js(f"{table}.scrollWidth <= {table}.clientWidth")
        assert browser.js(f"document.documentElement.scrollWidth <= {PHONE}")


def test_names_of_distances_lie_below_the_name_of_the_axis(browser: Browser) -> None:
    """A space of two variables, which is drawn flat."""
    chart = "document.querySelector('#designer-graph')"
    place = f"(name, side) => {chart}.querySelector(name).{RECT}[side]"
    with browser.window(PHONE):
        browser.open("/designer", "#designer-order li")
        browser.js(
            "[...document.querySelectorAll('main label')].find((e) => e.textContent === 'triangle').click()"
        )
        browser.wait(f"{chart}.querySelector('.xtitle') && {chart}.querySelector('.legend')")
        browser.wait(f"({place})('.xtitle', 'bottom') <= ({place})('.legend', 'top')", 5)
        assert browser.js(f"({place})('.legend', 'bottom') <= {chart}.{RECT}.bottom + 1")
