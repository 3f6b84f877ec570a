"""The report opens from a file with no network, and what it offers to move moves."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver

from conceptlab.report import report
from conceptlab.store import FigureRun
from tests.browser.conftest import Browser
from tests.figures import synthetic
from tests.report.test_readings import with_corrected


def page_of(run: FigureRun, tmp_path: Path) -> Path:
    return report([run], tmp_path / "report.html")


def requested(driver: WebDriver) -> list[str]:
    """The addresses that were asked for since the last question."""
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    sent = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    return [url for url in sent if not url.startswith(("data:", "blob:", "about:"))]


def test_it_opens_offline_asks_for_nothing_and_draws(driver: WebDriver, tmp_path: Path) -> None:
    run = synthetic.figure_run(
        tmp_path / "runs", [synthetic.recipe(0), synthetic.recipe(1)], steps=(250, 500, 1000)
    )
    path = page_of(run, tmp_path)
    browser = Browser(driver, "")
    browser.errors()
    offline = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
    driver.execute_cdp_cmd("Network.enable", {})
    driver.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
    try:
        requested(driver)
        browser.open(path.as_uri(), ".counts")
        browser.driver.find_element(By.CSS_SELECTOR, ".charts").location_once_scrolled_into_view  # noqa: B018
        browser.wait("document.querySelectorAll('[data-drawn=yes]').length === 2")
        assert requested(driver) == [path.as_uri()]
        frame = browser.js("document.querySelector('[data-frame]').src")
        browser.slide("[data-step]", 0)
        browser.wait("document.querySelector('[data-now]').textContent === '250'")
        assert browser.js("document.querySelector('[data-frame]').src") != frame
        driver.execute_script("window.scrollTo(0, 0)")
        driver.find_element(By.XPATH, "//button[text()='inconclusive']").send_keys(Keys.ENTER)
        assert (
            browser.js("[...document.querySelectorAll('tr[data-verdict]')].filter((r) => !r.hidden).length")
            == 1
        )
        # Members of large sweeps have long names.
        browser.js("document.querySelector('[data-member] option').textContent = 'seed 0, '.repeat(60)")
        assert browser.js("document.documentElement.scrollWidth <= 1280")
        browser.driver.execute_script("window.scrollTo(0, 0)")
        browser.screenshot("report")
        assert browser.errors() == []
    finally:
        driver.execute_cdp_cmd(
            "Network.emulateNetworkConditions",
            {**offline, "offline": False, "downloadThroughput": -1, "uploadThroughput": -1},
        )


def test_a_picture_that_is_enlarged_is_not_shrunk_to_the_window(driver: WebDriver, tmp_path: Path) -> None:
    run = synthetic.figure_run(tmp_path / "runs", [])
    (run.path / "figures").mkdir()
    Image.linear_gradient("L").resize((1100, 2600)).save(run.path / "figures" / "tall.png")
    browser = Browser(driver, "")
    browser.open(page_of(run, tmp_path).as_uri(), ".enlarge img")
    driver.find_element(By.CSS_SELECTOR, ".enlarge").send_keys(Keys.ENTER)
    browser.wait("document.querySelector('dialog[open] img').complete")
    assert browser.js("document.querySelector('dialog img').offsetWidth") == 1100
    assert browser.js("document.querySelector('dialog').getBoundingClientRect().bottom <= innerHeight")
    with browser.window(420):  # nor where it would be no larger than before
        assert browser.js("document.querySelector('dialog img').offsetWidth") == 1100
    driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    browser.wait("!document.querySelector('dialog[open]')")


def _fits(browser: Browser, width: int) -> bool:
    """Nothing is wider than the window, and no verdict lies beyond the table's edge."""
    right = "(e) => e.getBoundingClientRect().right"
    last = f"Math.max(...[...document.querySelectorAll('.verdicts .verdict')].map({right}))"
    inside = f"{last} <= ({right})(document.querySelector('header .scroll'))"
    return browser.js(f"document.documentElement.scrollWidth <= {width} && {inside}")


def test_a_narrow_window_shows_contents_and_verdicts_without_a_long_way(
    driver: WebDriver, tmp_path: Path
) -> None:
    """As of a paper: many figures, half a screen wide."""
    runs = [synthetic.figure_run(tmp_path / "runs", [], figure=f"fig{number}") for number in range(40)]
    browser = Browser(driver, "")
    with browser.window(700):
        browser.open(report(runs, tmp_path / "report.html").as_uri(), ".counts")
        assert browser.js("document.querySelector('main').getBoundingClientRect().top") < 500
        assert _fits(browser, 700)


def test_a_phone_shows_verdicts_first_and_contents_on_request(driver: WebDriver, tmp_path: Path) -> None:
    runs = [synthetic.figure_run(tmp_path / "runs", [], figure=f"fig{number}") for number in range(40)]
    browser = Browser(driver, "")
    listed = "document.querySelector('nav ol').checkVisibility()"
    with browser.window(390):
        browser.open(report(runs, tmp_path / "report.html").as_uri(), ".counts")
        assert browser.js("document.querySelector('main').getBoundingClientRect().top") < 120
        assert _fits(browser, 390)
        assert not browser.js(listed)
        driver.find_element(By.CSS_SELECTOR, "nav summary").click()
        assert browser.js(listed)
    browser.wait(f"{listed} && !document.querySelector('nav summary').checkVisibility()")


def test_a_narrow_window_never_covers_claims_with_their_picture(driver: WebDriver, tmp_path: Path) -> None:
    """A picture taller than the window, which stays in sight in a wide one."""
    run = synthetic.figure_run(tmp_path / "runs", [])
    (run.path / "figures").mkdir()
    Image.linear_gradient("L").resize((1100, 2600)).save(run.path / "figures" / "tall.png")
    browser = Browser(driver, "")
    with browser.window(900):
        browser.open(page_of(run, tmp_path).as_uri(), ".claims")
        browser.wait("document.querySelector('.enlarge img').naturalHeight === 2600")
        driver.execute_script("document.documentElement.style.scrollBehavior = 'auto'")
        edge = "(name, side) => document.querySelector(name).getBoundingClientRect()[side]"
        gap = f"(({edge})('.claims', 'top') - ({edge})('.enlarge', 'bottom'))"
        for place in (0, 0.5, 1):
            driver.execute_script("window.scrollTo(0, arguments[0] * document.body.scrollHeight)", place)
            assert browser.js(f"{gap} >= 0")


def test_a_window_between_phone_and_laptop_scrolls_the_claims_of_papers_not_the_page(
    driver: WebDriver, tmp_path: Path
) -> None:
    judged = [replace(v, value=-0.00724, ci_low=None, ci_high=465000.0) for v in synthetic.verdicts()]
    runs = [
        synthetic.figure_run(tmp_path / "runs", [], study=study, judged=judged)
        for study in ("okawa2023", "bradley2025")
    ]
    browser = Browser(driver, "")
    table = "document.querySelector('[aria-label=\"All claims\"]')"
    with browser.window(620):
        browser.open(report(runs, tmp_path / "report.html").as_uri(), ".paper .tally")
        assert browser.js(f"{table}.scrollWidth > {table}.clientWidth")
        assert browser.js("document.documentElement.scrollWidth <= 620")


def test_a_reader_who_comes_back_sees_what_is_chosen(driver: WebDriver, tmp_path: Path) -> None:
    """Browsers restore choices without telling the page."""
    recipes = [synthetic.recipe(0), replace(synthetic.recipe(0), steps=1234)]
    run = synthetic.figure_run(tmp_path / "runs", recipes, steps=(250, 500))
    browser = Browser(driver, "")
    browser.open(page_of(run, tmp_path).as_uri(), ".setting:not([hidden])")
    for chosen in ("select[data-chooses]", "select[data-member]"):
        driver.execute_script("document.querySelector(arguments[0]).selectedIndex = 1", chosen)
    driver.execute_script("document.querySelector('[data-step]').value = 0")
    driver.get("about:blank")
    driver.back()
    browser.wait("document.querySelector('select[data-chooses]')?.value === '1'")
    browser.wait("[...document.querySelectorAll('.setting')].map((s) => s.hidden).join() === 'true,false'")
    browser.wait("document.querySelector('[data-now]').textContent === '250'")
    lines = "JSON.parse(document.querySelector('[data-timeline] script').textContent)"
    frames = "JSON.parse(document.getElementById('frames').textContent)"
    assert browser.js("document.querySelector('[data-member]').value") == "1"
    assert browser.js(f"document.querySelector('[data-frame]').src === {frames}[{lines}[1].frames[0].src]")


def test_a_small_laptop_shows_all_columns_of_the_claims(driver: WebDriver, tmp_path: Path) -> None:
    """With the longest words that they hold."""
    judged = [replace(v, seeds=5, censored=5, verdict="not reproduced") for v in synthetic.verdicts()]
    judged = [replace(v, value=-0.00724, ci_low=None, ci_high=465000.0) for v in judged]
    run = synthetic.figure_run(tmp_path / "runs", [], study="bradley2025", figure="fig16", judged=judged)
    browser = Browser(driver, "")
    table = "document.querySelector('[aria-label=\"All claims\"]')"
    with browser.window(1200):
        browser.open(page_of(run, tmp_path).as_uri(), ".verdicts")
        assert browser.js(f"{table}.scrollWidth <= {table}.clientWidth")


def test_a_phone_sets_censored_seeds_apart_from_their_number(driver: WebDriver, tmp_path: Path) -> None:
    judged = [replace(v, seeds=5, failed=1, censored=3) for v in synthetic.verdicts()]
    run = synthetic.figure_run(tmp_path / "runs", [], judged=judged)
    browser = Browser(driver, "")
    with browser.window(420):
        browser.open(page_of(run, tmp_path).as_uri(), ".verdicts")
        said = browser.js("document.querySelector('.verdicts tbody td:last-child').innerText")
        assert said == "5 seeds (1 failed) (3 censored)"


def test_a_phone_shows_members_without_scrolling_sideways(driver: WebDriver, tmp_path: Path) -> None:
    """Two settings, so that every column is there, and long words in one."""
    recipes = [synthetic.recipe(0), replace(synthetic.recipe(0), steps=1234)]
    run = synthetic.figure_run(tmp_path / "runs", recipes, steps=(250, 500))
    browser = Browser(driver, "")
    table = "document.querySelector('[aria-label=Members]')"
    with browser.window(420):
        browser.open(page_of(run, tmp_path).as_uri(), ".members")
        browser.js(f"{table}.querySelector('.setting-of').textContent = 'train.'.repeat(30)")
        assert browser.js(f"{table}.scrollWidth <= {table}.clientWidth")
        assert browser.js(f"{table}.querySelectorAll('tbody tr').length") == 2


def test_names_of_lines_lie_below_the_name_of_the_axis_in_however_many_rows(
    driver: WebDriver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a phone, of data of one's own: six names, where the report of a paper has three."""
    monkeypatch.setattr(synthetic, "metrics", with_corrected)
    run = synthetic.figure_run(tmp_path / "runs", [synthetic.recipe(0)], steps=(250, 500))
    browser = Browser(driver, "")
    chart = "document.querySelectorAll('.charts .chart')[1]"
    place = "(name, side) => {}.querySelector(name).getBoundingClientRect()[side]".replace("{}", chart)
    with browser.window(390):
        browser.open(page_of(run, tmp_path).as_uri(), ".charts")
        browser.driver.execute_script(f"{chart}.scrollIntoView()")
        browser.wait(f"{chart}.querySelectorAll('.legend .traces').length === 6")
        browser.wait(f"({place})('.xtitle', 'bottom') <= ({place})('.legend', 'top')", 5)
        assert browser.js(f"({place})('.xtick', 'bottom') <= ({place})('.xtitle', 'top')")
        assert browser.js(f"({place})('.legend', 'bottom') <= {chart}.getBoundingClientRect().bottom")


def test_paper_is_white_and_shows_every_chart_and_column(driver: WebDriver, tmp_path: Path) -> None:
    """Printed from a dark screen on which nobody scrolled down to the charts."""
    runs = [synthetic.figure_run(tmp_path / "runs", [], figure=f"fig{number}") for number in range(6)]
    runs.append(synthetic.figure_run(tmp_path / "runs", [synthetic.recipe(0)], steps=(250, 500)))
    browser = Browser(driver, "")
    media = [{"name": "prefers-color-scheme", "value": "dark"}]
    with browser.dark(), browser.window(718):  # A4 without its margins
        browser.open(report(runs, tmp_path / "report.html").as_uri(), ".counts")
        browser.wait("window.Plotly")
        assert not browser.js("document.querySelector('[data-drawn]')")
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": media})
        try:
            browser.js("dispatchEvent(new Event('beforeprint'))")
            browser.wait("document.querySelectorAll('[data-drawn=yes]').length === 2")
            assert browser.js("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
            font = "document.querySelector('[data-drawn]')._fullLayout.font.color"
            browser.wait(f"{font} === '#1a1c20'")
            assert browser.js(
                "document.querySelector('.verdicts').getBoundingClientRect().right <= innerWidth"
            )
            seen = "['member', 'now', 'play', 'step'].map((name) => document.querySelector(`[data-${name}]`)"
            assert browser.js(f"{seen}.checkVisibility()).join()") == "true,true,false,false"
        finally:
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
