"""Two worlds for `features`: one that composes in features and not in pixels, one that is orthogonal and entangled.

**Light × content.** Grey discs under a light that may be dim. In pixels the light is everywhere, so it lies across
whatever a disc does. Features that divide by the light at a corner, where no disc ever is, and take logarithms pull
the two apart: light moves three of them, discs move others. The map is invertible.

**Orthogonal, yet entangled.** Two conditions in a plane, each moving the mean along an axis of its own. The first also
splits the second one's axis into two modes around the same mean: no mean tells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from conceptlab import random
from conceptlab.theory import Mixture
from conceptlab.worlds import Discs

CONDITIONS = ("dim light", "disc left", "disc right")
SIDE = 16
_WORLD = Discs(resolution=SIDE, cells=4, most=2, radius=3.2)
_PLACES = {"disc left": (4.5, 8.0), "disc right": (11.5, 8.0)}
_DIM = 0.4


def lit_scenes(given: Sequence[str], n: int, seed: int) -> Tensor:
    """n images (n, 3, 16, 16) under some of the conditions. Light and places vary a little, independently."""
    key = random.key(seed, f"lights {sorted(given)}")
    bright, moved = random.uniform(random.fold(key, 0), (n,)), random.uniform(random.fold(key, 1), (n, 2, 2))
    discs = [name for name in _PLACES if name in given]
    centres = torch.tensor([_PLACES[name] for name in discs] + [(0.0, 0.0)] * (2 - len(discs)))
    factors = {
        "count": torch.full((n,), len(discs)),
        "centres": centres + 2 * moved - 1,
        "colour": torch.zeros(n, 2),
    }
    light = (_DIM if "dim light" in given else 1.0) * (0.9 + 0.2 * bright)
    return _WORLD.render(factors) * light[:, None, None, None]


def constancy(images: Tensor) -> Tensor:
    """A(x): logarithms relative to the first corner, and that corner's own logarithm in its place."""
    logs = images.log()
    corner = logs[..., :1, :1]
    relative = logs - corner
    relative[..., :1, :1] = corner
    return relative


def constancy_inverse(features: Tensor) -> Tensor:
    """A⁻¹(z)."""
    corner = features[..., :1, :1]
    logs = features + corner
    logs[..., :1, :1] = corner
    return logs.exp()


class Entangled(NamedTuple):
    """p(x | nothing), p(x | c_1), p(x | c_2) and the truth p(x | c_1, c_2), in a plane."""

    nothing: Mixture
    first: Mixture
    second: Mixture
    both: Mixture


def entangled(seed: int, split: float = 1.0) -> Entangled:
    """The second world, turned by a random angle. `split` is how far the first condition drives the second one's axis
    apart, as a share of what it is; 0 makes it CPC."""
    generator = torch.Generator().manual_seed(seed)
    a, b, half, angle = torch.rand(4, generator=generator, dtype=torch.float64).tolist()
    one, two, apart = 1.5 + a, 1.5 + b, split * (1.2 + 0.6 * half)
    turn = 2 * math.pi * angle
    rotation = torch.tensor(
        [[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]], dtype=torch.float64
    )

    def plane(shift_one: float, shift_two: float, halves: float) -> Mixture:
        points = torch.tensor(
            [[shift_one, shift_two - halves], [shift_one, shift_two + halves]], dtype=torch.float64
        )
        return Mixture(torch.full((2,), 0.5), points @ rotation.T, 0.09 * torch.eye(2).expand(2, 2, 2))

    return Entangled(plane(0, 0, 0), plane(one, 0, apart), plane(0, two, 0), plane(one, two, apart))
