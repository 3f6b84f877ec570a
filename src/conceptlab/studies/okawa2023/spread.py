"""`spread` and `unseen`: what a model composes hangs on how far images of one class differ.

Neither the paper nor its code says how widely sizes and colours spread within a class. If "large" and "small" are two
points, nothing in training tells that a triangle may have any size but one; if they are ranges that nearly meet, size
is something that varies by itself. And a network that is told colours as numbers and saw them vary within red may carry
on to blue without ever having seen it. Each figure varies one spread and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from numpy.typing import NDArray

from conceptlab import figures
from conceptlab.claims import DIFFERENCE, PerSeed, accuracy_resolution, difference, value_per_seed
from conceptlab.figures import Line
from conceptlab.recipe import Recipe
from conceptlab.store import Member
from conceptlab.studies.okawa2023.claim_parts import claim_of
from conceptlab.studies.okawa2023.draw_order import seeds_of
from conceptlab.studies.okawa2023.recipes import samples_without, vary
from conceptlab.studies.okawa2023.settings import base, swept
from conceptlab.studies.okawa2023.signatures import signatures
from conceptlab.studies.okawa2023.tables import credited, final, joint, labelled
from conceptlab.studies.study import Results, Scale, Tables

_SHOWN = 12
"""As many drawings of a class as stand beside each other, of all spreads together."""


@dataclass(frozen=True)
class Sweep:
    """Members that differ in one half range of the world, beside those that have the study's own."""

    setting: str
    spreads: Mapping[Scale, tuple[float, ...]]
    own: Callable[[Scale, Sequence[int]], list[Recipe]]
    varied: Callable[[Scale, Sequence[int]], list[Recipe]]
    lines: Mapping[str, Line]
    drawn: tuple[str, str]
    """The classes that are shown, and that the claim is about."""
    titles: tuple[str, str]
    """Of the panels of all new classes, and of those that are shown."""
    xlabel: str
    caption: str

    def recipes(self, scale: Scale, seeds: Sequence[int]) -> list[Recipe]:
        found = self.own(scale, seeds)
        for spread in self.spreads[scale]:
            found += vary(self.varied(scale, seeds), {f"world.{self.setting}": spread})
        return found

    def tables(self, results: Results) -> dict[str, pd.DataFrame]:
        """`finals`: the final accuracy of classes never seen; `curves`: that of those shown, over training."""
        rows = labelled(results, self._label)
        last = joint(final(rows, ["seed", "spread"]))
        columns = ["seed", "spread", "class", "value"]
        own = joint(credited(rows, ["spread"]))
        return {
            "finals": last.loc[last["class"].isin(self.lines), columns].reset_index(drop=True),
            "curves": own.loc[own["class"].isin(self.drawn), [*columns, "step"]].reset_index(drop=True),
            "signatures": signatures(results, self._label),
        }

    @figures.house()
    def draw(self, results: Results, tables: Tables) -> Picture:
        """(a) final accuracy of classes never seen against the spread, (b) of two of them over training, (c) what the
        first seed draws of these."""
        finals, curves = tables["finals"], tables["curves"]
        page = figures.figure(columns=2, height=3.7)
        panels = page.subplot_mosaic([["a", "b"], ["c", "c"]], height_ratios=(1, 0.55))
        left, right = panels["a"], panels["b"]
        figures.panel(left, "a", self.titles[0])
        figures.accuracy_axes(left)
        classes = [(finals[finals["class"] == name], line) for name, line in self.lines.items()]
        ends = figures.bands(left, classes, x="spread")
        left.set(xlabel=self.xlabel, xlim=(-0.004, None))
        figures.name_ends(left, ends)
        figures.panel(right, "b", "When: the classes of c")
        figures.accuracy_axes(right)
        spreads = [(own, _line(spread, curves["spread"].max())) for spread, own in curves.groupby("spread")]
        figures.name_ends(right, figures.bands(right, spreads))
        figures.panel(panels["c"], "c", self.titles[1])
        self._samples(panels["c"], results)
        figures.caption(
            page, f"{seeds_of(finals)}. {self.caption} b: mean of both classes. c: the first seed."
        )
        return page

    def widens(self, tables: Tables) -> PerSeed:
        """Final accuracy of the classes that are shown, at the widest spread less that at the narrowest."""
        new = tables["finals"][tables["finals"]["class"].isin(self.drawn)]
        widest, narrowest = (new[new["spread"] == end] for end in (new["spread"].max(), new["spread"].min()))
        return difference(value_per_seed(widest), value_per_seed(narrowest))

    def _label(self, recipe: Recipe) -> Mapping[str, Any]:
        return {"spread": self._spread(recipe)}

    def _spread(self, recipe: Recipe) -> float:
        return float(recipe.world[self.setting])

    def _samples(self, ax: Axes, results: Results) -> None:
        """A row for each class, a group of columns for each spread: what the first seed draws."""
        first = min(member.recipe.seed for member in results.members)
        members = [member for member in results.members if member.recipe.seed == first]
        members.sort(key=lambda member: self._spread(member.recipe))
        groups = [self._drawn(member) for member in members]
        # Members that another figure left here may have kept fewer drawings.
        count = min(max(1, _SHOWN // len(groups)), *(group.shape[1] for group in groups))
        parting = np.full_like(groups[0][:, :1], 255)
        columns = [images for group in groups for images in (parting, group[:, :count])][1:]
        labels = [""] * (len(groups) * (count + 1) - 1)
        labels[(count - 1) // 2 :: count + 1] = [f"± {self._spread(member.recipe):g}" for member in members]
        figures.strip(ax, np.concatenate(columns, axis=1), self.drawn, labels, xlabel="")
        ax.tick_params(axis="x", labelrotation=0, labelsize=6.8)

    def _drawn(self, member: Member) -> NDArray[np.uint8]:
        """(classes shown, images, C, H, W)."""
        space = member.world.space
        codes = [space.code(cls) for cls in space]
        sheet = member.world.on_paper(member.samples().numpy())
        return np.stack([sheet[codes.index(code)] for code in self.drawn])


def _line(spread: Hashable, widest: float) -> Line:
    """How a curve looks by its spread."""
    own = float(str(spread))
    return Line(figures.setting_colour(own, 0, widest), f"± {own:g}")


_LINES = {
    "001": Line("#009E73", "001", "v"),
    "011": Line("#9aa0a8", "011", "s"),
    "101": Line("#5c626b", "101", "^"),
    "110": Line("#D55E00", "110", "o"),
    "111": Line("#0072B2", "111", "D"),
}

SIZES = Sweep(
    setting="size_jitter",
    # Beside the study's own, .08 at `small` and .10 at `paper`; large and small lie .22 apart, and touch at .11.
    spreads={"tiny": (0.0,), "small": (0.0, 0.04, 0.11), "paper": (0.0, 0.04, 0.07)},
    own=base,
    varied=swept,
    lines={name: _LINES[name] for name in ("011", "101", "110", "111")},
    # Of small objects training shows circles only, of triangles large ones.
    drawn=("110", "111"),
    titles=("Classes never seen", "Small triangles, red and blue"),
    xlabel="spread of sizes within a class (half range)",
    caption="Large and small lie .22 apart: at .11 they touch.",
)

COLOURS = Sweep(
    setting="colour_jitter",
    # Beside the study's own, .15 at `small` and .25 at `paper`, where red and blue lie .5 apart in two channels.
    spreads={"tiny": (0.0,), "small": (0.0, 0.05, 0.25), "paper": (0.0, 0.05, 0.1)},
    own=samples_without("001"),
    varied=samples_without("001"),
    lines={name: _LINES[name] for name in ("001", "011", "101", "111")},
    drawn=("001", "101"),
    titles=("Trained without any blue", "Large blue circles and triangles, as drawn"),
    xlabel="spread of colours within red (half range)",
    # So at both scales: .6 and .1, .75 and .25.
    caption="Training: 000, 100 and 010, all red. Red and blue lie .5 apart in two of three channels.",
)


_MORE: dict[str, Any] = {
    "threshold": 0.0,
    "side": "above",
    "resolution": math.sqrt(2) * accuracy_resolution(0.5, 400),
    "limits": DIFFERENCE,
}

CLAIMS = (
    claim_of(
        "spread", "composes",
        "A model composes more where sizes spread until classes nearly touch than where each class has one size.",
        "final accuracy of small triangles: widest spread less none", measure=SIZES.widens, **_MORE,
    ),
)  # fmt: skip
UNSEEN_CLAIMS = (
    claim_of(
        "unseen", "carries-on",
        "A model that saw red vary draws blue that it never saw; one that saw a single red does not.",
        "final accuracy of large blue objects without any blue in training: widest spread less none",
        measure=COLOURS.widens, **_MORE,
    ),
)  # fmt: skip
