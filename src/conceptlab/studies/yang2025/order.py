"""Figures 2, 11 and 12: which concept is learnt first, in one layer, two layers and two layers with ReLU."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import pandas as pd
import torch

from conceptlab.studies.study import Figure, Results
from conceptlab.studies.yang2025.networks import Run, half_table, output_table
from conceptlab.studies.yang2025.order_claims import closed_form_claim, order_claims, rate_claim
from conceptlab.studies.yang2025.order_figures import draw_order
from conceptlab.studies.yang2025.settings import SIGMA, SIZES, Size
from conceptlab.theory import Sim, one_layer
from conceptlab.theory.networks import Activation

_RATE = 0.1
_DENSE = 10  # what is half learnt later than this is learnt slowly: one record an epoch is enough
_MU = ((1.0, 2.0), (2.0, 2.0), (3.0, 2.0))
_SIGMA_1 = (0.05, 0.1, 0.5, 1.0, 2.0)
_DEEP = 4


@dataclass(frozen=True)
class _Architecture:
    depth: int
    activation: Activation
    name: str


def _run(mu: tuple[float, float], sigma_1: float, size: Size, network: _Architecture) -> Run:
    sim = Sim(mu, (sigma_1, SIGMA), d=size.d, rotation=0)
    return Run(sim, network.depth, size.d, _RATE, size.samples, size.epochs, network.activation, dense=_DENSE)


def _order_tables(results: Results, network: _Architecture) -> dict[str, pd.DataFrame]:
    """`paths` of f(x_b) and half-learning times `half`, for the settings of panel `mu` and of panel `sigma`."""
    size, seeds = SIZES[results.scale], results.seeds
    wanted = [("mu", mu, SIGMA) for mu in _MU] + [("sigma", _MU[0], sigma) for sigma in _SIGMA_1]
    done: dict[tuple[tuple[float, float], float], tuple[pd.DataFrame, pd.DataFrame]] = {}
    paths, halves = [], []
    for panel, mu, sigma in wanted:
        if (mu, sigma) not in done:  # (1, 2) with sigma .05 belongs to both panels
            run = _run(mu, sigma, size, network)
            trained = run.train(seeds)
            done[mu, sigma] = output_table(run, trained, seeds), half_table(run, trained, seeds)
        labels = {"panel": panel, "mu1": mu[0], "mu2": mu[1], "sigma1": sigma}
        for tables, table in zip((paths, halves), done[mu, sigma], strict=True):
            tables.append(table.assign(**labels))
    return {"paths": pd.concat(paths, ignore_index=True), "half": pd.concat(halves, ignore_index=True)}


def _one_layer_tables(results: Results) -> dict[str, pd.DataFrame]:
    """Figure 2: the order in one layer, a four-layer network beside it, and the closed form against its simulation."""
    size, seeds = SIZES[results.scale], results.seeds
    run = Run(Sim(_MU[0], SIGMA, d=size.d, rotation=0), _DEEP, size.d, _RATE, size.samples, size.epochs)
    deep = output_table(run, run.train(seeds), seeds)
    return {**_order_tables(results, _ONE_LAYER), "deep": deep, "identity": closed_form_errors()}


def closed_form_errors(horizon: float = 20.0) -> pd.DataFrame:
    """Closed-form gradient descent against its simulation, and against gradient flow, for random starts.

    `error` is an identity and must be rounding; `discretisation` is what a finite rate costs and is only reported.
    """
    sim = Sim((1.0, 2.0, 3.0), (0.05, 0.5, 1.0), d=5, rotation=1)
    rows = []
    for case, rate in enumerate((0.1, 0.01, 0.001)):
        generator = torch.Generator().manual_seed(case)
        w0 = torch.randn(5, 5, generator=generator, dtype=torch.float64)
        steps = round(horizon / rate)
        simulated = one_layer.simulate(sim.second_moment, w0, rate, steps)
        exact = one_layer.descent(sim.second_moment, w0, rate, range(steps + 1))
        flow = one_layer.flow(sim.second_moment, w0, [rate * n for n in range(steps + 1)])
        error, gap = (float((simulated - other).abs().max()) for other in (exact, flow))
        rows.append({"case": case, "rate": rate, "error": error, "discretisation": gap})
    return pd.DataFrame(rows)


_ONE_LAYER = _Architecture(1, "linear", "one-layer linear network")
_TWO_LAYERS = _Architecture(2, "linear", "two-layer linear network")
_RELU = _Architecture(2, "relu", "two-layer ReLU network")


def _like_figure_2(id_: str, network: _Architecture) -> Figure:
    return Figure(
        id=id_,
        title=f"Order of learning in a {network.name}",
        shows="output at the composition over training, against signal strength and diversity; half-learning epochs",
        tables=partial(_order_tables, network=network),
        draw=draw_order(network.name),
        claims=order_claims(id_, network.name),
    )


FIGURES = (
    Figure(
        id="fig2",
        title="Signal strength and diversity set the order of learning",
        shows="one-layer outputs at the composition for three mu and five sigma; half-learning epochs against theory; "
        "a four-layer network",
        tables=_one_layer_tables,
        draw=draw_order(_ONE_LAYER.name),
        claims=(*order_claims("fig2", _ONE_LAYER.name), rate_claim("fig2"), closed_form_claim("fig2")),
    ),
    _like_figure_2("fig11", _TWO_LAYERS),
    _like_figure_2("fig12", _RELU),
)
