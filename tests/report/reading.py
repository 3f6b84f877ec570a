"""A report as a browser would find it: text, elements, scripts."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

from PIL import Image

from conceptlab.store import FigureRun

VOID = {"meta", "img", "input", "br", "wbr", "line", "link"}

_GZIP = "H4sI"  # how gzip begins, in base64

LOADING = {"src", "href", "data", "poster", "srcset", "action", "xlink:href"}


@dataclass
class Page(HTMLParser):
    """What a browser would find: text, elements by name, scripts, ids, unbalanced tags."""

    texts: list[str] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)
    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    unbalanced: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.unbalanced.append(tag)

    def handle_data(self, data: str) -> None:
        inside = self.open[-1] if self.open else ""
        (self.scripts if inside in ("script", "style") else self.texts).append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def read(path: Path) -> Page:
    page = Page()
    page.feed(path.read_text(encoding="utf-8").replace("<wbr>", ""))  # a word may break there, and is one
    page.close()
    return page


def draw_picture(run: FigureRun) -> None:
    (run.path / "figures").mkdir(exist_ok=True)
    Image.linear_gradient("L").resize((640, 320)).save(run.path / "figures" / "emergence.png")


def charts(page: Page) -> list[dict[str, list]]:
    """The charts in the order of their places on the page; one that has several places is carried once."""
    carried = [json.loads(found) for text in page.scripts if (found := unpacked(text)).startswith('[{"data"')]
    places = [element["data-chart"] for element in page.all("div") if "data-chart" in element]
    return [carried[0][int(place or "")] for place in places]


def timelines(page: Page) -> list[list[dict]]:
    """The timelines of each training."""
    return [json.loads(text) for text in page.scripts if text.startswith("[{") and "frames" in text]


def unpacked(text: str) -> str:
    """What the page would unpack; nothing of a text that is not packed."""
    return gzip.decompress(base64.b64decode(text)).decode() if text.startswith(_GZIP) else ""
