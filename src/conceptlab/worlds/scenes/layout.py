"""Scenes as CLEVR lays them out: solids on the ground, apart from each other, none hidden.

CLEVR keeps .25 between any two solids and .4 between their places to the left and right, and to the front and back,
as the camera sees them; a scene in which something is mostly hidden is thrown away. The .4 serve questions such as
"what is left of …", and twelve solids do not fit with it: here it is .1. What would hide something is decided before
rendering: in the picture, the circles around two solids do not overlap, and no two centres lie in one cell. All solids
lie within the picture.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from conceptlab import random
from conceptlab.worlds.placement import Objects, arrange
from conceptlab.worlds.scenes.camera import CAMERA, CAMERA_JITTER, LAMP_JITTER, LAMPS, Camera
from conceptlab.worlds.scenes.solids import SHAPES, half_height

MATERIALS = ("rubber", "metal")
SIZES = (0.7, 0.35)
FIELD = 3.0
"""Solids stand within ± this far of the origin."""
LEAST_DISTANCE = 0.25
MARGIN = 0.1
OUTLINES = (1.0, 1.1, 1.2)
"""The radius of the circle around a sphere, cube or cylinder in the picture, over its size. Corners reach out of it (a
cylinder's to 1.35): with whole outlines apart twelve solids seldom fit. In scenes of twelve one solid in a hundred
has more than 5 % of its pixels behind another, and none more than a fifth."""
LEAST_CELLS = 1.5
"""Centres in the picture are at least so many cells apart, and so never in one cell."""
CANDIDATES = 192
"""Places tried for each solid: in a crowded scene few are left."""
# Keys of a scene that are not keys of an attempt at it.
_CAMERA_KEY, _LAMP_KEY = 1 << 20, (1 << 20) + 1


def lay_out(keys: Tensor, most: int, colours: int, resolution: int, cells: int) -> Objects:
    """Scenes of `most` objects for keys (n, 2): everything that a renderer needs, and `centres` in pixels."""
    # Double precision: which candidate fits must not depend on the rounding of a device.
    position = _jittered(random.fold(keys, _CAMERA_KEY), (CAMERA,), CAMERA_JITTER)[:, 0]
    camera = Camera.at(position)

    def propose(drawn: Tensor, scenes: Tensor) -> Objects:
        own = Camera(camera.position[scenes], camera.axes[scenes])
        return _candidates(drawn, own, colours, resolution)

    objects = arrange(keys, most, propose, _clash(resolution, cells))
    lamps = _jittered(random.fold(keys, _LAMP_KEY), tuple(LAMPS.values()), LAMP_JITTER)
    kept = ("centres", "colour", "shape", "material", "size", "angle", "ground")
    return {**{name: objects[name] for name in kept}, "camera": position, "lamps": lamps}


def _jittered(keys: Tensor, places: tuple[tuple[float, float, float], ...], jitter: float) -> Tensor:
    """(n, places, 3)."""
    drawn = random.uniform(keys, (len(places), 3)).double() * 2 - 1
    return torch.tensor(places, dtype=torch.float64, device=keys.device) + jitter * drawn


def _candidates(keys: Tensor, camera: Camera, colours: int, resolution: int) -> Objects:
    """One solid for each scene, with candidates for where it stands and how it is turned."""
    drawn = random.uniform(random.fold(keys, 0), (4,)).double()
    spots = random.uniform(random.fold(keys, 1), (3, CANDIDATES)).double()
    n = len(keys)

    def choice(column: int, number: int) -> Tensor:
        return (drawn[:, column, None] * number).long().expand(n, CANDIDATES)

    shape, material, colour = choice(0, len(SHAPES)), choice(1, len(MATERIALS)), choice(2, colours)
    size = torch.tensor(SIZES, dtype=torch.float64, device=keys.device)[choice(3, len(SIZES))]
    ground = (spots[:, :2].mT * 2 - 1) * FIELD
    height = half_height(shape, size)
    centres, scale = camera.project(torch.cat((ground, height[..., None]), -1), resolution)
    return {
        "shape": shape,
        "material": material,
        "colour": colour,
        "size": size,
        "ground": ground,
        "angle": spots[:, 2] * 2 * math.pi,
        "centres": centres,
        "radius": size * scale * torch.tensor(OUTLINES, dtype=torch.float64, device=keys.device)[shape],
        "seen_along": torch.einsum("nij,ncj->nci", camera.flat, ground),
    }


def _clash(resolution: int, cells: int) -> Callable[[Objects, Objects], Tensor]:
    cell = resolution / cells

    def clash(new: Objects, placed: Objects) -> Tensor:
        centres, radius = new["centres"], new["radius"][..., None]
        outside = ((centres < radius) | (centres > resolution - radius)).any(-1)
        if not placed:
            return outside
        touching = _apart(new, placed, "ground") < LEAST_DISTANCE + _sum(new, placed, "size")
        aligned = (new["seen_along"][:, :, None] - placed["seen_along"][:, None]).abs().amin(-1) < MARGIN
        least = _sum(new, placed, "radius").clamp(min=LEAST_CELLS * cell)
        hidden = _apart(new, placed, "centres") < least
        return outside | (touching | aligned | hidden).any(-1)

    return clash


def _apart(new: Objects, placed: Objects, name: str) -> Tensor:
    return torch.cdist(new[name], placed[name])


def _sum(new: Objects, placed: Objects, name: str) -> Tensor:
    return new[name][:, :, None] + placed[name][:, None]
