"""`spread`: what a model composes hangs on how far images of one class differ.

Neither the paper nor its code says how widely sizes spread within "large" and "small". If they are two points, nothing
in training tells that a triangle may have any size but one; if they are ranges that nearly meet, size is something that
varies by itself. The figure varies that spread and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from conceptlab import figures
from conceptlab.claims import Claim, PerSeed, accuracy_resolution, difference, value_per_seed
from conceptlab.figures import Line
from conceptlab.recipe import Recipe
from conceptlab.studies.okawa2023.draw_order import seeds_of
from conceptlab.studies.okawa2023.recipes import vary
from conceptlab.studies.okawa2023.settings import PAPER, base, swept
from conceptlab.studies.okawa2023.signatures import signatures
from conceptlab.studies.okawa2023.tables import final, joint, labelled
from conceptlab.studies.study import Results, Scale, Tables

SPREADS: dict[Scale, tuple[float, ...]] = {
    "tiny": (0.0,),
    "small": (0.0, 0.04, 0.11),
    "paper": (0.0, 0.04, 0.07),
}
"""Half ranges of size within a class, beside the study's own, which is .08 at `small` and .10 at `paper`; large and
small lie .22 apart, and touch at .11."""

_NEW = ("110", "111")
"""Small triangles: of small objects training shows circles only, of triangles large ones."""
_LINES = {
    "011": Line("#9aa0a8", "011", "s"),
    "101": Line("#5c626b", "101", "^"),
    "110": Line("#D55E00", "110", "o"),
    "111": Line("#0072B2", "111", "D"),
}
_SHOWN = 6


def recipes(scale: Scale, seeds: Sequence[int]) -> list[Recipe]:
    found = base(scale, seeds)
    for spread in SPREADS[scale]:
        found += vary(swept(scale, seeds), {"world.size_jitter": spread})
    return found


def _label(recipe: Recipe) -> Mapping[str, Any]:
    return {"spread": float(recipe.world["size_jitter"])}


def tables(results: Results) -> dict[str, pd.DataFrame]:
    """`finals`: the final accuracy of every held-out class by spread."""
    last = joint(final(labelled(results, _label), ["seed", "spread"]))
    held_out = last[last["distance"] > 0]
    return {
        "finals": held_out[["seed", "spread", "class", "value"]].reset_index(drop=True),
        "signatures": signatures(results, _label),
    }


@figures.house()
def draw(results: Results, tables: Tables) -> Picture:
    """(a) final accuracy of classes never seen against the spread, (b) what the first seed draws of small triangles."""
    finals = tables["finals"]
    page = figures.figure(columns=2, height=2.6)
    left, right = page.subplots(1, 2, width_ratios=(1, 1.25))
    figures.panel(left, "a", "Classes never seen")
    figures.accuracy_axes(left)
    ends = []
    for name, line in _LINES.items():
        rows = figures.band(left, finals[finals["class"] == name], line, x="spread")
        if len(rows):
            ends.append((float(rows["mean"].iloc[-1]), line))
    left.set(xlabel="spread of sizes within a class (half range)", xlim=(-0.004, None))
    figures.name_ends(left, ends)
    figures.panel(right, "b", "Small triangles, red and blue")
    _samples(right, results)
    figures.caption(
        page, f"{seeds_of(finals)}. Large and small lie .22 apart: at .11 they touch. b: the first seed."
    )
    return page


def _samples(ax: Axes, results: Results) -> None:
    """A row for each spread: what the first seed draws of each new class."""
    members = sorted(results.members, key=lambda m: (m.recipe.seed, m.recipe.world["size_jitter"]))
    first = [member for member in members if member.recipe.seed == members[0].recipe.seed]
    rows, names = [], []
    for member in first:
        codes = [member.world.space.code(cls) for cls in member.world.space]
        sheet = member.samples()
        rows.append([image for code in _NEW for image in sheet[codes.index(code)][:_SHOWN].numpy()])
        names.append(f"± {member.recipe.world['size_jitter']:g}")
    figures.strip(ax, rows, names, [""] * len(rows[0]), xlabel="")


def _composes(tables: Tables) -> PerSeed:
    """Final accuracy of small triangles, where sizes spread most less where they spread least."""
    new = tables["finals"][tables["finals"]["class"].isin(_NEW)]
    widest, narrowest = (new[new["spread"] == limit] for limit in (new["spread"].max(), new["spread"].min()))
    return difference(value_per_seed(widest), value_per_seed(narrowest))


CLAIMS = (
    Claim(
        f"{PAPER}.spread.composes",
        PAPER,
        "spread",
        "A model composes more where sizes spread until classes nearly touch than where each class has one size.",
        "final accuracy of small triangles: widest spread less none",
        measure=_composes,
        threshold=0.0,
        side="above",
        resolution=math.sqrt(2) * accuracy_resolution(0.5, 400),  # a difference of two shares
    ),
)
