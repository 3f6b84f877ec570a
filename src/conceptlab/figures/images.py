"""Pictures of pictures: strips over training time, contact sheets, mean images. Pixels are never smoothed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from conceptlab.errors import InputError
from conceptlab.figures import style


def tiled(images: ArrayLike, gap: int = 1) -> np.ndarray:
    """Images (rows, columns, C, H, W), 8 bits, as one picture (height, width, 3) with gaps between the tiles.

    One channel becomes grey. What opacity does is known to the world alone: `world.on_paper` comes first.
    """
    tiles = np.asarray(images)
    if tiles.ndim != 5 or tiles.dtype != np.uint8 or tiles.shape[2] not in (1, 3):
        raise InputError(
            f"images of shape {tiles.shape} and type {tiles.dtype} cannot be tiled; give 8-bit "
            "(rows, columns, C, H, W) with 1 or 3 channels; lay 4 on paper first (world.on_paper)"
        )
    rows, columns, _, height, width = tiles.shape
    sheet = np.full((rows * (height + gap) - gap, columns * (width + gap) - gap, 3), 255, np.uint8)
    for row in range(rows):
        for column in range(columns):
            top, left = row * (height + gap), column * (width + gap)
            sheet[top : top + height, left : left + width] = tiles[row, column].transpose(1, 2, 0)
    return sheet


def strip(
    ax: Axes,
    images: ArrayLike,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    row_colours: Sequence[str] = (),
    column_colours: Sequence[str] = (),
    xlabel: str = "training step",
) -> None:
    """Images (rows, columns, C, H, W) with a label for each row and each column, those of classes in their colours."""
    height, width = np.shape(images)[3:]
    gap = max(1, round(height / 16))
    ax.imshow(tiled(images, gap), interpolation="nearest", aspect="equal")
    # A short strip stays below its title, at the left of its panel.
    ax.set_anchor("W")
    ax.set_yticks([i * (height + gap) + (height - 1) / 2 for i in range(len(rows))], rows)
    ax.set_xticks([i * (width + gap) + (width - 1) / 2 for i in range(len(columns))], columns)
    ax.tick_params(length=0, pad=3, labelsize=6.8)
    if len(columns) > 8 and not column_colours:
        ax.tick_params(axis="x", labelrotation=90, labelsize=6.2)
    coloured = [*zip(ax.get_yticklabels(), row_colours), *zip(ax.get_xticklabels(), column_colours)]
    for label, colour in coloured:
        label.set_bbox({"boxstyle": "round,pad=0.25", "fc": colour, "ec": "none"})
        label.set_color(style.ink_on(colour))
    ax.spines[:].set_visible(False)
    ax.set_xlabel(xlabel)


@style.house()
def labelled_sheet(images: ArrayLike, rows: Sequence[str], title: str) -> style.Page:
    """A page of images (rows, columns, C, H, W), 8 bits, with words for each row."""
    count, columns = np.shape(images)[:2]
    page = style.figure(columns=2, height=0.6 + 4.2 * count / max(columns, 8))
    ax = page.add_subplot()
    ax.set_title(style.plain(title))
    strip(ax, images, [style.plain(row) for row in rows], [""] * columns, xlabel="")
    return page


def contact_sheet(ax: Axes, images: ArrayLike, columns: int = 8) -> None:
    """Images (n, C, H, W) in rows of `columns`, the last row filled up with paper."""
    pictures = np.asarray(images)
    rows = -(-len(pictures) // columns)
    padded = np.full((rows * columns, *pictures.shape[1:]), 255, np.uint8)
    padded[: len(pictures)] = pictures
    gap = max(1, round(pictures.shape[2] / 16))
    sheet = tiled(padded.reshape(rows, columns, *pictures.shape[1:]), gap)
    ax.imshow(sheet, interpolation="nearest", aspect="equal")
    ax.axis("off")


def mean_image(images: ArrayLike) -> np.ndarray:
    """The mean of 8-bit images (n, C, H, W): what a class looks like where its images agree."""
    return np.rint(np.asarray(images, dtype=float).mean(axis=0)).astype(np.uint8)


def thumbnail(image: ArrayLike) -> np.ndarray:
    """One image (C, H, W), 8 bits, as (H, W, 3)."""
    return tiled(np.asarray(image)[None, None])
