"""Boxes cover images, and say where they cannot."""

from __future__ import annotations

import pytest
import torch

from conceptlab.kernels.boxes import Box, box_of, readable


@pytest.mark.parametrize(
    ("images", "height", "width", "pixels", "expected"),
    [
        (64, 32, 32, 256, Box(1, 8, 32)),
        (64, 16, 16, 128, Box(1, 8, 16)),
        (64, 8, 8, 256, Box(4, 8, 8)),  # several images
        (64, 28, 28, 128, Box(8, 4, 4)),  # 28 is seven times 4
        (5, 28, 28, 128, Box(1, 4, 32)),  # too few images for that: each row stands out by four columns
        (144, 14, 14, 128, Box(32, 2, 2)),  # half of the last box stands out, less than a row of 16 would
        (64, 7, 7, 128, Box(16, 1, 8)),
        (1, 5, 128, 128, Box(1, 1, 128)),
    ],
)
def test_a_box_has_its_pixels_and_stands_out_least(images, height, width, pixels, expected):
    box = box_of(images, height, width, pixels)
    assert box is not None
    assert box.images * box.rows * box.width == pixels
    assert box == expected


def test_wide_images_are_cut():
    assert box_of(4, 4, 300, 128) == Box(2, 4, 16)


def test_boxes_cover_all_images():
    assert Box(4, 8, 8).cover(images=9, height=8, width=8) == 3
    assert Box(1, 4, 32).cover(images=9, height=28, width=28) == 63
    assert Box(8, 4, 4).cover(images=64, height=28, width=28) == 8 * 49


def test_a_cpu_has_no_accelerator():
    assert not readable(torch.zeros(2, 16))
