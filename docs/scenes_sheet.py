"""Makes docs/images/scenes.png: `python docs/scenes_sheet.py`, less than a minute on a CPU.

Scenes of 0 to 12 objects in order, plain and with their exact centres, at 64×64; and some at 128×128.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from conceptlab import figures
from conceptlab.worlds import Samples, Scenes

PAGE = Path(__file__).parent / "images" / "scenes.png"
LARGE = (3, 12)
COLUMNS = 7


def eight_bits(sample: Samples) -> np.ndarray:
    return np.rint(255 * sample.images.numpy()).astype(np.uint8)


def marked(ax: Axes, world: Scenes, found: list[Samples], row: int) -> None:
    """A small ring around the centre of every object, on one row of a strip: what it stands for stays in sight."""
    side, gap = world.resolution, max(1, round(world.resolution / 16))
    for column, sample in enumerate(found):
        centres = sample.factors["centres"][0, : int(sample.factors["count"][0])] - 0.5
        x, y = column * (side + gap) + centres[:, 0], row * (side + gap) + centres[:, 1]
        ax.plot(x, y, "o", ms=2.0, mfc="none", mec="black", mew=1.1)
        ax.plot(x, y, "o", ms=2.0, mfc="none", mec="white", mew=0.5)


@figures.house()
def draw() -> figures.Page:
    page = figures.figure(columns=2, height=6.6)
    upper, first, second = page.subplots(3, 1, height_ratios=(2, 2, 2))
    large, small = Scenes(resolution=128), Scenes()
    figures.panel(upper, "a", "128×128")
    sheet = np.stack([eight_bits(large.sample((count,), COLUMNS, seed=0)) for count in LARGE])
    figures.strip(
        upper, sheet, [f"{count} object{'s' * (count > 1)}" for count in LARGE], [""] * COLUMNS, xlabel=""
    )
    found = [small.sample((count,), 1, seed=count) for count in range(small.most + 1)]
    figures.panel(first, "b", "64×64, plain and with exact centres")
    for ax, part in ((first, found[:COLUMNS]), (second, found[COLUMNS:])):
        pictures = np.concatenate([eight_bits(sample) for sample in part])
        # The second line has one picture less: an empty tile keeps both equally large.
        blank = np.full((COLUMNS - len(part), *pictures.shape[1:]), 255, dtype=np.uint8)
        tiles = np.concatenate([pictures, blank])
        names = [str(int(sample.factors["count"][0])) for sample in part]
        figures.strip(
            ax, np.stack([tiles, tiles]), ["plain", "centres"], names + [""] * len(blank), xlabel="objects"
        )  # fmt: skip
        marked(ax, small, part, row=1)
    return page


if __name__ == "__main__":
    draw().savefig(PAGE)
    print(PAGE)
