"""What is easily overlooked: narrow windows, titles of tabs, controls with nothing to do."""

from __future__ import annotations

from tests.browser.conftest import Browser
from tests.browser.test_pages import DRAWN, PROMPT


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
