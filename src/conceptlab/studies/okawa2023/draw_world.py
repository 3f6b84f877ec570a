"""Figures 2, 3, 4 and 11: the task, the concept graph and example images. Drawn from the world, without training."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from conceptlab import figures
from conceptlab.concepts import Class, ConceptSpace, Split, concept_graph
from conceptlab.studies.okawa2023.settings import FOUR, MINIMAL, SETTINGS
from conceptlab.studies.study import Results, Scale, Tables
from conceptlab.worlds import Shapes, World
from conceptlab.worlds import build as build_world

_SEED = 5
"""Of the example images; nothing else depends on it."""


def cube(scale: Scale) -> tuple[World, Split]:
    """The world of three variables at a scale, and §3.1's training set."""
    world = build_world(**SETTINGS[scale].recipe.world)
    return world, Split(world.space, dict.fromkeys(MINIMAL, SETTINGS[scale].images))


def tesseract(scale: Scale) -> tuple[World, Split]:
    """The world of four variables at a scale, and Figure 16's training set."""
    world = build_world(**SETTINGS[scale].four["world"])
    return world, Split(world.space, dict.fromkeys(FOUR, SETTINGS[scale].images))


def class_tables(results: Results) -> dict[str, pd.DataFrame]:
    return {"classes": pd.DataFrame(_classes(*cube(results.scale)))}


def graph_tables(results: Results) -> dict[str, pd.DataFrame]:
    """Nodes with their distance from training, and edges with the variable they alter, for three and four variables."""
    nodes, edges = [], []
    for world, split in (cube(results.scale), tesseract(results.scale)):
        space, names = world.space, {"variables": len(world.space.names)}
        nodes += [{**names, **row} for row in _classes(world, split)]
        for a, b, altered in concept_graph(space, split).edges(data="variable"):
            edges.append({**names, "start": space.code(a), "end": space.code(b), "altered": altered})
    return {"nodes": pd.DataFrame(nodes), "edges": pd.DataFrame(edges)}


def _classes(world: World, split: Split) -> list[dict[str, object]]:
    space = world.space
    return [
        {
            "class": space.code(c),
            "name": space.words(c),
            "distance": split.distance(c),
            "training": c in split.train,
        }
        for c in space
    ]


def examples(world: World, cls: Class, n: int, seed: int = _SEED) -> np.ndarray:
    """Images of a class as they are looked at, 8 bits."""
    images = world.sample(cls, n, seed).images.numpy()
    return world.on_paper((images * 255).round().astype(np.uint8))


def mean_example(world: World, cls: Class) -> np.ndarray:
    """A class at the mean of everything that varies within it."""
    assert isinstance(world, Shapes)
    return examples(replace(world, size_jitter=0.0, colour_jitter=0.0, location=0.0, angle=0.0), cls, 1)[0]


@figures.house()
def draw_fig2(results: Results, tables: Tables) -> Picture:
    """(a) tuples and images of the training classes, (b) pairs that differ in one element, (c) tuples never seen."""
    world, split = cube(results.scale)
    space = world.space
    page = figures.figure(columns=2, height=2.5)
    axes = page.subplots(1, 3, width_ratios=(4, 2.6, 4))
    figures.panel(axes[0], "a", "Training: images with tuples")
    _rows(axes[0], world, split, split.train, 4)
    figures.panel(axes[1], "b", "One element altered")
    centre = split.train[0]
    pairs = [cls for cls in split.train if space.distance(cls, centre) == 1]
    # Both at their means: everything that is not altered stays the same.
    images = [np.stack([mean_example(world, c) for c in (centre, other)]) for other in pairs]
    names = [_altered(space, centre, other) for other in pairs]
    figures.strip(axes[1], np.stack(images), names, ["from", "to"], xlabel="")
    figures.panel(axes[2], "c", "Test: tuples never seen")
    _rows(axes[2], world, split, split.held_out, 4)
    figures.caption(
        page,
        f"Digits: {space.order}. In c the images that the model should draw; it is given the tuples alone.",
    )
    return page


def _altered(space: ConceptSpace, a: Class, b: Class) -> str:
    return next(name for name, x, y in zip(space.names, a, b) if x != y)


def _rows(ax: Axes, world: World, split: Split, classes: tuple[Class, ...], n: int) -> None:
    space = world.space
    images = np.stack([examples(world, cls, n, _SEED + place) for place, cls in enumerate(classes)])
    colours = [figures.distance_colour(split.distance(cls)) for cls in classes]
    figures.strip(ax, images, [space.code(c) for c in classes], [""] * n, row_colours=colours, xlabel="")


@figures.house()
def draw_fig3(results: Results, tables: Tables) -> Picture:
    """(a) classes as nodes with an image each, (b) objects of one class: what its free variables leave open."""
    world, split = cube(results.scale)
    space = world.space
    page = figures.figure(columns=2, height=3.1)
    left, right = page.subplots(1, 2, width_ratios=(1, 1.2))
    figures.panel(left, "a", "Concept graph")
    pictures = {cls: figures.thumbnail(mean_example(world, cls)) for cls in space}
    figures.draw_graph(left, space, split, thumbnails=pictures)
    figures.panel(right, "b", "Objects of class 001")
    right.set_anchor("NW")
    figures.contact_sheet(right, examples(world, space.parse("001"), 24), columns=6)
    names = ["location" if variable.name in ("x", "y") else variable.name for variable in space.free]
    free = ", ".join(dict.fromkeys(names)) or "none"
    figures.caption(
        page,
        f"Digits: {space.order}. a: classes at their means; frames: distance from training (blue: seen). b: free are "
        f"{free}, and the jitter of size and colour. 001 is a large blue circle; the paper's caption calls it small.",
    )
    return page


@figures.house()
def draw_fig4(results: Results, tables: Tables) -> Picture:
    """The lattices of three and of four variables, classes coloured by their distance from training."""
    page = figures.figure(columns=2, height=3.3)
    axes = page.subplots(1, 2, width_ratios=(1, 1.35))
    parts = (("a", "Three variables", cube), ("b", "Four variables", tesseract))
    for ax, (letter, title, make) in zip(axes, parts):
        world, split = make(results.scale)
        figures.panel(ax, letter, title)
        figures.draw_graph(ax, world.space, split)
    order = tesseract(results.scale)[0].space.order
    names = ", ".join(
        f"{figures.distance_name(d)} {c}" for d, c in enumerate(("blue", "yellow", "red", "purple"))
    )
    figures.caption(
        page,
        f"Digits in b: {order}; a leaves out the last. Edges join classes at distance 1. Colours: {names}.",
    )
    return page


@figures.house()
def draw_fig11(results: Results, tables: Tables) -> Picture:
    """Example images of every class with its tuple."""
    world, _ = cube(results.scale)
    space = world.space
    page = figures.figure(columns=2, height=1.9)
    axes = page.subplots(1, 2)
    for ax, classes in zip(axes, (space.classes[:4], space.classes[4:])):
        images = np.stack([examples(world, cls, 8, _SEED + space.classes.index(cls)) for cls in classes])
        names = [f"{space.code(cls)}  {space.words(cls)}" for cls in classes]
        figures.strip(ax, images, names, [""] * 8, xlabel="")
    figures.caption(page, f"Digits: {space.order}. Images as the model is trained on them.")
    return page
