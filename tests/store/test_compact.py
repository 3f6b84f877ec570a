"""Compact forms: tables come back as they were, and pictures look as they did."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from PIL import Image, ImageDraw

from conceptlab.store.compact import compact_picture, write_compact
from conceptlab.store.files import read_table, write_table


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"step": [1, 2], "class": ["01", "10"], "value": [0.1, np.nan]}),
        pd.DataFrame({"value": np.array([0.1, 1e-30], dtype=np.float32)}),
        pd.DataFrame({"kind": pd.Categorical(["b", "a"]), "there": [True, False], "n": pd.array([1, None], "Int64")}),
        pd.DataFrame({"step": [1, 2]}),
        pd.DataFrame({"value": np.array([], dtype=float), "name": pd.Series([], dtype=str)}),
    ],
)  # fmt: skip
def test_tables_come_back_with_their_types(tmp_path, table):
    write_compact(tmp_path / "t.parquet", table)
    found = read_table(tmp_path / "t.parquet")
    pd.testing.assert_frame_equal(found, table)
    assert found.equals(table)


def test_tables_of_measurements_take_less_room(tmp_path):
    rng = np.random.default_rng(0)
    steps = np.repeat(np.arange(200), 40)
    table = pd.DataFrame({"step": steps, "class": "011", "value": rng.random(len(steps)).astype(np.float32)})
    write_compact(tmp_path / "small.parquet", table)
    write_table(tmp_path / "plain.parquet", table)
    assert (tmp_path / "small.parquet").stat().st_size < 0.8 * (tmp_path / "plain.parquet").stat().st_size


def test_a_drawing_takes_a_fraction_of_its_bytes_and_looks_the_same(tmp_path):
    """A thin line on white, smoothed as figures are."""
    picture = Image.new("RGB", (1600, 1200), "white")
    draw = ImageDraw.Draw(picture)
    for i in range(12):
        draw.line([(0, 97 * i), (1600, 1200 - 83 * i)], fill=(20 * i, 90, 255 - 20 * i), width=7)
    picture = picture.resize((800, 600), Image.Resampling.LANCZOS)
    picture.save(tmp_path / "lines.png")
    (tmp_path / "few.png").write_bytes(compact_picture(tmp_path / "lines.png"))
    assert (tmp_path / "few.png").stat().st_size < 0.6 * (tmp_path / "lines.png").stat().st_size
    with Image.open(tmp_path / "few.png") as few:
        difference = np.abs(np.asarray(few.convert("RGB"), float) - np.asarray(picture, float))
    assert difference.mean() < 0.5
    assert difference.max() < 64
    assert compact_picture(tmp_path / "few.png") == (tmp_path / "few.png").read_bytes(), (
        "packed once, not twice"
    )


def test_a_picture_that_needs_its_colours_keeps_them(tmp_path):
    noise = np.random.default_rng(0).integers(0, 256, (200, 200, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "noise.png")
    assert compact_picture(tmp_path / "noise.png") == (tmp_path / "noise.png").read_bytes()
