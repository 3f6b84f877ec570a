"""What is easily overlooked: narrow windows, titles of tabs, controls with nothing to do."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver

from conceptlab.report import report
from conceptlab.store import FigureRun, Store
from conceptlab.studio.app import PAGES
from conceptlab.studio.pages import browse, prompt, run
from tests.browser.conftest import Browser
from tests.browser.test_pages import DRAWN, PROMPT, RUN, slider
from tests.figures import synthetic
from tests.studio.runs import claimed, recipe


def test_half_a_screen_is_enough_to_find_a_model_and_to_compare_its_prompts(browser: Browser) -> None:
    box = "document.querySelector('{}').getBoundingClientRect()"
    with browser.window(700):
        browser.open("/", "#runs-list table")
        buttons = "[...document.querySelectorAll('.runs .button')]"
        assert browser.js(f"Math.max(...{buttons}.map((b) => b.getBoundingClientRect().right))") <= 700
        browser.open(PROMPT, DRAWN)
        plain, asked = box.format("#prompt-plain"), box.format("#prompt-asked")
        assert browser.js(f"{plain}.top === {asked}.top && {plain}.right < {asked}.left")
        assert browser.js("document.documentElement.scrollWidth <= 700")


def test_an_answer_that_comes_late_does_not_hide_a_newer_one(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slider is moved while the page still waits to hear of the drawing before."""
    browser.open(PROMPT, DRAWN)
    browser.wait("document.querySelector('#prompt-state').textContent.includes('images in')")
    before = browser.js("document.querySelector('#prompt-asked').src")
    go_on, read = threading.Event(), prompt.read

    def slowly(*given: Any) -> Any:
        go_on.wait(30)
        return read(*given)

    monkeypatch.setattr(prompt, "read", slowly)
    tick = "window.dash_clientside.set_props('prompt-tick', {})"
    browser.js(tick.format("{interval: 1e6, disabled: false, n_intervals: 1e6}"))
    browser.slide(slider("prompt", "axis", "colour"), 3)
    browser.wait("document.querySelector('#prompt-command').textContent.includes('colour=')")
    go_on.set()
    browser.wait("document.querySelectorAll('._dash-loading-callback').length === 0")
    time.sleep(0.5)  # until the late answer has been taken in
    browser.js(tick.format("{interval: 120}"))
    browser.driver.execute_script("window.before = arguments[0]", before)
    browser.wait("document.querySelector('#prompt-asked').src !== window.before", 10)


def test_drawings_are_shown_however_long_it_takes_to_read_them(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = prompt.read

    def slowly(*given: Any) -> Any:
        time.sleep(0.3)
        return read(*given)

    monkeypatch.setattr(prompt, "read", slowly)
    browser.open(PROMPT, DRAWN)
    browser.driver.execute_script("window.before = document.querySelector('#prompt-asked').src")
    browser.slide(slider("prompt", "axis", "colour"), 3)
    browser.wait("document.querySelector('#prompt-asked').src !== window.before", 10)
    browser.slide(slider("prompt", "axis", "colour"), 2)
    browser.driver.find_element(By.ID, "to-lesson").click()  # nobody is left to be answered
    browser.wait("document.querySelector('#lesson-sheet')")
    time.sleep(1)
    assert browser.errors() == []


@pytest.fixture
def begun(live: Path) -> Iterator[FigureRun]:
    """A run of which nothing has been trained yet."""
    made = claimed(Store(live), [recipe(7)], figure="begun")
    yield made
    shutil.rmtree(made.path)


def test_pages_move_on_however_long_a_look_takes(
    browser: Browser, begun: FigureRun, live: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many members take longer to read than there is between two looks."""
    stamp, facts = browse._stamp, run.facts

    def slowly(made: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *given: [time.sleep(2.5), made(*given)][1]

    browser.open(f"/run/{live.name}/quickstart/tiny/begun", "#run-facts dl")
    monkeypatch.setattr(run, "facts", slowly(lambda entry: ["moved on", facts(entry)]))
    (begun.path / "figures").mkdir()
    (begun.path / "figures" / "new.png").write_bytes(b"")
    browser.wait("document.querySelector('#run-facts').textContent.includes('moved on')", 12)
    browser.open("/", "#runs-list table")
    monkeypatch.setattr(browse, "_stamp", slowly(stamp))
    another = claimed(Store(live), [], figure="another")
    try:
        browser.wait("document.querySelector('#runs-list').textContent.includes('another')", 12)
    finally:
        shutil.rmtree(another.path)


def test_a_page_that_takes_long_to_read_says_so(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    title, layout = PAGES["lesson"]
    monkeypatch.setitem(PAGES, "lesson", (title, lambda *given: [time.sleep(1.5), layout(*given)][1]))
    said = "getComputedStyle(document.querySelector('main'), '::before').content"
    browser.open("/", "#runs-list table")
    browser.driver.find_element(By.ID, "to-lesson").click()
    browser.wait(f"{said} === '\"Reading …\"'")
    browser.wait("document.querySelector('#lesson-sheet')")
    browser.wait(f"{said} === 'none'")


def test_a_tab_is_called_after_its_page(browser: Browser) -> None:
    browser.open("/", "#runs-list table")
    browser.wait("document.title === 'Runs · conceptlab studio'")
    browser.driver.find_element(By.ID, "to-lesson").click()
    browser.wait("document.title === 'Lesson · conceptlab studio'")
    browser.open(RUN, "#run-sheet img")
    browser.wait("document.title === 'quickstart tiny emergence · Runs · conceptlab studio'")
    browser.open("/nowhere", "h1")
    browser.wait("document.title === 'conceptlab studio'")


def test_a_variable_that_need_not_be_right_cannot_be_set(browser: Browser) -> None:
    browser.open("/lesson", "#lesson-sheet[src^='data:image']")
    places = [slider("lesson", "accuracy", name) for name in ("shape", "size", "colour", "background")]
    off = f"{places!r}.map((place) => document.querySelector(place).disabled).join()"
    browser.wait(f"{off} === 'false,false,false,true'")
    browser.slide(slider("lesson", "count", "variables"), 1)
    browser.wait(f"{off} === 'false,true,true,true'")
    browser.slide(slider("lesson", "count", "variables"), 4)
    browser.wait(f"{off} === 'false,false,false,false'")


def test_pictures_are_level_however_narrow_the_window(browser: Browser) -> None:
    with browser.window(390):
        browser.open(PROMPT, DRAWN)
        top = "document.querySelector('#prompt-{}').getBoundingClientRect().top"
        browser.wait("document.querySelector('#prompt-plain-text').textContent.includes('class')")
        assert browser.js(f"{top.format('plain')} === {top.format('asked')}")
        assert browser.js("document.documentElement.scrollWidth <= 390")


def test_a_run_that_is_deleted_while_it_is_open_is_told_of(
    browser: Browser, begun: FigureRun, live: Path
) -> None:
    """In words above the page, which stays as it was; they are gone with the page."""
    browser.open(f"/run/{live.name}/quickstart/tiny/begun", "#run-facts dl")
    aside = begun.path.with_name("aside")
    begun.path.rename(aside)
    (aside / "manifest.json").rename(aside / "kept.json")
    try:
        said = "document.querySelector('#trouble').textContent"
        browser.wait(f"{said}.includes(\"there is no run '{live.name}/quickstart/tiny/begun'\")", 12)
        assert browser.js("document.querySelector('#run-facts dl') !== null")
        browser.driver.find_element(By.ID, "to-lesson").click()
        browser.wait(f"document.querySelector('#lesson-sheet') && {said} === ''")
        assert browser.errors() == []
    finally:
        (aside / "kept.json").rename(aside / "manifest.json")
        aside.rename(begun.path)


def test_a_studio_that_does_not_answer_is_told_of(browser: Browser) -> None:
    """What the sliders ask for is not drawn then, and links lead nowhere."""
    network = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    shown = "!!document.querySelector('.silent')?.checkVisibility()"
    browser.open(PROMPT, DRAWN)
    browser.wait("document.querySelector('#prompt-state').textContent.includes('images in')")
    assert not browser.js(shown)
    browser.driver.execute_cdp_cmd("Network.enable", {})
    browser.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {**network, "offline": True})
    try:
        browser.slide(slider("prompt", "axis", "colour"), 3)
        browser.wait(shown, 10)
        assert "does not answer" in browser.js("document.querySelector('.silent').textContent")
    finally:
        browser.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {**network, "offline": False})
    browser.slide(slider("prompt", "axis", "colour"), 2)
    browser.wait(f"!{shown}", 10)
    browser.errors()  # of the requests that failed


@pytest.mark.parametrize("address", ["/run/nonsense", "/prompt/nonsense", "/run/%E0%A4%A", "/nowhere?x=%"])
def test_an_address_that_leads_nowhere_says_so(browser: Browser, address: str) -> None:
    browser.open(address, "main h1")
    assert browser.js("document.querySelector('main h1').textContent") in ("This cannot be shown", "Not here")
    assert browser.errors() == []


# A sheet of as many rows as the page has, with so many images of so many pixels beside each other.
SHEET = """((picture, images, pixels) => {
    const [rows, canvas] = [Number(picture.style.getPropertyValue('--rows')), document.createElement('canvas')];
    Object.assign(canvas, { width: images * pixels, height: rows * pixels });
    picture.src = canvas.toDataURL();
    picture.sized = () => picture.complete && picture.naturalHeight === rows * pixels && picture.height / rows;
})(document.querySelector(arguments[0]), ...arguments[1])"""


@pytest.mark.parametrize("page", ["studio", "report"])
def test_large_samples_are_not_shrunk_where_there_is_room(
    browser: Browser, run: FigureRun, tmp_path: Path, page: str
) -> None:
    shown = "#run-sheet img" if page == "studio" else "[data-frame]"
    if page == "studio":
        browser.open(RUN, shown)
    else:
        browser.driver.get(report([run], tmp_path / "report.html").as_uri())
    height = f"document.querySelector('{shown}').sized()"
    usual = browser.js(f"document.querySelector('{shown}').height / 8")
    for images, pixels, wanted in ((1, 64, 64), (4, 16, usual), (40, 64, usual), (1, 200, 72)):
        browser.js(SHEET, shown, [images, pixels])
        browser.wait(f"Math.abs({height} - {wanted}) < 1.5", 5)


def test_one_evaluation_is_nothing_to_play(driver: WebDriver, tmp_path: Path) -> None:
    off = "['step', 'play'].map((name) => document.querySelector(`[data-${name}]`).disabled).join()"
    browser = Browser(driver, "")
    for steps, said in (((1000,), "true,true"), ((500, 1000), "false,false")):
        made = synthetic.figure_run(tmp_path / str(len(steps)), [synthetic.recipe(0)], steps=steps)
        browser.open(report([made], tmp_path / "report.html").as_uri(), "[data-play]")
        assert browser.js(off) == said
