"""The house style: one look, and one colour for one meaning, in every figure of the project.

Colours are told apart by readers with any colour vision (tested with simulated deficiencies), and no meaning rests
on colour alone: distances also have a marker, verdicts a symbol. Only fonts that ship with matplotlib are used, and
nothing touches pyplot: figures can be drawn in any thread or process.
"""

from __future__ import annotations

import math
import textwrap
import warnings
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.transforms import ScaledTranslation

INK = "#1a1c20"
_BLACK = "#101114"
MUTED = "#5c626b"
RULE = "#c9cdd3"
FIELD = "#eceef1"  # behind a range that is marked: what training had, what was never reached

# From blue (seen in training) through warm colours to dark: further is stranger. Okabe–Ito where it fits.
_DISTANCES = ("#0072B2", "#E69F00", "#D55E00", "#7A1F4F", "#161625", "#767676")
_DISTANCE_MARKERS = ("o", "s", "D", "^", "v", "P")
# Paul Tol's bright scheme, without its blue and grey, which mean "training" and "nothing in particular" here.
_CLASSES = ("#228833", "#EE6677", "#66CCEE", "#CCBB44", "#AA3377", "#4477AA", "#994F00", "#222255")
_VARIABLES = {
    "shape": "#009E73",
    "size": "#CC79A7",
    "colour": "#56B4E9",
    "background": "#8C6D31",
}
_OTHER_VARIABLES = ("#117733", "#882255", "#6699CC", "#999933", "#661100", "#AA4466")
_SEPARATION = "viridis"

VERDICT_SYMBOLS = {"reproduced": "✓", "not reproduced": "✗", "inconclusive": "?"}

ONE_COLUMN, TWO_COLUMNS = 3.4, 7.0
"""Widths in inches of one and of two columns of print."""

_RC: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 7.5,
    "axes.titlesize": 8.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 7,
    "axes.labelsize": 7.5,
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "xtick.major.size": 3,
    "ytick.major.size": 3,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "lines.linewidth": 1.6,
    "lines.markersize": 4,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "figure.dpi": 100,
    "savefig.dpi": 220,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    # Type 42 keeps text as text in PDFs; many venues refuse Type 3.
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
}


@contextmanager
def house() -> Iterator[None]:
    """The style as a context or as a decorator of a drawing function: `@house()`."""
    with mpl.rc_context(_RC), warnings.catch_warnings():  # pyright: ignore[reportArgumentType]
        # Names of one's own may have letters that the font lacks; a box stands for each, and tables show them.
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from", UserWarning)
        yield


class Page(Figure):
    """A figure that is also saved in the house style: matplotlib reads fonts and sizes as late as that."""

    def savefig(self, fname: Any, **options: Any) -> None:
        with house():
            super().savefig(fname, **options)
        # Laid out once: the layout takes most of the time, and PDF beside PNG has the same places.
        self.set_layout_engine("none")


def figure(columns: Literal[1, 2] = 2, height: float = 2.4) -> Page:
    """An empty figure as wide as one or two columns of print, laid out so that nothing overlaps."""
    with house():
        page = Page(figsize=(ONE_COLUMN if columns == 1 else TWO_COLUMNS, height), layout="constrained")
    engine = page.get_layout_engine()
    if engine is not None:
        engine.set(w_pad=0.06, h_pad=0.06, wspace=0.04, hspace=0.06)  # pyright: ignore[reportCallIssue]
    return page


def caption(fig: Figure, text: str) -> None:
    """A line under the whole figure; every figure says how many seeds it rests on and what its bands are."""
    size = 6.5
    # A letter is a little more than half as wide as it is high.
    letters = int(fig.get_figwidth() * 72 / (0.57 * size))
    fig.supxlabel(
        textwrap.fill(" ".join(text.split()), letters), x=0.008, ha="left", fontsize=size, color=MUTED
    )


def log_ticks(low: float, high: float, least: int = 3) -> list[float]:
    """Round numbers for a logarithmic axis from low to high, to be written plainly: 1, 2 and 5 times powers of ten, and
    more of them where these are fewer than `least`."""
    powers = [10.0**power for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
    found: list[float] = []
    for parts in ((1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 8)):
        found = [part * power for power in powers for part in parts if low <= part * power <= high]
        if len(found) >= least:
            return found
    return found


def plain(text: str, most: int | None = None) -> str:
    """A user's own words as a label that shows them as they are: between two dollars matplotlib reads formulas. With
    `most` letters they keep to their place: a label that is wider than the page leaves no room for what it names."""
    short = text if most is None or len(text) <= most else f"{text[: most - 1].rstrip()}…"
    return short.replace("$", r"\$")


def seeds_text(seeds: int, band: str = "± 1 standard deviation over seeds") -> str:
    """`4 seeds; band: ± 1 standard deviation over seeds`; one seed has no band. Without any band, `4 seeds`."""
    number = "1 seed" if seeds == 1 else f"{seeds} seeds"
    if not band:
        return number
    return f"{number}, no band" if seeds == 1 else f"{number}; band: {band}"


def panel(ax: Axes, letter: str, title: str) -> None:
    """`a  Accuracy by distance`, flush with the left edge of the panel's data."""
    ax.set_title(title)
    left = ax.transAxes + ScaledTranslation(-5.5 / 72, 7 / 72, ax.figure.dpi_scale_trans)
    ax.text(0, 1, letter, transform=left, fontsize=8.5, fontweight="bold", color=MUTED, ha="right")


def distance_colour(distance: int) -> str:
    """The colour of a concept distance from training; 0 is training itself. Beyond 5 all are grey."""
    return _DISTANCES[min(int(distance), len(_DISTANCES) - 1)]


def distance_marker(distance: int) -> str:
    return _DISTANCE_MARKERS[min(int(distance), len(_DISTANCE_MARKERS) - 1)]


def distance_name(distance: int) -> str:
    return "training" if distance == 0 else f"distance {distance}"


def class_colours(codes: Sequence[Hashable]) -> dict[Hashable, str]:
    """A colour for each class, by its place in the space: the same wherever the same space is drawn."""
    return {code: _CLASSES[place % len(_CLASSES)] for place, code in enumerate(codes)}


def variable_colours(names: Sequence[str]) -> dict[str, str]:
    """A colour for each variable; the common ones have the same in every world."""
    others = [name for name in names if name not in _VARIABLES]
    spare = {name: _OTHER_VARIABLES[i % len(_OTHER_VARIABLES)] for i, name in enumerate(others)}
    return {name: _VARIABLES.get(name) or spare[name] for name in names}


def setting_colours() -> Colormap:
    """The colours of a continuous setting, such as a separation between two values of a concept."""
    return mpl.colormaps[_SEPARATION].with_extremes(bad=MUTED)


def setting_colour(value: float, low: float, high: float) -> tuple[float, float, float]:
    """The colour of one value of a continuous setting that ranges from low to high."""
    share = (value - low) / (high - low) if high > low else 0.5
    # The brightest end of the map is too pale on white paper.
    red, green, blue, _ = setting_colours()(0.9 * share)
    return red, green, blue


def separation_colour(value: float) -> tuple[float, float, float]:
    """The colour of a separation between two values of a concept: the same in every figure, whatever was run beside
    it. The papers' range, up to .3, takes most of the map."""
    low, middle, high = 0.1, 0.3, 0.8
    share = (
        0.75 * (value - low) / (middle - low)
        if value < middle
        else 0.75 + 0.25 * (value - middle) / (high - middle)
    )
    return setting_colour(min(max(share, 0.0), 1.0), 0.0, 1.0)


def ink_on(colour: str | tuple[float, float, float]) -> str:
    """Nearly black or white, whichever reads better on a colour; on every colour of the house one has 4.5 : 1."""
    light = luminance(colour)
    return "white" if 1.05 / (light + 0.05) >= (light + 0.05) / (luminance(_BLACK) + 0.05) else _BLACK


def luminance(colour: str | tuple[float, float, float]) -> float:
    """Relative luminance as the WCAG defines it."""
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
