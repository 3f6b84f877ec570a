"""Figures 1 and 19: what SIM is, and the images it abstracts from. Drawn from real draws, not by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.offsetbox import AnnotationBbox, OffsetImage

from conceptlab import figures
from conceptlab.figures.style import MUTED
from conceptlab.studies.study import Figure, Results, Tables
from conceptlab.studies.yang2025 import drawing
from conceptlab.theory import Sim
from conceptlab.worlds import Circles, concept_signal

_SIM = Sim((1.0, 2.0), (0.25, 0.12))
_POINTS = 150
_SEPARATIONS = (0.2, 0.4, 0.6, 0.8)
_PAIRS = 32
_TRAINED = ("00", "01", "10")


def _sim_tables(results: Results) -> dict[str, pd.DataFrame]:
    """Drawn training points and the centres, with the strengths a_p that decide the speed of learning."""
    points, clusters = _SIM.draw(_POINTS, seed=0)
    drawn = pd.DataFrame({"x1": points[:, 0], "x2": points[:, 1], "cluster": clusters + 1})
    strengths = {"concept": [1, 2], "mu": _SIM.mu, "sigma": _SIM.sigma, "a": _SIM.strengths.numpy()}
    return {"points": drawn, "strengths": pd.DataFrame(strengths)}


@figures.house()
def _draw_sim(results: Results, tables: Tables) -> Picture:
    page = figures.figure(columns=2, height=2.7)
    left, right = page.subplots(1, 2, width_ratios=(1.1, 1))
    figures.panel(left, "a", "Structured identity mapping")
    points = tables["points"]
    for cluster, rows in points.groupby("cluster", sort=True):
        number = int(str(cluster))
        left.scatter(rows["x1"], rows["x2"], s=4, lw=0, alpha=0.6, color=drawing.CONCEPTS[number - 1])
    drawing.concept_plane(left, _SIM.mu, name=False)
    left.set(xlabel="concept 1", ylabel="concept 2")
    left.annotate("$x_b$: never seen", _SIM.mu, (6, 5), textcoords="offset points")
    left.annotate("train: µ₁", (1.0, 0), (0, 22), textcoords="offset points", ha="center")
    left.annotate("train: µ₂", (0, 2.0), (0, -32), textcoords="offset points", ha="center")
    left.set(xlim=(-0.8, 1.8), ylim=(-0.5, 2.6))
    figures.panel(right, "b", "What decides the speed: a = σ² + µ²/s")
    strengths = tables["strengths"]
    means = strengths["mu"] ** 2 / len(strengths)
    bars = right.bar(strengths["concept"], means, width=0.5, color=drawing.CONCEPTS[:2])
    right.bar(strengths["concept"], strengths["sigma"] ** 2, bottom=means, width=0.5, color=MUTED)
    right.bar_label(bars, [f"a = {a:.3f}" for a in strengths["a"]], padding=6, fontsize=7)
    right.set_xticks([1, 2], ["concept 1", "concept 2"])
    right.set(ylim=(0, 1.2 * float(strengths["a"].max())), ylabel="strength a")
    figures.caption(
        page,
        "The network learns to copy its input from clusters on the axes and is tested where all concepts meet. Both "
        "clusters vary by σ₁ along concept 1 and by σ₂ along concept 2. b: the part of µ in colour, that of σ in grey.",
    )
    return page


def _image_tables(results: Results) -> dict[str, pd.DataFrame]:
    """Concept signal of colour and size over separations of the colours: what mu stands for in images."""
    rows = []
    for separation in _SEPARATIONS:
        world = Circles(colour_separation=separation)
        for concept in ("colour", "size"):
            signal = concept_signal(world, concept, n=_PAIRS)
            rows.append({"separation": separation, "concept": concept, "signal": signal.value})
    return {"signal": pd.DataFrame(rows)}


@figures.house()
def _draw_images(results: Results, tables: Tables) -> Picture:
    page = figures.figure(columns=2, height=3.0)
    left, right = page.subplots(1, 2, width_ratios=(1, 1.1))
    figures.panel(left, "a", "Concepts make images")
    _square(left)
    figures.panel(right, "b", "Concept signal, the µ² of images")
    colours = figures.variable_colours(["colour", "size"])
    for name, rows in tables["signal"].groupby("concept", sort=True):
        right.plot(
            rows["separation"], rows["signal"], "o-", color=colours[str(name)], ms=3.5, label=str(name)
        )
    right.set(xlabel="separation of the two colours", ylabel="mean squared pixel difference", ylim=(0, None))
    drawing.key(right, loc="upper left")
    figures.caption(
        page,
        "Images of park2024's circles: class = (colour, size) and free location and background; three classes are "
        "trained on, the fourth is the composition.",
    )
    return page


def _square(ax: Axes) -> None:
    world = Circles(colour_separation=0.6)
    where = {"00": (0, 0), "01": (0, 1), "10": (1, 0), "11": (1, 1)}
    for a, b in (("00", "01"), ("00", "10"), ("01", "11"), ("10", "11")):
        ax.plot(*zip(where[a], where[b]), color=MUTED, lw=0.8, zorder=1)
    for code, place in where.items():
        cls = tuple(int(digit) for digit in code)
        image = world.sample(cls, 1, seed=3).images[0]
        picture = figures.thumbnail(np.rint(255 * image.numpy()).astype(np.uint8))
        seen = code in _TRAINED
        colour = figures.distance_colour(0 if seen else 2)
        frame = {"edgecolor": colour, "linewidth": 1.6, "boxstyle": "square,pad=0.1"}
        ax.add_artist(
            AnnotationBbox(OffsetImage(picture, zoom=1.25, interpolation="nearest"), place, bboxprops=frame)
        )
        side = -1 if place[0] == 0 else 1  # outside the square, clear of its edges
        ax.annotate(
            f"{code}\n{'train' if seen else 'test'}",
            place,
            (34 * side, 0),
            textcoords="offset points",
            ha="right" if side < 0 else "left",
            va="center",
            color=colour,
        )
    ax.set(xlim=(-0.7, 1.7), ylim=(-0.55, 1.4))
    ax.axis("off")


FIGURES = (
    Figure(
        id="fig1",
        title="The SIM task",
        shows="training clusters on the concept axes, the composition no cluster contains, and the strengths a_p",
        tables=_sim_tables,
        draw=_draw_sim,
    ),
    Figure(
        id="fig19",
        title="The images behind SIM",
        shows="how concepts make images, which classes are trained on, and the concept signal that mu² stands for",
        tables=_image_tables,
        draw=_draw_images,
    ),
)
