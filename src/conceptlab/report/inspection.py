"""The page of `conceptlab inspect`: what a labelled image set can and cannot teach, in one HTML file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import conceptlab
from conceptlab import figures
from conceptlab.concepts import Class, Split
from conceptlab.figures.style import ink_on
from conceptlab.report.embed import pixels_uri
from conceptlab.report.page import environment
from conceptlab.store.files import write_text
from conceptlab.worlds import Folder
from conceptlab.worlds.inspection import Inspection
from conceptlab.worlds.labelled import load

# Beyond this many classes a graph cannot be read, and the table says it all.
_MOST_DRAWN = 48
_MOST_ROWS, _MOST_PAIRS = 200, 12
_COVERED = (
    "every combination is at distance 1 or less, and every value is seen beside another with all else equal"
)
_SURE = 3
"""A signal of fewer standard errors than this is doubted. Of labels given at random nine in ten stay below."""


def inspection_page(found: Inspection, path: Path, command: str, notes: Sequence[str] = ()) -> Path:
    """Write the page; `command` trains on these data, `notes` are what was decided when they were opened."""
    page = (
        environment()
        .get_template("inspection.html.jinja")
        .render(
            version=conceptlab.__version__,
            title=_title(Path(found.world.where)),
            found=found,
            graph=_graph(found),
            sentences=[*sentences(found), *(f"{note[:1].upper()}{note[1:]}." for note in notes)],
            classes=_classes(found),
            hidden=max(0, len(found.classes) - _MOST_ROWS),
            variables=_variables(found),
            pairs=_pairs(found),
            pairs_text=_pairs_text(found),
            advice=[_named(found, cls) for cls in found.advice.classes],
            command=command,
        )
    )
    write_text(path, page)
    return path


def _title(where: Path) -> str:
    """A table is told by its folder, too."""
    return where.name if where.is_dir() else "/".join(where.parts[-2:])


def sentences(found: Inspection) -> list[str]:
    """What matters most, in words."""
    space, classes = found.world.space, found.classes
    present, total = int((classes["count"] > 0).sum()), len(classes)
    told = [f"{found.images} images show {present} of the {total} combinations of {space.order[1:-1]}."]
    if isinstance(found.world, Folder) and found.world.unnamed:
        names = " ".join(["NAME"] * len(found.world.folders))
        told.append(f"Labels are read from names of folders; name the variables with --folders {names}.")
    if found.left_out:
        more = "image belongs" if found.left_out == 1 else "images belong"
        told.append(f"{found.left_out} more {more} to no class, with a value that is not among those chosen.")
    if present < total:
        furthest = int(classes["distance"].max())
        at = "distance 1 from the data" if furthest == 1 else f"distance up to {furthest} from the data"
        are = "combination is" if total - present == 1 else "combinations are"
        told.append(f"{total - present} {are} missing, at {at}.")
    lost = found.variables.loc[~found.variables["alone"], "variable"].tolist()
    for name in lost:
        told.append(
            f"{name} never varies alone: no two classes differ in {name} and nothing else, so a model can tie it to "
            "what comes with it and still fit every image."
        )
    measured = found.variables.dropna(subset=["strength"]).sort_values("rank")
    if len(space.concepts) == 1:
        told.append(f"{space.names[0]} is the only variable, and nothing can be composed of one.")
    elif len(measured):
        order = ", then ".join(measured["variable"])
        last = f"the bottleneck is {found.bottleneck}"
        told.append(f"Expected order of learning: {order}; {last}.")
    for _, row in found.variables[found.variables["signal"] < _SURE * found.variables["error"]].iterrows():
        told.append(
            f"{row['variable']} hardly shows: across its values images differ about as much as within a class (signal "
            f"{row['signal']:.2g} ± {row['error']:.2g}). Its labels may be wrong, or too subtle for this measure."
        )
    if found.advice.classes:
        codes = ", ".join(space.code(cls) for cls in found.advice.classes)
        least = "no fewer will do" if found.advice.proven else "fewer might do"
        told.append(f"Collect {codes}: then {_COVERED} ({least}).")
    else:
        # A class with an image or two is there, and yet more of it is asked for.
        rest = (
            "collect only more images of classes with too few"
            if found.world.too_few()
            else "nothing to collect"
        )
        told.append(f"{_COVERED.capitalize()}: {rest}.")
    if len(found.duplicates.pairs):
        disagree = f"{len(found.duplicates.conflicts)} with labels that disagree"
        told.append(f"{_pairs_text(found)} equal or nearly so, {disagree}{_cut_text(found)}.")
    return told


def _cut_text(found: Inspection) -> str:
    """The widest is shown: it tells whether all lie near their cut, where nothing is wrong, or some do not."""
    cut = found.duplicates.cut
    if cut.empty:
        return ""
    widest = cut.sort_values("gap").iloc[-1]
    pair = f"{widest['first']} and {widest['second']}, {widest['numbers']}"
    return f", {len(cut)} with numbers on both sides of a cut (furthest apart: {pair})"


def _pairs_text(found: Inspection) -> str:
    count = len(found.duplicates.pairs)
    return "One pair of images is" if count == 1 else f"{count} pairs of images are"


def _graph(found: Inspection) -> str | None:
    space = found.world.space
    if len(space) > _MOST_DRAWN:
        return None
    counts = {cls: n for cls, n in found.world.counts().items() if n}
    with figures.house():
        page = figures.figure(columns=2, height=4.6)
        ax = page.add_subplot()
        pictures = {cls: figures.thumbnail(_example(found, cls)) for cls in counts}
        split = Split(space, counts)
        figures.draw_graph(ax, space, split, thumbnails=pictures)
        for cls, place in figures.page_positions(space).items():
            if cls not in counts:
                distance = split.distance(cls)
                ax.plot(
                    *place, "o", ms=9, mew=2, mfc="white", mec=figures.distance_colour(distance), zorder=5
                )
    return _drawn(page)


def _drawn(page: figures.Page) -> str:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    with figures.house():
        page.set_dpi(200)
        canvas = FigureCanvasAgg(page)
        canvas.draw()
        pixels = np.asarray(canvas.buffer_rgba())[..., :3]
    return pixels_uri(_trimmed(np.ascontiguousarray(pixels)), exact=True)


def _trimmed(pixels: np.ndarray, margin: int = 24) -> np.ndarray:
    """Without the white around it."""
    inked = np.argwhere((pixels < 250).any(-1))
    (top, left), (bottom, right) = inked.min(0), inked.max(0)
    height, width = pixels.shape[:2]
    return np.ascontiguousarray(
        pixels[
            max(0, top - margin) : min(height, bottom + margin),
            max(0, left - margin) : min(width, right + margin),
        ]
    )


def _example(found: Inspection, cls: Class) -> np.ndarray:
    """The image nearest to the mean of its class, out of the first fifty, as it is looked at: (C, H, W)."""
    loaded, place = load(found.world), found.world.space.classes.index(cls)
    rows = loaded.order[loaded.starts[place] : loaded.starts[place + 1]][:50]
    pixels = np.asarray(loaded.pixels[rows], dtype=np.float32)
    nearest = ((pixels - pixels.mean(0)) ** 2).mean((1, 2, 3)).argmin()
    return found.world.on_paper(loaded.pixels[rows[nearest]])


def _classes(found: Inspection) -> list[dict[str, Any]]:
    most = found.classes["count"].max()
    rows = found.classes.sort_values(["distance", "effort", "class"]).head(_MOST_ROWS)
    return [
        {
            **_named(found, found.world.space.parse(row["class"])),
            "count": int(row["count"]),
            "bar": round(100 * row["count"] / most, 1),
            "share": f"{row['share']:.1%}",
            "distance": figures.distance_name(int(row["distance"])) if row["distance"] else "in the data",
            "effort": "–"
            if row["count"]
            else "cannot be told"
            if math.isinf(row["effort"])
            else f"{row['effort']:.2f}",
            "few": 0 < row["count"] < 3,
        }
        for _, row in rows.iterrows()
    ]


def _named(found: Inspection, cls: Class) -> dict[str, Any]:
    """A class as it is shown: its code on its colour, its words, an example where there is one."""
    space = found.world.space
    row = found.classes.iloc[space.classes.index(cls)]
    colour = figures.distance_colour(int(row["distance"]))
    picture = pixels_uri(figures.thumbnail(_example(found, cls)), exact=True) if row["count"] else ""
    return {
        "code": space.code(cls),
        "words": space.words(cls),
        "colour": colour,
        "ink": ink_on(colour),
        "picture": picture,
    }


def _variables(found: Inspection) -> list[dict[str, Any]]:
    colours = figures.variable_colours(found.world.space.names)
    strongest = found.variables["signal"].max()
    shown = []
    for _, row in found.variables.sort_values("rank").iterrows():
        values = found.values[found.values["variable"] == row["variable"]]
        measured = math.isfinite(row["signal"])
        shown.append(
            {
                "name": row["variable"],
                "rank": int(row["rank"]),
                "alone": bool(row["alone"]),
                "colour": colours[row["variable"]],
                "signal": f"{row['signal']:.2g} ± {row['error']:.1g}" if measured else "cannot be measured",
                "bar": round(100 * max(0.0, row["signal"]) / strongest, 1)
                if measured and strongest > 0
                else 0,
                "within": f"{row['within']:.2g}" if measured else "–",
                "values": values.to_dict(orient="records"),
                "last": row["variable"] == found.bottleneck and len(found.variables) > 1,
            }
        )
    return shown


def _pairs(found: Inspection) -> list[dict[str, Any]]:
    """Equal images side by side, those to look at first."""
    loaded, space = load(found.world), found.world.space
    shown = []
    for _, row in found.duplicates.by_weight.head(_MOST_PAIRS).iterrows():
        images = [
            {
                "name": loaded.names[i],
                "words": space.words(tuple(loaded.labels[i])),
                "picture": pixels_uri(figures.thumbnail(found.world.on_paper(loaded.pixels[i])), exact=True),
            }
            for i in row["rows"]
        ]
        told = {name: row[name] for name in ("conflict", "numbers")}
        shown.append({"images": images, "difference": f"{row['difference']:.1f}", **told})
    return shown
