"""Boxes cover images, and say where they cannot."""

from __future__ import annotations

import pytest
import torch

from conceptlab.kernels.boxes import Box, box_of, readable


@pytest.mark.parametrize(
    ("height", "width", "pixels", "expected"),
    [
        (32, 32, 256, Box(1, 8, 32)),
        (16, 16, 128, Box(1, 8, 16)),
        (8, 8, 256, Box(4, 8, 8)),  # several images
        (28, 28, 128, Box(1, 4, 32)),  # 28 rows are seven times 4; each stands out by four columns
        (7, 7, 128, Box(16, 1, 8)),  # no even number of rows
        (5, 128, 128, Box(1, 1, 128)),
    ],
)
def test_a_box_has_its_pixels_and_rows_that_divide_the_image(height, width, pixels, expected):
    box = box_of(height, width, pixels)
    assert box == expected
    assert box.images * box.rows * box.width == pixels
    assert height % box.rows == 0


@pytest.mark.parametrize(("height", "width"), [(4, 129), (4, 300), (4, 100)])
def test_there_is_no_box_where_a_row_is_too_long(height, width):
    assert (box_of(height, width, 128) is None) == (width > 128)


def test_boxes_cover_all_images():
    assert Box(4, 8, 8).cover(images=9, height=8) == 3
    assert Box(1, 4, 32).cover(images=9, height=28) == 63


def test_a_cpu_has_no_accelerator():
    assert not readable(torch.zeros(2, 16))
