"""Figure 7: binary compositions of four concepts are learnt in topological order."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import torch
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure as Picture

from conceptlab import figures
from conceptlab.claims import SHARE, PerSeed
from conceptlab.figures.style import MUTED, RULE, ink_on
from conceptlab.studies.study import Figure, Results, Tables
from conceptlab.studies.yang2025 import drawing
from conceptlab.studies.yang2025.networks import Run
from conceptlab.studies.yang2025.settings import SIZES, claim_of
from conceptlab.theory import Sim, crossing_times

_MU = (1.0, 2.0, 3.0, 4.0)
_SIGMA = 0.5
_EPOCHS = (1, 3, 5)


def _subsets(s: int) -> list[tuple[int, ...]]:
    """All non-empty sets of concepts, small ones first."""
    return [chosen for size in range(1, s + 1) for chosen in itertools.combinations(range(s), size)]


def _code(chosen: Sequence[int]) -> str:
    return "".join("1" if p in chosen else "0" for p in range(len(_MU)))


def _tables(results: Results) -> dict[str, pd.DataFrame]:
    """`learnt`: how near each composition's output is to it; `times`: when all its concepts are half there."""
    size, seeds = SIZES[results.scale], results.seeds
    sim = Sim(_MU, _SIGMA, d=size.d, rotation=0)
    run = Run(sim, 1, size.d, 0.1, size.samples, 2 * max(_EPOCHS))
    subsets = _subsets(sim.s)
    trained = run.train(seeds, probes=torch.stack([sim.composition(chosen) for chosen in subsets]))
    epochs, predicted = run.epoch(trained), run.half_epochs()
    learnt, times = [], []
    for place, chosen in enumerate(subsets):
        outputs = trained.outputs[:, :, place + 1, : sim.s].double().numpy()
        target = np.array([_MU[p] if p in chosen else 0.0 for p in range(sim.s)])
        near = 1 - np.linalg.norm(outputs - target, axis=-1) / np.linalg.norm(target)
        concepts = (outputs[..., list(chosen)] / target[list(chosen)]).min(axis=-1)
        labels = {"class": _code(chosen), "concepts": len(chosen)}
        columns = {"epoch": np.repeat(epochs, len(seeds)), "seed": np.tile(np.asarray(seeds), len(epochs))}
        learnt.append(pd.DataFrame({**columns, "value": near.ravel(), **labels}))
        reached = crossing_times(epochs, concepts, 0.5)
        expected = max(predicted[p] for p in chosen)
        times.append(pd.DataFrame({"seed": list(seeds), "time": reached, "predicted": expected, **labels}))
    return {"learnt": pd.concat(learnt, ignore_index=True), "times": pd.concat(times, ignore_index=True)}


def _concordance(tables: Tables) -> PerSeed:
    """Of pairs of compositions with different weakest concepts, the share learnt in the predicted order.

    Not a rank correlation: compositions that share their weakest concept are predicted to tie, and their order is
    neither right nor wrong.
    """
    shares = {}
    for seed, rows in tables["times"].groupby("seed"):
        time, predicted = rows["time"].to_numpy(float), rows["predicted"].to_numpy(float)
        first, second = np.nonzero(predicted[:, None] < predicted[None, :] * (1 - 1e-9))
        shares[seed] = float((time[first] < time[second]).mean())
    return PerSeed.exact(shares)


_COMPARABLE = 105 - 28 - 6 - 1  # pairs of 15 compositions, less those that share concept 1, 2 or 3 as weakest

CLAIMS = (
    claim_of(
        "fig7.topological",
        statement="Compositions are learnt in topological order: each when the weakest of its concepts is.",
        statistic="of pairs of compositions with different weakest concepts, the share whose concepts are all half "
        "there in the order of the weakest",
        measure=_concordance,
        threshold=0.95,
        side="above",
        resolution=1 / _COMPARABLE,
        limits=SHARE,
    ),
)


@figures.house()
def _draw(results: Results, tables: Tables) -> Picture:
    page = figures.figure(columns=2, height=4.9)
    grid = page.add_gridspec(2, 2)
    mean = tables["learnt"].groupby(["epoch", "class"])["value"].mean()
    for place, epoch in enumerate(_EPOCHS):
        ax = page.add_subplot(grid[divmod(place, 2)])
        figures.panel(ax, "abc"[place], f"After {epoch} epoch{'s' if epoch > 1 else ''}")
        _lattice(ax, mean.xs(float(epoch), level="epoch"))
    ax = page.add_subplot(grid[1, 1])
    figures.panel(ax, "d", "Learnt with the weakest concept")
    _times(ax, tables["times"])
    figures.caption(
        page,
        f"One layer, µ = (1, 2, 3, 4), σ = .5, d = {SIZES[results.scale].d}; mean over {len(results.seeds)} seeds. "
        "Digits: which concepts a composition has; the lowest row is trained on. Numbers and shade: 1 - distance of "
        "the output from the composition over its length. d: time at which every concept is half there, per seed.",
    )
    return page


def _lattice(ax: Axes, values: pd.Series) -> None:
    places = {"0" * len(_MU): (0.0, 0.0)}
    for size in range(1, len(_MU) + 1):
        row = [_code(chosen) for chosen in _subsets(len(_MU)) if len(chosen) == size]
        places |= {code: (place - (len(row) - 1) / 2, float(size)) for place, code in enumerate(row)}
    del places["0" * len(_MU)]
    edges = [
        [places[a], places[b]]
        for a, b in itertools.permutations(places, 2)
        if sum(x != y for x, y in zip(a, b)) == 1 and a < b
    ]
    ax.add_collection(LineCollection(edges, colors=RULE, linewidths=0.6, zorder=1))
    shades = figures.setting_colours()
    for code, (x, y) in places.items():
        value = float(values[code])
        red, green, blue, _ = shades(np.clip(value, 0, 1))
        box = {"boxstyle": "round,pad=0.3", "fc": (red, green, blue), "ec": "white", "lw": 0.8}
        text = f"{code}\n{value:.2f}".replace("-0.00", "0.00")
        ax.text(
            x, y, text, ha="center", va="center", fontsize=6.2, color=ink_on((red, green, blue)), bbox=box
        )
    ax.set(xlim=(-3.1, 3.1), ylim=(0.55, len(_MU) + 0.45))
    ax.axis("off")


def _times(ax: Axes, times: pd.DataFrame) -> None:
    finite = times[np.isfinite(times["time"])]
    rng = np.random.default_rng(0)
    for concepts, rows in finite.groupby("concepts", sort=True):
        number = int(str(concepts))
        spread = np.exp(rng.uniform(-0.06, 0.06, len(rows)))  # points on one place would hide each other
        ax.scatter(
            rows["predicted"] * spread,
            rows["time"].clip(lower=0.05),
            s=9,
            lw=0,
            alpha=0.7,
            color=figures.distance_colour(number - 1),
            marker=figures.distance_marker(number - 1),
            label=f"{number}",
        )
    ends = np.array([times["predicted"].min() / 1.3, times["predicted"].max() * 1.3])
    ax.plot(ends, ends, color=MUTED, lw=0.9, ls=(0, (3, 2)), zorder=1)
    ax.set(xscale="log", yscale="log")
    ticks = [t for t in (0.1, 0.25, 0.5, 1, 2, 4, 8) if t < math.ceil(ends[1] * 2)]
    ax.set_xticks(ticks, [f"{t:g}" for t in ticks])
    ax.set_yticks(ticks, [f"{t:g}" for t in ticks])
    ax.minorticks_off()
    ax.set_xlim(*ends)
    ax.set(xlabel="predicted for the weakest concept (epochs)", ylabel="measured (epochs)")
    drawing.key(ax, title="concepts", title_fontsize=7, loc="upper left", ncols=2, columnspacing=0.6)


FIGURES = (
    Figure(
        id="fig7",
        title="Compositions are learnt in topological order",
        shows="how well all 15 compositions of four concepts are copied after 1, 3 and 5 epochs; their learning times",
        tables=_tables,
        draw=_draw,
        claims=CLAIMS,
    ),
)
