"""A real browser: Debian's Chromium, driven by Selenium. Where there is none the tests are skipped, and say so."""

from __future__ import annotations

import base64
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from conceptlab.store import FigureRun
from tests.studio.runs import trained

pytest.importorskip("dash", reason="the studio needs dash: pip install 'conceptlab[studio]'")
webdriver = pytest.importorskip("selenium.webdriver", reason="browser tests need selenium")

from selenium.webdriver.chrome.options import Options  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.remote.webdriver import WebDriver  # noqa: E402

from conceptlab.studio import Studio  # noqa: E402
from conceptlab.studio.server import listen  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
ARTEFACTS = (
    Path(os.environ.get("CONCEPTLAB_ARTEFACTS", Path(__file__).parents[2] / "artefacts")) / "screenshots"
)

_FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --enable-unsafe-swiftshader --no-first-run --hide-scrollbars "
    "--disable-background-networking --disable-component-update --disable-sync --disable-dev-shm-usage"
)


def resize(driver: WebDriver, width: int = 1280) -> None:
    screen = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)


def prefer_dark(driver: WebDriver, dark: bool) -> None:
    asked = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": asked})


class Browser:
    """A window of 1280 × 800 with what the tests ask of it."""

    def __init__(self, driver: WebDriver, home: str) -> None:
        self.driver, self.home = driver, home

    def open(self, page: str, ready: str) -> None:
        """Open a page and wait until a selector matches."""
        self.driver.get(self.home + page)
        self.wait(f"document.querySelector({ready!r})")

    @contextmanager
    def window(self, width: int) -> Iterator[None]:
        """Another width for a while. It is the page itself that is measured, not the window with its frame."""
        resize(self.driver, width)
        try:
            yield
        finally:
            resize(self.driver)

    @contextmanager
    def dark(self) -> Iterator[None]:
        """As of a reader whose system is dark, for a while."""
        prefer_dark(self.driver, True)
        try:
            yield
        finally:
            prefer_dark(self.driver, False)

    def js(self, code: str, *given: object):
        return self.driver.execute_script(f"return {code}", *given)

    def wait(self, condition: str, seconds: float = 30.0):
        """The value of a JavaScript expression as soon as it is true."""
        from selenium.webdriver.support.ui import WebDriverWait

        waiting = WebDriverWait(self.driver, seconds, poll_frequency=0.05)
        return waiting.until(lambda _: self.js(condition), f"never true: {condition}")

    def slide(self, selector: str, value: float) -> None:
        """Move a native slider as a hand does: React hears the input event."""
        self.driver.execute_script(
            """const input = document.querySelector(arguments[0]);
            Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(input, arguments[1]);
            input.dispatchEvent(new Event("input", { bubbles: true }));
            input.dispatchEvent(new Event("change", { bubbles: true }));""",
            selector,
            str(value),
        )

    def errors(self) -> list[str]:
        """What the console complained about since the last question."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]

    def screenshot(self, name: str) -> Path:
        """The whole page as a PNG, kept as an artefact."""
        size = {
            "x": 0,
            "y": 0,
            "width": 1280,
            "height": self.js("document.documentElement.scrollHeight"),
            "scale": 1,
        }
        asked = {"captureBeyondViewport": True, "clip": size}
        picture = base64.b64decode(self.driver.execute_cdp_cmd("Page.captureScreenshot", asked)["data"])
        ARTEFACTS.mkdir(parents=True, exist_ok=True)
        path = ARTEFACTS / f"{name}.png"
        path.write_bytes(picture)
        return path


@pytest.fixture(scope="session")
def driver() -> Iterator[WebDriver]:
    if CHROMIUM is None or DRIVER is None:
        pytest.skip(
            "no browser: install chromium and chromium-driver (`make browser` does where apt and root are there)"
        )
    options = Options()
    options.binary_location = CHROMIUM
    for flag in _FLAGS.split():
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    made = webdriver.Chrome(options=options, service=Service(DRIVER))
    resize(made)
    yield made
    made.quit()


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> FigureRun:
    """Two real members, trained for a dozen steps."""
    return trained(tmp_path_factory.mktemp("browser") / "runs", seeds=2)


@pytest.fixture(scope="session")
def live(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A second folder of the studio, in which a study starts while the page is open."""
    return tmp_path_factory.mktemp("live") / "fresh"


@pytest.fixture(scope="session")
def home(run: FigureRun, live: Path) -> Iterator[str]:
    live.mkdir()
    server = listen(Studio.of([run.store.root, live]), 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def browser(driver: WebDriver, home: str) -> Iterator[Browser]:
    made = Browser(driver, home)
    made.errors()
    yield made
    driver.get("about:blank")
