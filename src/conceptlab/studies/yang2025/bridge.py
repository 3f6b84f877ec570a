"""Figure 6: the bridge to diffusion models. Swing-by in concept space, on the members of park2024's sweep.

The concept MSE of a class is its mean squared distance from its own corner of concept space; class 11 is never seen.
It is non-monotone if it rises again, after it has fallen, by more than the curve's own noise (`theory.noise_level`:
what white noise on a smooth curve passes rarely). Only what comes after the model has begun to draw counts, when half
of the images of every training class are right: a probe takes blots for some class or other. Speed is how far the class
moves through concept space in a twentieth of training: always over as many steps, since evaluations are closer early in
training, when networks of large signal draw, and noise over fewer steps looks like speed.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from conceptlab.claims import NoData, PerSeed, Tables, correlation, difference, value_per_seed
from conceptlab.studies.park2024.recipes import TARGET, sweep
from conceptlab.studies.park2024.tables import curves, drawing_from, signal_of, signals
from conceptlab.studies.study import Figure, Results
from conceptlab.studies.yang2025.bridge_figures import draw_bridge
from conceptlab.studies.yang2025.settings import MEMBER_SEEDS, claim_of
from conceptlab.theory import noise_level, swing_size

_LEAST_POINTS = 8  # below this the noise of a curve cannot be told
_SPAN = 1 / 20  # of training: what a speed is measured over


def _tables(results: Results) -> dict[str, pd.DataFrame]:
    paths = concept_paths(curves(results))
    signal = signal_of(signals(results.members))
    swings = swing_table(paths)
    return {
        "paths": paths,
        "swings": swings.assign(signal=swings["separation"].map(signal)),
    }


def concept_paths(rows: pd.DataFrame) -> pd.DataFrame:
    """Class 11 over training: `separation`, `seed`, `step`, `colour`, `size`, `mse`, and whether the model `draws` by
    then."""
    chosen = rows[(rows["measure"] == "coordinate") & (rows["class"] == TARGET) & (rows["hidden"] == 0)]
    wide = chosen.pivot_table(index=["separation", "seed", "step"], columns="variable", values="value")
    wide = wide[["colour", "size"]].reset_index().rename_axis(columns=None)
    corner = np.array([float(digit) for digit in TARGET])
    wide["mse"] = ((wide[["colour", "size"]].to_numpy() - corner) ** 2).mean(axis=1)
    runs = rows[rows["hidden"] == 0].groupby(["separation", "seed"])
    since = {key: drawing_from(run) for key, run in runs}
    begun = [since[key] for key in zip(wide["separation"], wide["seed"])]
    return wide.assign(draws=wide["step"] >= begun)


def swing_table(paths: pd.DataFrame) -> pd.DataFrame:
    """A row for each separation and seed: `swing` (the largest rise that was not there before), the `noise` level it
    must pass, whether it does (`swings`), and the largest `speed`. A run that hardly draws has no values."""
    rows = []
    for (separation, seed), path in paths.sort_values("step").groupby(["separation", "seed"]):
        drawn = path[path["draws"]]
        swing = noise = speed = np.nan
        if len(drawn) >= _LEAST_POINTS:
            curve = drawn["mse"].to_numpy()[None]
            swing, noise = float(swing_size(curve)[0]), float(noise_level(curve)[0])
            speed = _fastest(drawn, _SPAN * float(path["step"].max()))
        rows.append((separation, seed, swing, noise, swing > noise, speed))
    columns = ["separation", "seed", "swing", "noise", "swings", "speed"]
    return pd.DataFrame(rows, columns=columns)


def _fastest(drawn: pd.DataFrame, span: float) -> float:
    """The largest distance covered in `span` steps, for each step; NaN where the model draws for less."""
    steps, places = drawn["step"].to_numpy(float), drawn[["colour", "size"]].to_numpy(float).T
    within = steps - span >= steps[0]
    if not within.any():
        return float("nan")
    moved = [place[within] - np.interp(steps[within] - span, steps, place) for place in places]
    return float(np.hypot(*moved).max()) / span


# --- claims ---


def _half(tables: Tables, *, low: bool) -> pd.DataFrame:
    """The runs of the lower or of the upper half of the separations."""
    swings = tables["swings"]
    every = np.sort(swings["separation"].unique())
    if len(every) < 2:
        raise NoData("only one separation: no low and high signal to compare")
    chosen = every[: len(every) // 2] if low else every[-(len(every) // 2) :]
    return swings[swings["separation"].isin(chosen)]


def _excess(tables: Tables, *, low: bool) -> PerSeed:
    """A seed of which a run hardly draws is unknown: its other separations would be another number."""
    rows = _half(tables, low=low)
    return value_per_seed(rows.assign(value=rows["swing"] - rows["noise"]))


def _more_at_low(tables: Tables) -> PerSeed:
    """How much more the MSE rises at low signal, known between two ends. A curve's noise level is that of its calm
    part, which is most of it at high signal: taking it off counts too little at low signal. Rises as they are, in
    which noise is counted as rise, count too much."""
    low, high = (_half(tables, low=end).assign(value=lambda rows: rows["swing"]) for end in (True, False))
    as_they_are = difference(value_per_seed(low), value_per_seed(high))
    less_noise = difference(_excess(tables, low=True), _excess(tables, low=False))
    return PerSeed(
        less_noise.seeds,
        np.minimum(less_noise.low, as_they_are.low),
        np.maximum(less_noise.high, as_they_are.high),
    )


CLAIMS = (
    claim_of(
        "fig6.non-monotone",
        statement="In diffusion models the concept MSE of a class never seen is non-monotone at low signal.",
        statistic="rise of the concept MSE of 11 less the curve's noise level, mean over the lower half of separations",
        measure=lambda tables: _excess(tables, low=True),
        threshold=0.0,
        side="above",
    ),
    claim_of(
        "fig6.low-signal",
        statement="It rises more at low signal than at high signal.",
        statistic="rise of the concept MSE of 11, lower half of the separations minus upper half: between what is left "
        "less noise levels and rises as they are",
        measure=_more_at_low,
        threshold=0.0,
        side="above",
    ),
    claim_of(
        "fig6.speed",
        statement="Concepts are learnt faster the larger the signal.",
        statistic="rank correlation over separations of colour signal and the largest distance in a twentieth of "
        "training, within each seed",
        measure=lambda tables: correlation(tables["swings"], "signal", "speed"),
        threshold=0.0,
        side="above",
        transform="fisher",
        resolution=0.5,  # about 1/√(separations - 3)
    ),
)

FIGURES = (
    Figure(
        id="fig6",
        title="Swing-by in diffusion models",
        shows="paths of class 11 through concept space, its concept MSE over training, and speed against signal",
        tables=_tables,
        draw=draw_bridge,
        recipes=sweep,
        claims=CLAIMS,
        seeds=MEMBER_SEEDS,
    ),
)
