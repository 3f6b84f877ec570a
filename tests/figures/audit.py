"""The rules of the house, checked on a drawn figure: what a reader needs, and nothing on top of anything else."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from conceptlab import figures


def complaints(picture: Figure) -> list[str]:
    """What is wrong with a figure, in sentences; nothing if it keeps the rules."""
    # As it is saved: matplotlib reads fonts and sizes as late as that.
    with figures.house():
        picture.set_dpi(220)
        FigureCanvasAgg(picture).draw()
        return [
            *_caption(picture),
            *_axes(picture),
            *_overlaps(picture),
            *_outside(picture),
            *_legends(picture),
        ]


def _caption(picture: Figure) -> Iterator[str]:
    text = picture.get_supxlabel()
    # Theory has random starts where training has seeds; pictures of the data have neither.
    if not re.search(r"\bseeds?\b|\b[Ss]tarts?\b|[Dd]igits|[Ii]mages of|clusters on", text):
        yield f"the caption does not say how many seeds: {text!r}"
    bands = [
        c for ax in picture.axes for c in ax.collections if isinstance(c, PolyCollection) and c.get_alpha()
    ]
    if bands and not re.search(r"[Bb]and|[Ss]hade|interval|middle \d+ %", text):
        yield f"the caption does not say what the band is: {text!r}"


def _axes(picture: Figure) -> Iterator[str]:
    for ax in picture.axes:
        # A sheet of pictures has classes at its side and steps below.
        if not ax.axison or not ax.get_visible() or ax.get_label() == "<colorbar>" or ax.images:
            continue
        for name, axis in (("x", ax.xaxis), ("y", ax.yaxis)):
            ticks = [t for t in axis.get_ticklabels() if t.get_text() and t.get_visible()]
            if (
                ticks
                and not axis.get_label_text()
                and not _labelled_elsewhere(picture, ax, name)
                and _numeric(ticks)
            ):
                yield f"the {name} axis of {ax.get_title(loc='left') or ax.get_title()!r} has no label"


def _numeric(ticks: list[Text]) -> bool:
    return all(re.fullmatch(r"[-−+.\d${}^\\mathdefault×,]*", t.get_text().replace(" ", "")) for t in ticks)


def _labelled_elsewhere(picture: Figure, ax: Axes, name: str) -> bool:
    """A panel beside or above another with the same axis may leave the label to it."""
    box = ax.get_position()
    for other in picture.axes:
        its = other.get_position()
        same_row = abs(its.y0 - box.y0) < 0.02 and its.x0 < box.x0
        same_column = abs(its.x0 - box.x0) < 0.02 and its.y0 <= box.y0
        if name == "y" and same_row and other.get_ylabel():
            return True
        if name == "x" and same_column and other.get_xlabel():
            return True
    return False


def _overlaps(picture: Figure) -> Iterator[str]:
    found = list(_texts(picture))
    for number, (first, a) in enumerate(found):
        for second, b in found[number + 1 :]:
            common = Bbox.intersection(a, b)
            twice = first == second and abs(a.x0 - b.x0) + abs(a.y0 - b.y0) < 2  # twin axes share their ticks
            if common is not None and common.width > 3 and common.height > 3 and not twice:
                yield f"{first!r} and {second!r} overlap"


def _texts(picture: Figure) -> Iterator[tuple[str, Bbox]]:
    renderer = picture.canvas.get_renderer()  # pyright: ignore
    for text in picture.findobj(Text):
        assert isinstance(text, Text)
        if not text.get_visible() or not text.get_text().strip() or text.get_alpha() == 0:
            continue
        if text.axes is not None and (
            not text.axes.axison and text in (text.axes.xaxis.label, text.axes.yaxis.label)
        ):
            continue
        # The frame of a slanted text is larger than the text.
        if text.get_rotation() % 90:
            continue
        box = text.get_window_extent(renderer)
        if box.width and box.height and _drawn(text):
            yield text.get_text(), box


def _drawn(text: Text) -> bool:
    """Tick labels beyond the limits and those of hidden axes exist and are not drawn."""
    for ax in text.figure.axes if text.figure else ():  # pyright: ignore
        for axis in (ax.xaxis, ax.yaxis):
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                if text in (tick.label1, tick.label2):
                    low, high = sorted(axis.get_view_interval())
                    room = 1e-9 + 1e-6 * abs(high - low)
                    return bool(
                        ax.axison and ax.get_visible() and low - room <= tick.get_loc() <= high + room
                    )
            if text is axis.get_offset_text() or text is axis.label:
                return bool(ax.axison and ax.get_visible())
    return True


def _outside(picture: Figure) -> Iterator[str]:
    page = picture.bbox
    for text, box in _texts(picture):
        if box.x0 < page.x0 - 2 or box.x1 > page.x1 + 2 or box.y0 < page.y0 - 2 or box.y1 > page.y1 + 2:
            yield f"{text!r} leaves the page"


def _legends(picture: Figure) -> Iterator[str]:
    """A legend may not cover what it explains."""
    renderer = picture.canvas.get_renderer()  # pyright: ignore
    for ax in picture.axes:
        legend = ax.get_legend()
        if legend is None:
            continue
        box = legend.get_window_extent(renderer)
        seen = Bbox.intersection(box, ax.get_window_extent(renderer))  # what lies beyond the axes is cut off
        covered = sum(_within(points, seen) for points in _data(ax)) if seen is not None else 0
        if covered:
            yield f"the legend of {ax.get_title(loc='left') or ax.get_title()!r} covers {covered} points of data"


def _data(ax: Axes) -> Iterator[np.ndarray]:
    """The points of every line, along the line too, and of every cloud, in pixels."""
    for line in ax.lines:
        points = line.get_xydata()
        if line.get_transform() is not ax.transData and not line.get_transform().contains_branch(
            ax.transData
        ):
            continue
        if len(points) > 1 and line.get_linestyle() not in ("None", ""):
            along = np.linspace(0, len(points) - 1, 400)
            points = np.stack(
                [np.interp(along, range(len(points)), column) for column in np.asarray(points).T], 1
            )
        yield line.get_transform().transform(points)
    for cloud in ax.collections:
        offsets = np.asarray(cloud.get_offsets())
        if len(offsets):
            yield cloud.get_offset_transform().transform(offsets)


def _within(points: np.ndarray, box: Bbox) -> int:
    points = points[np.isfinite(points).all(1)]
    inside = (points > (box.x0, box.y0)) & (points < (box.x1, box.y1))
    return int(inside.all(1).sum())
