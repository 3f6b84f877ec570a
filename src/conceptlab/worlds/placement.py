"""Placing objects one after another so that none clashes with those before it.

Every scene is drawn with as many objects as the world can hold and then cut to the number asked for. Scenes of few
and of many objects are therefore equally crowded around each object, and a scene of K + 1 objects is the scene of K
with one more: what a model is asked for beyond its training is new only in the number of conditions and, where sizes
vary, in that the last places have room for small objects more often than for large ones.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from conceptlab import random
from conceptlab.errors import InputError

Objects = dict[str, Tensor]
"""Properties of objects, each (scenes, objects, …)."""

CANDIDATES = 64
ATTEMPTS = 200
# Scenes tried together at least, by device: where few are left, several attempts at each are made at once, since a try
# at a few scenes takes as long as one at so many.
_TOGETHER = {"cpu": 16, "cuda": 1024}


def arrange(
    keys: Tensor,
    most: int,
    propose: Callable[[Tensor, Tensor], Objects],
    clash: Callable[[Objects, Objects], Tensor],
) -> Objects:
    """Scenes of `most` objects, each a function of its own key alone: keys (n, 2) → properties (n, most, …).

    `propose(keys, scenes)` gives candidates for one object of each of these scenes, (r, candidates, …);
    `clash(candidates, placed)` says which of them cannot stand beside the objects placed so far, (r, candidates).
    The first that can is taken. Where none can, the whole scene is drawn again.
    """
    left = torch.arange(len(keys), device=keys.device)
    together = max(len(keys), _TOGETHER.get(keys.device.type, 1))
    found: Objects = {}
    made = 0
    while made < ATTEMPTS:
        attempts = min(ATTEMPTS - made, max(1, together // max(1, len(left))))
        number = made + torch.arange(attempts, device=keys.device).repeat(len(left))
        scenes = left.repeat_interleave(attempts)
        objects, whole = _try(random.fold(keys[scenes], number), scenes, most, propose, clash)
        if not found:
            found = {
                name: torch.zeros(len(keys), *part.shape[1:], dtype=part.dtype, device=keys.device)
                for name, part in objects.items()
            }
        whole = whole.view(-1, attempts)
        done, first = whole.any(1), whole.to(torch.uint8).argmax(1)  # the first attempt that came out whole
        taken = (torch.arange(len(left), device=keys.device) * attempts + first)[done]
        for name, part in objects.items():
            found[name][left[done]] = part[taken]
        left = left[~done]
        made += attempts
        if len(left) == 0:
            return found
    raise InputError(
        f"{most} objects do not fit into one scene: {len(left)} of {len(keys)} scenes are left after {ATTEMPTS} "
        "attempts; ask for fewer objects, or for smaller ones"
    )


def _try(
    keys: Tensor,
    scenes: Tensor,
    most: int,
    propose: Callable[[Tensor, Tensor], Objects],
    clash: Callable[[Objects, Objects], Tensor],
) -> tuple[Objects, Tensor]:
    """One attempt at every scene, and which scenes came out whole."""
    placed: Objects = {}
    row = torch.arange(len(keys), device=keys.device)
    whole = torch.ones_like(row, dtype=torch.bool)
    for number in range(most):
        candidates = propose(random.fold(keys, number), scenes)
        fits = ~clash(candidates, placed)
        chosen = fits.to(torch.uint8).argmax(1)  # the first that fits
        whole &= fits.any(1)
        taken = {name: part[row, chosen][:, None] for name, part in candidates.items()}
        placed = {
            name: torch.cat((placed[name], part), 1) if placed else part for name, part in taken.items()
        }
    return placed, whole
