"""`features`: where conditions are at right angles, and what that does and does not say.

CPC in a feature space implies that conditions move its mean at right angles (an identity). Pixels fail this where one
condition is everywhere, as light is; the right features pass. And passing proves nothing: a counterexample is drawn.
Beside these, what a trained network makes of two concepts at its bottleneck, while it learns them.
"""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from conceptlab.claims import Claim, PerSeed, Tables, difference, ratio
from conceptlab.measures import cosine_matrix, directions, measured_cosines, orthogonality
from conceptlab.studies.bradley2025.draw_features import draw_features
from conceptlab.studies.bradley2025.lights import (
    CONDITIONS,
    constancy,
    constancy_inverse,
    entangled,
    lit_scenes,
)
from conceptlab.studies.bradley2025.settings import PAPER
from conceptlab.studies.bradley2025.shipped import learned_cosines
from conceptlab.studies.study import Figure, Results, Scale
from conceptlab.theory import composed_score, energy_distance, flow_samples, random_cpc

_CASES: dict[Scale, int] = {"tiny": 3, "small": 12, "paper": 40}
_IMAGES: dict[Scale, int] = {"tiny": 200, "small": 1000, "paper": 1000}
_POINTS: dict[Scale, int] = {"tiny": 300, "small": 800, "paper": 1500}
_LEARNED: dict[Scale, tuple[int, tuple[float, ...]]] = {
    "tiny": (20, (-2.0,)),
    "small": (100, (-4.0, -2.0, 0.0)),
    "paper": (200, (-4.0, -2.0, 0.0)),
}
"""Images of a class, and noise levels (-log SNR), for the trained network."""
_SPACES = {"pixels": lambda images: images.clone(), "features": constancy}
_BACK = {"pixels": lambda means: means, "features": constancy_inverse}


def _tables(results: Results) -> dict[str, pd.DataFrame]:
    cases, images, points = (part[results.scale] for part in (_CASES, _IMAGES, _POINTS))
    pairs = [counterexample(seed, points) for seed in range(cases)]
    return {
        "cosines": pd.concat([cosines(seed, images) for seed in range(cases)], ignore_index=True),
        "scores": pd.concat([scores(seed, images) for seed in range(cases)], ignore_index=True),
        "pictures": pictures(images),
        "identity": pd.DataFrame([{"case": seed, "error": cpc_cosine(seed)} for seed in range(cases)]),
        "counterexample": pd.DataFrame(pairs),
        "points": shown_points(min(points, 400)),
        "learned": learned_cosines(*_LEARNED[results.scale]),
    }


def cosines(seed: int, n: int) -> pd.DataFrame:
    """`seed`, `space`, `first`, `second`, `cosine` of light and discs, in pixels and in features."""
    nothing, groups = _groups(seed, n)
    rows = []
    for space, feature in _SPACES.items():
        table = measured_cosines([feature(group) for group in groups], feature(nothing))
        for i, j in itertools.product(range(len(CONDITIONS)), repeat=2):
            rows.append((seed, space, CONDITIONS[i], CONDITIONS[j], table[i, j]))
    return pd.DataFrame(rows, columns=["seed", "space", "first", "second", "cosine"])


def scores(seed: int, n: int) -> pd.DataFrame:
    """`seed`, `space`, `orthogonality`, and `error`: root mean square distance from the truth of the mean image under
    all conditions, as the sum of their directions foretells it, over the same with no conditions at all."""
    nothing, groups = _groups(seed, n)
    truth = lit_scenes(CONDITIONS, n, seed)
    rows = []
    for space, feature in _SPACES.items():
        table = measured_cosines([feature(group) for group in groups], feature(nothing))
        wrong = _distance(_foretold(space, nothing, groups), truth)
        rows.append((seed, space, orthogonality(table), wrong / _distance(nothing.mean(0), truth)))
    return pd.DataFrame(rows, columns=["seed", "space", "orthogonality", "error"])


def pictures(n: int) -> pd.DataFrame:
    """Mean images as rows: `name`, `channel`, `row`, `column`, `value`."""
    nothing, groups = _groups(0, n)
    named = {"nothing": nothing.mean(0)}
    named |= {name: group.mean(0) for name, group in zip(CONDITIONS, groups)}
    named["all, truly"] = lit_scenes(CONDITIONS, n, 0).mean(0)
    for space in _SPACES:
        named[f"added in {space}"] = _foretold(space, nothing, groups)
    frames = []
    for name, image in named.items():
        channel, row, column = (axis.ravel() for axis in np.indices(image.shape))
        columns = {"channel": channel, "row": row, "column": column, "value": image.flatten().numpy()}
        frames.append(pd.DataFrame({"name": name, **columns}))
    return pd.concat(frames, ignore_index=True)


def _groups(seed: int, n: int) -> tuple[Tensor, list[Tensor]]:
    return lit_scenes((), n, seed), [lit_scenes((name,), n, seed) for name in CONDITIONS]


def _foretold(space: str, nothing: Tensor, groups: list[Tensor]) -> Tensor:
    """A⁻¹(μ_b + Σ d_i): conditions that nobody saw together, put together."""
    feature = _SPACES[space]
    moved = directions([feature(group) for group in groups], feature(nothing)).sum(0)
    mean = feature(nothing).mean(0)
    return _BACK[space](mean + torch.from_numpy(moved).to(mean).reshape(mean.shape))


def _distance(mean: Tensor, truth: Tensor) -> float:
    return float((mean - truth.mean(0)).square().mean().sqrt())


def cpc_cosine(seed: int) -> float:
    """The largest |cos_ij| of an exact CPC distribution, from its exact means."""
    cpc = random_cpc(seed)
    base = cpc.joint(()).mean
    moved = torch.stack([cpc.joint((j,)).mean - base for j in range(len(cpc.regions))])
    return float(np.abs(cosine_matrix(moved.numpy()) - np.eye(len(moved))).max())


def counterexample(seed: int, points: int) -> dict[str, float]:
    """One entangled pair and its CPC twin: `cosine` of exact means, and the energy distance of what composed scores
    sample from the truth, for both."""
    row: dict[str, float] = {"seed": seed}
    for name, split in (("entangled", 1.0), ("composing", 0.0)):
        world = entangled(seed, split)
        base = world.nothing.mean
        moved = torch.stack([world.first.mean - base, world.second.mean - base])
        row[f"cosine_{name}"] = float(cosine_matrix(moved.numpy())[0, 1])
        composed = composed_score(world.nothing, [world.first, world.second])
        drawn = flow_samples(composed, 2, points, seed)
        row[f"distance_{name}"] = energy_distance(drawn, world.both.draw(points, 0.0, seed + 1))
    return row


def shown_points(n: int) -> pd.DataFrame:
    """Points of the first counterexample: `kind` (nothing, first, second, both, composed), `x`, `y`."""
    world = entangled(0)
    drawn = {name: mixture.draw(n, 0.0, 0) for name, mixture in world._asdict().items()}
    drawn["composed"] = flow_samples(composed_score(world.nothing, [world.first, world.second]), 2, n, 0)
    frames = [pd.DataFrame({"kind": name, "x": x[:, 0], "y": x[:, 1]}) for name, x in drawn.items()]
    return pd.concat(frames, ignore_index=True)


# --- claims ---


def _by_space(tables: Tables, column: str, space: str) -> PerSeed:
    rows = tables["scores"]
    return PerSeed.exact(rows[rows["space"] == space].set_index("seed")[column])


def _entangled_distance(tables: Tables) -> PerSeed:
    """NaN where the pair is not orthogonal: then it is no counterexample."""
    rows = tables["counterexample"].set_index("seed")
    return PerSeed.exact(rows["distance_entangled"].where(rows["cosine_entangled"].abs() < 1e-10))


_claim = partial(Claim, paper=PAPER, figure="features")

CLAIMS = (
    _claim(
        id=f"{PAPER}.features.necessary",
        statement="Orthogonality is necessary: CPC makes the directions d_i of all conditions orthogonal.",
        statistic="largest |cos| between directions of exact CPC distributions",
        measure=lambda tables: PerSeed.exact(tables["identity"].set_index("case")["error"]),
        threshold=1e-10,
        side="below",
        kind="identity",
    ),
    _claim(
        id=f"{PAPER}.features.not-sufficient",
        statement="Orthogonality is not sufficient: conditions with orthogonal directions need not compose.",
        statistic="energy distance from the truth of composed samples, for pairs whose |cos| is below 1e-10",
        measure=_entangled_distance,
        threshold=0.01,
        side="above",
    ),
    _claim(
        id=f"{PAPER}.features.orthogonal",
        statement="Where a condition is everywhere, features are orthogonal that pixels are not: light and content.",
        statistic="orthogonality score in features minus that in pixels",
        measure=lambda tables: difference(
            _by_space(tables, "orthogonality", "features"), _by_space(tables, "orthogonality", "pixels")
        ),
        threshold=0.1,
        side="above",
    ),
    _claim(
        id=f"{PAPER}.features.compose",
        statement="There conditions compose in features and not in pixels.",
        statistic="error of the mean image foretold by adding directions, in pixels over that in features",
        measure=lambda tables: ratio(
            _by_space(tables, "error", "pixels"), _by_space(tables, "error", "features")
        ),
        threshold=2.0,
        side="above",
        transform="log",
    ),
)

FIGURES = (
    Figure(
        id="features",
        title="Orthogonal features",
        shows="light and content in pixels and in features, what adding directions foretells, a counterexample, and "
        "colour and size at the bottleneck of a trained network",
        tables=_tables,
        draw=draw_features,
        claims=CLAIMS,
    ),
)
