"""Studio and report for readers whose system is dark: everything is seen, and follows when they change their mind."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from selenium.webdriver.remote.webdriver import WebDriver

from conceptlab.report import report
from conceptlab.report.inspection import inspection_page
from conceptlab.worlds.inspection import inspect
from tests.browser.conftest import Browser
from tests.browser.test_pages import CONTRAST, PAGES, RUN
from tests.figures import synthetic
from tests.image_folder import everything, opened, write_folder

GROUND = "getComputedStyle(document.body).backgroundColor"
INK = "getComputedStyle(document.documentElement).getPropertyValue('--ink').trim()"
# The least contrast (WCAG) of the lines and markers of all plotly charts with the cards they stand on.
FAINTEST = """(() => {
    const hex = (c) => [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16));
    const parts = (c) => c.startsWith('#') ? hex(c) : c.match(/[\\d.]+/g).map(Number);
    const light = (c) => parts(c).slice(0, 3).map((v) => v / 255)
        .map((v) => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
    const card = light(getComputedStyle(document.querySelector('.card, section')).backgroundColor);
    const against = (c) => { const [a, b] = [light(c), card].sort((x, y) => y - x); return (a + .05) / (b + .05); };
    const traces = [...document.querySelectorAll('.js-plotly-plot')].flatMap((plot) => plot.data || []);
    const colours = traces.flatMap((t) => [t.line, t.marker].flatMap((look) => (look && look.color) || []));
    return colours.length ? Math.min(...colours.map(against)) : NaN;
})()"""


@pytest.mark.parametrize(("page", "ready", "name"), PAGES, ids=[name for *_, name in PAGES])
def test_every_page_of_the_studio_can_be_read(browser: Browser, page: str, ready: str, name: str) -> None:
    with browser.dark():
        browser.open(page, ready)
        assert browser.js(GROUND) == "rgb(19, 21, 24)"
        assert browser.js(CONTRAST) == []
        browser.screenshot(f"studio-{name}-dark")
        assert browser.errors() == []


def test_menus_are_dark_as_well(browser: Browser) -> None:
    with browser.dark():
        browser.open(RUN, "#run-member")
        browser.js("document.querySelector('#run-member').click()")
        browser.wait("document.querySelector('.dash-dropdown-content')")
        assert browser.js(CONTRAST) == []
        menu = "getComputedStyle(document.querySelector('.dash-dropdown-content')).backgroundColor"
        assert browser.js(menu) == browser.js(
            "getComputedStyle(document.querySelector('.card')).backgroundColor"
        )


def test_charts_of_the_studio_follow_while_they_are_shown(browser: Browser) -> None:
    font = "document.querySelector('#run-accuracy .js-plotly-plot')?._fullLayout?.font.color"
    browser.open(RUN, "#run-accuracy .js-plotly-plot .scatterlayer .trace")
    browser.wait("document.querySelector('#run-space .gl-container canvas')")
    light = browser.wait(f"{font} === {INK} && {INK}")
    with browser.dark():
        browser.wait(f"{font} === {INK} && {INK} !== '{light}'")
        assert browser.js(FAINTEST) >= 3.4  # the blue of training has 3.2 as it is printed
    browser.wait(f"{font} === '{light}'")
    assert browser.errors() == []


def test_the_playground_follows_while_it_is_shown(browser: Browser) -> None:
    browser.open("/playground", "#playground-space svg .curve")
    stroke = "document.querySelector('#playground-space svg .curve').getAttribute('stroke')"
    light = browser.js(stroke)
    with browser.dark():
        browser.wait(f"{stroke} === {INK}")
    browser.wait(f"{stroke} === '{light}'")


def test_the_report_can_be_read_and_its_charts_follow(driver: WebDriver, tmp_path: Path) -> None:
    run = synthetic.figure_run(tmp_path / "runs", [synthetic.recipe(0)], steps=(250, 500))
    browser = Browser(driver, "")
    font = "document.querySelector('[data-drawn]')?._fullLayout?.font.color"
    with browser.dark():
        browser.open(report([run], tmp_path / "report.html").as_uri(), ".counts")
        assert browser.js(CONTRAST) == []
        browser.js("document.querySelector('.charts').scrollIntoView()")
        browser.wait(f"({font}) === {INK}")
        assert browser.js(FAINTEST) >= 3.4  # the blue of training has 3.2 as it is printed
        dark = browser.js(INK)
    browser.wait(f"({font}) === {INK} && {INK} !== '{dark}'")
    assert browser.errors() == []


def test_a_picture_and_the_white_around_it_are_one_paper(driver: WebDriver, tmp_path: Path) -> None:
    """The graph of an inspection is narrower than its frame."""
    found = inspect(opened(write_folder(tmp_path / "data", everything(4))))
    browser = Browser(driver, "")
    with browser.dark():
        page = inspection_page(found, tmp_path / "inspection.html", "conceptlab run custom")
        browser.open(page.as_uri(), ".graph img")
        looks = (
            "['.graph', '.graph img'].map((name) => getComputedStyle(document.querySelector(name)).filter)"
        )
        assert browser.js(looks) == ["brightness(0.9)", "none"]


@pytest.mark.parametrize(
    ("colour", "sum_"),
    [("#161625", 81), ("#7A1F4F", 232), ("rgb(68, 1, 84)", 153), ("rgba(22,22,37,0.18)", 81)],
)
def test_what_is_too_dark_is_lightened_and_nothing_else(browser: Browser, colour: str, sum_: int) -> None:
    browser.open("/lesson", "#lesson-sheet")
    # On a light page all is as printed.
    assert browser.js("window.theme.seen(arguments[0])", colour) == colour
    with browser.dark():
        seen = browser.js("window.theme.seen(arguments[0])", colour)
        numbers = [float(number) for number in re.findall(r"[\d.]+", seen)]
        assert sum(numbers[:3]) > sum_ + 100
        assert numbers[3:] == ([0.18] if "rgba" in colour else [])
        assert browser.js("window.theme.seen('#E69F00')") == "rgb(230,159,0)"
        assert browser.js("window.theme.seen('nonsense')") == "nonsense"
