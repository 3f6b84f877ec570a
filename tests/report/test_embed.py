"""Pictures inside the page: as sharp as there is room for, and none for the sake of another."""

from __future__ import annotations

import base64
import gzip
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from conceptlab.report.embed import embedded, packed
from tests.report.test_colours import drawing

SIZE = (1540, 700)


@pytest.fixture
def pictures(tmp_path: Path) -> list[Path]:
    """Three plain pictures and one that is all detail, of one size."""
    plain = [Image.new("RGB", SIZE, colour) for colour in ("red", "green", "blue")]
    paths = [tmp_path / f"{number}.png" for number in range(4)]
    for path, picture in zip(paths, [*plain, Image.effect_noise(SIZE, 60).convert("RGB")]):
        picture.save(path)
    return paths


def decoded(uri: str) -> tuple[int, Image.Image]:
    """The bytes of a picture in a page, and the picture."""
    data = base64.b64decode(uri.partition(",")[2])
    return len(data), Image.open(io.BytesIO(data))


def pixels(path: Path) -> np.ndarray:
    return np.asarray(Image.open(path).convert("RGB"))


def test_pictures_are_exact_where_there_is_room(pictures: list[Path]) -> None:
    found = embedded(pictures, 10_000_000, 10_000_000)
    for path, uri in zip(pictures, found.uris):
        assert (np.asarray(decoded(uri)[1].convert("RGB")) == pixels(path)).all()
    assert found.exact == pytest.approx(sum(map(len, found.uris)), abs=200)


def test_where_all_are_many_drawings_get_fewer_colours_and_keep_their_width(tmp_path: Path) -> None:
    path = tmp_path / "drawing.png"
    drawing().save(path)
    exact = embedded([path], 1_000_000, 1_000_000)
    few = embedded([path], 1_000_000, 10_000)
    assert few.exact == exact.exact
    assert len(few.uris[0]) < 0.7 * len(exact.uris[0])
    size, picture = decoded(few.uris[0])
    assert picture.size == (800, 600)
    assert size < 100_000
    assert np.abs(np.asarray(picture.convert("RGB"), float) - pixels(path)).mean() < 1


def test_what_plain_pictures_do_not_need_is_left_to_the_others(pictures: list[Path]) -> None:
    most = 530_000
    uris = embedded(pictures, most, most).uris
    assert sum(map(len, uris)) <= most + 200  # what says that these are pictures
    found = [decoded(uri) for uri in uris]
    assert found[-1][0] > most * 3 // 8  # not a quarter: the plain ones take next to nothing
    assert [picture.size for _, picture in found[:-1]] == [SIZE] * 3
    assert found[-1][1].width < SIZE[0]


def test_pictures_that_do_not_fit_get_one_width_and_stay_readable(pictures: list[Path]) -> None:
    again = [pictures[-1].with_name("again.png"), pictures[-1]]
    Image.effect_noise((1540, 2800), 60).save(again[0])
    tall, low = (decoded(uri)[1].width for uri in embedded(again, 2_000_000, 0).uris)
    assert 400 < tall == low < 1540
    assert [decoded(uri)[1].width for uri in embedded(again, 1, 0).uris] == [400, 400]


def test_a_packed_script_is_smaller_and_unpacks_to_itself() -> None:
    text = "const µ = '</script>';\n" * 1000
    found = packed(text)
    assert gzip.decompress(base64.b64decode(found)).decode() == text
    assert len(found) < len(text) / 10
    assert found == packed(text), "the same page from the same results"
