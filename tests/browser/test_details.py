"""What is easily overlooked: narrow windows, titles of tabs, controls with nothing to do."""

from __future__ import annotations

from pathlib import Path

from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver

from conceptlab.report import report
from tests.browser.conftest import Browser
from tests.browser.test_pages import DRAWN, PROMPT, RUN, slider
from tests.figures import synthetic


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


def test_one_evaluation_is_nothing_to_play(driver: WebDriver, tmp_path: Path) -> None:
    off = "['step', 'play'].map((name) => document.querySelector(`[data-${name}]`).disabled).join()"
    browser = Browser(driver, "")
    for steps, said in (((1000,), "true,true"), ((500, 1000), "false,false")):
        run = synthetic.figure_run(tmp_path / str(len(steps)), [synthetic.recipe(0)], steps=steps)
        browser.open(report([run], tmp_path / "report.html").as_uri(), "[data-play]")
        assert browser.js(off) == said
