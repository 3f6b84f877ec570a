"""How many members of a cohort a GPU holds, and what to do when that was too many."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Sequence

import torch

from conceptlab.errors import InputError
from conceptlab.recipe import Recipe
from conceptlab.training.cost import member_bytes

LOG = logging.getLogger(__name__)

# Members at once unless said otherwise: more gain little speed, and a crash would cost them all.
MOST = 32

# Of the free memory: graphs, the compiler and evaluation need the rest.
SHARE = 0.7


def free_bytes(device: torch.device) -> float:
    """Free memory of a GPU; a CPU trains members one by one and needs no limit."""
    return torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else float("inf")


def fitting(recipes: Sequence[Recipe], free: float, most: int = MOST) -> list[list[Recipe]]:
    """Recipes that can train together, cut into cohorts of about one size that fit into so much memory."""
    largest = max(1, int(min(most, SHARE * free / max(map(member_bytes, recipes)))))
    count = -(-len(recipes) // largest)
    size, longer = divmod(len(recipes), count)
    ends = [(i + 1) * size + min(i + 1, longer) for i in range(count)]
    return [list(recipes[begin:end]) for begin, end in zip([0, *ends], ends)]


def halving(group: list[Recipe], train: Callable[[list[Recipe]], None]) -> None:
    """Train a cohort; where the GPU has no room for it, one half after the other. Nothing done is done again."""
    try:
        train(group)
        return
    except torch.cuda.OutOfMemoryError:
        if len(group) == 1:
            raise InputError(
                "one model alone does not fit into the GPU's free memory; free some, or give a smaller batch, "
                "e.g. --set batch=32"
            ) from None
        LOG.warning("out of memory with %d members at once; going on with half as many", len(group))
    # Outside the handler: its traceback would keep the cohort alive.
    gc.collect()
    torch.cuda.empty_cache()
    middle = len(group) // 2
    halving(group[:middle], train)
    halving(group[middle:], train)
