"""Directions of concepts inside a trained denoiser: the small network that ships with the package.

Its checkpoints are read as they lie there, so that `features` still trains nothing. One network is an illustration and
carries no claim; `across` asks the question of many.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from conceptlab.errors import InputError
from conceptlab.evaluation.feature_maps import Bottleneck, concept_features, pixels
from conceptlab.evaluation.locality import Level
from conceptlab.executors.draw import load_process
from conceptlab.measures import measured_cosines
from conceptlab.store import Member
from conceptlab.store.pretrained import SHIPPED

_WORLD = "circles"  # two variables, colour and size


def shipped_member() -> Member:
    """The shipped network of colour and size whose checkpoints ship too."""
    for path in sorted(SHIPPED.glob("members/*")):
        member = Member(path)
        if member.recipe.world["name"] == _WORLD and member.checkpoint_steps:
            return member
    raise InputError(f"{SHIPPED} holds no network of '{_WORLD}' with checkpoints; install the package again")


def learned_cosines(images: int, levels: Sequence[float]) -> pd.DataFrame:
    """Cosine of the directions of colour and size, from images of all classes one change away from 00.

    `space` (pixels, or bottleneck), `level` (-log SNR, NaN in pixels), `step` (0 in pixels, which do not learn),
    `cosine`, `seed` (of the network, which is one)."""
    member = shipped_member()
    world, recipe = member.world, member.recipe
    centre = (0,) * len(world.space.sizes)
    groups, base = concept_features(world, centre, pixels, images, seed=0)
    rows = [("pixels", float("nan"), 0, measured_cosines(groups, base)[0, 1])]
    process = load_process(member)
    for step in member.checkpoint_steps:
        network = member.model(step)
        for gamma in levels:
            level = Level(network, process, recipe.prediction, gamma)
            feature = Bottleneck(level, world.condition(centre), recipe.pixels)
            groups, base = concept_features(world, centre, feature, images, seed=0)
            rows.append(("bottleneck", gamma, step, measured_cosines(groups, base)[0, 1]))
    found = pd.DataFrame(rows, columns=["space", "level", "step", "cosine"])
    return found.assign(seed=recipe.seed)
