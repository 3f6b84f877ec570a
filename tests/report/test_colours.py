"""Fewer colours: a drawing looks as it did, and what needs its colours keeps them."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageDraw

from conceptlab.report.colours import fewer_colours
from conceptlab.store.compact import LEAST_LIKENESS, likeness

INKS = [(20, 90, 255), (0, 114, 178), (230, 159, 0), (213, 94, 0), (0, 0, 0)]


def drawing(patches: int = 40) -> Image.Image:
    """Lines with soft edges, and a patch of each ink."""
    picture = Image.new("RGB", (1600, 1200), "white")
    draw = ImageDraw.Draw(picture)
    for i in range(40):
        draw.line([(0, 31 * i), (1600, 1200 - 27 * i)], fill=INKS[i % len(INKS)], width=5)
    for i, ink in enumerate(INKS):
        draw.rectangle([(80 * i, 0), (80 * i + patches, patches)], fill=ink)
    return picture.resize((800, 600), Image.Resampling.LANCZOS)


def count(picture: Image.Image) -> int:
    return len(picture.getcolors(1 << 24) or [])


def test_a_drawing_needs_few_colours_to_look_the_same() -> None:
    picture = drawing()
    few = fewer_colours(picture)
    assert few is not None
    assert count(few) < count(picture) / 5
    assert likeness(picture, few) >= LEAST_LIKENESS - 0.1


def test_what_has_a_meaning_keeps_its_colour() -> None:
    """The patch of a legend is small beside the soft edges of all lines."""
    picture = drawing(patches=20)
    few = fewer_colours(picture)
    assert few is not None
    for i, ink in enumerate(INKS):
        shown = few.getpixel((40 * i + 5, 5))
        assert np.abs(np.subtract(shown, ink)).max() <= 12, ink


def test_few_colours_that_lie_apart_stay_as_they_are() -> None:
    pixels = np.array([[0, 100], [200, 255]], dtype=np.uint8).repeat(50, 0).repeat(50, 1)
    picture = Image.fromarray(np.stack([pixels] * 3, -1))
    few = fewer_colours(picture)
    assert few is not None
    assert (np.asarray(few) == np.asarray(picture)).all()
    alone = Image.new("RGB", (4, 4), "red")
    assert fewer_colours(alone) == alone


def test_a_picture_that_needs_its_colours_is_left_to_other_means() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (200, 200, 3), dtype=np.uint8)
    assert fewer_colours(Image.fromarray(noise)) is None
