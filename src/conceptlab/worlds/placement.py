"""Placing objects one after another so that none clashes with those before it.

Every scene is drawn with as many objects as the world can hold and then cut to the number asked for. Scenes of few
and of many objects are therefore equally crowded around each object, and a scene of K + 1 objects is the scene of K
with one more: what a model is asked for beyond its training is new only in the number of conditions.
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
    found: Objects = {}
    for attempt in range(ATTEMPTS):
        scenes, whole = _try(random.fold(keys[left], attempt), left, most, propose, clash)
        if not found:
            found = {
                name: torch.zeros(len(keys), *part.shape[1:], dtype=part.dtype, device=keys.device)
                for name, part in scenes.items()
            }
        for name, part in scenes.items():
            found[name][left[whole]] = part[whole]
        left = left[~whole]
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
