"""How large bradley2025 is at each scale, and what its figures share.

Three experiments. In the first all objects of a training image are labelled; in the second one of them, at random; the
third has the data of the second and a denoiser whose locality is enforced. All are trained on images of 1 … n objects
(`trained`) and asked for up to `most`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conceptlab.studies.study import Scale

PAPER = "bradley2025"

SEEDS = {"tiny": 2, "small": 3, "paper": 5}
TRAINED_SEEDS = {"paper": 3}
"""Of figures with members of their own: half an hour of one GPU. `--seeds 5` trains two more beside them."""

EXPERIMENTS = ("1", "2", "3")

COLOURS: dict[Scale, int] = {"tiny": 3, "small": 3, "paper": 8}
"""How many colours there are where they are told."""

TOLD_TRAINING: dict[Scale, dict[str, Any]] = {
    "tiny": {},
    "small": {
        "denoiser.channels": [32, 64],
        "process": {"name": "continuous", "gamma_min": -2.0, "gamma_max": 5.0},
        "optimiser.learning_rate": 3e-3,
        "steps": 1600,
    },
    "paper": {},
}
"""What `told` changes of experiment 1, for places as for colours. In the time that a CPU has, colours without places
are learned with this range of noise levels and not with the whole, and a network half as large makes more steps."""


@dataclass(frozen=True)
class Size:
    """How large the study is at one scale."""

    world: Mapping[str, Any]
    most: int  # the largest number of conditions asked for
    trained: tuple[int, ...]  # the largest number of objects in training, for each range
    sweep_trained: int  # the range at which the reach is varied
    reach: int  # of experiment 3, in cells
    reaches: tuple[int, ...]  # of the sweep; the last is the whole image
    images: int  # of one training set
    conditions: int  # for each K, at the last evaluation
    detector: Mapping[str, Any]
    unet: Mapping[str, Any]
    cells: Mapping[str, Any]
    training: Mapping[str, Any]


SIZES: dict[Scale, Size] = {
    "tiny": Size(
        world={"name": "discs", "resolution": 16, "cells": 4, "radius": 2.0, "gap": 2.0, "most": 5},
        most=5,
        trained=(3,),
        sweep_trained=3,
        reach=1,
        reaches=(0, 1, 3),
        images=60,
        conditions=8,
        detector={"name": "detector", "steps": 80, "images_per_class": 100},
        unet={
            "name": "grid_unet",
            "channels": [16, 32],
            "blocks_per_level": 1,
            "attention": [4, 2],
            "patch": 4,
        },
        cells={"name": "cells", "width": 16, "blocks": 3},
        training={"steps": 20, "batch": 8},
    ),
    "small": Size(
        world={"name": "discs"},
        most=12,
        trained=(3,),
        sweep_trained=3,
        reach=2,
        reaches=(0, 2, 7),
        images=6000,
        conditions=400,
        detector={"name": "detector", "steps": 500, "images_per_class": 200},
        unet={
            "name": "grid_unet",
            "channels": [48, 96],
            "blocks_per_level": 1,
            "attention": [8, 4],
            "patch": 4,
        },
        cells={"name": "cells", "width": 56},
        training={"steps": 2500, "batch": 32},
    ),
    "paper": Size(
        world={"name": "scenes"},
        most=12,
        trained=(1, 3, 5),
        sweep_trained=3,
        reach=2,
        reaches=(0, 1, 2, 4, 15),
        images=30_000,
        conditions=400,
        detector={"name": "detector", "steps": 3000, "batch": 256, "images_per_class": 1500},
        unet={"name": "grid_unet"},
        cells={"name": "cells"},
        training={"steps": 16_000, "batch": 128},
    ),
}
