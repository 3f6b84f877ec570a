"""What the figures of yang2025 are run with, and how large at each scale.

Captions and public scripts of the paper disagree in places. What is fixed here, for every figure:

- sigma is a standard deviation (the text), not a variance (the scripts), and there is no cluster at the origin;
- a learning rate belongs to a squared error **averaged** over the d coordinates. Only so do the published rates
  give the published epochs: lr .1 at d = 64 is a rate of .003125 on the summed loss of the theory;
- networks start as torch's linear layers do, with weights of variance 1/(3·fan-in);
- a swing counts if the OOD loss rises by more than 1 % of its starting value, unless a figure names another level.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from conceptlab.claims import Claim
from conceptlab.studies.study import Scale

PAPER = "yang2025"
SIGMA = 0.05
START = 1 / math.sqrt(3)
"""Initial scale of a network: the standard deviation of a weight times the root of its fan-in."""
LEVEL = 0.01
"""A rise counts above this share of the starting OOD loss."""
FINE_LEVEL = 1e-4
"""The level at which the paper's own UUᵀ examples (Figures 5, 8, 9) show their descents."""
BATCH = 128


@dataclass(frozen=True)
class Size:
    """How large a figure is: the high dimension, samples a cluster and epochs of trained networks; random starts
    of the symmetric network; random tasks of Figure 4."""

    d: int
    samples: int
    epochs: int
    starts: int
    tasks: int


SIZES: dict[Scale, Size] = {
    "tiny": Size(d=16, samples=1000, epochs=40, starts=40, tasks=12),
    "small": Size(d=64, samples=5000, epochs=40, starts=1000, tasks=200),
    "paper": Size(d=64, samples=5000, epochs=40, starts=1000, tasks=500),
}

SEEDS = {"tiny": 2, "small": 20, "paper": 100}
MEMBER_SEEDS: dict[str, int] = {"tiny": 2, "small": 4, "paper": 5}
"""Seeds of trained diffusion models, as many as park2024 has: theory is cheap, they are not."""


def claim_of(name: str, **settings: Any) -> Claim:
    """A claim of this paper; `name` begins with the figure's."""
    return Claim(f"{PAPER}.{name}", PAPER, name.partition(".")[0], **settings)


def starts_text(shown: int, count: int, rule: str) -> str:
    """How the start that is drawn was picked: never silently."""
    return f"Start {shown} of {count} random ones is drawn: {rule}"


def concept_names(numbers: Sequence[float]) -> str:
    """`(1, 1.5)`, as settings are named in titles and tables."""
    return "(" + ", ".join(f"{number:g}" for number in numbers) + ")"
