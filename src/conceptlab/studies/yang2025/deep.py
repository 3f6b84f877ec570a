"""Figures 3 and 13–16: deep linear networks trained by SGD, and the way their output takes to the composition."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd

from conceptlab.studies.study import Figure, Results
from conceptlab.studies.yang2025.deep_figures import draw_dimensions, draw_three_layers
from conceptlab.studies.yang2025.networks import Run, loss_table, output_table, swing_table
from conceptlab.studies.yang2025.settings import LEVEL, SIGMA, SIZES, Size
from conceptlab.studies.yang2025.swing_claims import FIG3
from conceptlab.theory import Sim, find_swings, one_layer, ood_loss, symmetric

_MU = (1.0, 2.0)
_DEPTHS = (1, 2, 4)
_SMALL_START = 0.01
_RECORDS = 16  # an epoch: in low dimension a swing is over in one or two
_THREE_LAYER_MU = ((1.0, 2.0), (2.0, 4.0))
_WIDE = 0.5  # clusters wide enough for a cut at ½·min mu to remove something


def _run(dimension: str, depth: int, size: Size) -> Run:
    """The paper's high-dimensional network (rotated, lr .1) or its low one (d = 2, hidden 4, lr .01)."""
    if dimension == "high":
        sim = Sim(_MU, SIGMA, d=size.d, rotation=0)
        return Run(sim, depth, size.d, 0.1, size.samples, size.epochs, records=_RECORDS)
    return Run(Sim(_MU, SIGMA), depth, 4, 0.01, size.samples, size.epochs, records=_RECORDS)


def _dimension_tables(results: Results) -> dict[str, pd.DataFrame]:
    size, seeds = SIZES[results.scale], results.seeds
    paths, losses, swings = [], [], []
    for dimension in ("high", "low"):
        for depth in _DEPTHS:
            run = _run(dimension, depth, size)
            trained = run.train(seeds)
            labels = {"dimension": dimension, "d": run.sim.dimension, "depth": depth}
            paths.append(output_table(run, trained, seeds).assign(**labels))
            losses.append(loss_table(run, trained, seeds).assign(**labels))
            swings.append(swing_table(trained, seeds, LEVEL).assign(**labels))
    joined = _joined(paths=paths, losses=losses, swings=swings)
    return {**joined, "one_layer": one_layer_swings(range(size.starts))}


def _joined(**parts: list[pd.DataFrame]) -> dict[str, pd.DataFrame]:
    return {name: pd.concat(found, ignore_index=True) for name, found in parts.items()}


def one_layer_swings(seeds: Sequence[int], dimensions: Sequence[int] = (2, 8)) -> pd.DataFrame:
    """Which of many small starts of one layer swing, by the closed form: `seed`, `d`, `swings`."""
    parts = []
    for d in dimensions:
        sim = Sim(_MU, SIGMA, d=d)
        w0 = symmetric.gaussian_start(_SMALL_START, d, seeds)
        weakest = float(sim.strengths[: sim.s].min())
        path = one_layer.flow(sim.strengths, w0, np.linspace(0, 8 / weakest, 100).tolist())
        curves = ood_loss(path, sim.composition()).T
        found = find_swings(curves / curves[:, :1], LEVEL)
        parts.append(pd.DataFrame({"seed": list(seeds), "d": d, "swings": found.swings_by}))
    return pd.concat(parts, ignore_index=True)


def _three_layer_tables(results: Results, *, cut: bool) -> dict[str, pd.DataFrame]:
    """Three layers, d = hidden = 3, unrotated; with `cut`, wide clusters whole and cut off at ½·min mu."""
    size, seeds = SIZES[results.scale], results.seeds
    paths, losses, swings = [], [], []
    for mu in _THREE_LAYER_MU:
        for radius in (None, min(mu) / 2) if cut else (None,):
            sim = Sim(mu, _WIDE if cut else SIGMA, d=3, radius=radius)
            run = Run(sim, 3, 3, 0.01, size.samples, size.epochs, records=_RECORDS)
            trained = run.train(seeds, probes=sim.centres)
            labels = {"mu1": mu[0], "mu2": mu[1], "cut": radius is not None}
            for probe, point in enumerate(("composition", "centre 1", "centre 2")):
                paths.append(output_table(run, trained, seeds, probe).assign(point=point, **labels))
            losses.append(loss_table(run, trained, seeds).assign(**labels))
            swings.append(swing_table(trained, seeds, LEVEL).assign(**labels))
    return _joined(paths=paths, losses=losses, swings=swings)


def _three_layers(id_: str, title: str, *, cut: bool, centres: bool) -> Figure:
    return Figure(
        id=id_,
        title=title,
        shows="output at the composition"
        + (" and at the training centres" if centres else "")
        + " and OOD loss for mu = (1, 2) and (2, 4)"
        + (", training clusters whole and cut off at half the smallest mu" if cut else ""),
        tables=partial(_three_layer_tables, cut=cut),
        draw=draw_three_layers(centres=centres, sigma=_WIDE if cut else SIGMA),
    )


FIGURES = (
    Figure(
        id="fig3",
        title="Deep networks swing by the training clusters",
        shows="output at the composition and OOD loss of four-layer networks in high and low dimension; how many "
        "seeds swing at each depth",
        tables=_dimension_tables,
        draw=draw_dimensions,
        claims=FIG3,
    ),
    _three_layers("fig13", "Three layers in three dimensions", cut=False, centres=False),
    _three_layers("fig14", "Three layers, with training centres", cut=False, centres=True),
    _three_layers("fig15", "Three layers on truncated clusters", cut=True, centres=False),
    _three_layers(
        "fig16", "Three layers on truncated clusters, with training centres", cut=True, centres=True
    ),
)
