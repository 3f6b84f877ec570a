"""What a run would do and about what it would cost, without doing any of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from conceptlab.evaluation import evaluation_flops
from conceptlab.executors.local import cohorts, cores, generations, pending
from conceptlab.executors.memory import MOST
from conceptlab.recipe import Recipe
from conceptlab.store import Store
from conceptlab.training.cost import RATE, training_flops, training_memory


@dataclass(frozen=True)
class Plan:
    """Counts and estimates; `seconds` is device time of all cohorts together, `lanes` how many run at once."""

    members: int
    done: int
    cohorts: int
    largest: int  # members of the largest cohort
    lanes: int
    model_steps: int
    training_flops: int
    evaluation_flops: int
    seconds: float
    memory: int  # bytes of the hungriest cohort

    @property
    def flops(self) -> int:
        return self.training_flops + self.evaluation_flops


def plan(
    recipes: Sequence[Recipe],
    store: Store,
    device: torch.device,
    free: float | None = None,
    at_once: int | None = None,
    most: int = MOST,
) -> Plan:
    """Thousands of members are planned in seconds: networks and prompts that they share are counted once. `free` bytes
    of a GPU and cohorts `at_once` are this machine's unless told; `most` members in a cohort."""
    todo = pending(recipes, store)
    groups = [group for generation in generations(todo) for group in cohorts(generation, device, free, most)]
    training = sum(training_flops(recipe) for recipe in todo)
    evaluation = sum(evaluation_flops(recipe) for recipe in todo)
    return Plan(
        members=len(recipes),
        # Members that others start from are trained too, though no figure shows them.
        done=len({recipe.hash for recipe in recipes} - {recipe.hash for recipe in todo}),
        cohorts=len(groups),
        largest=max((len(group) for group in groups), default=0),
        lanes=min(at_once or (cores() if device.type == "cpu" else 1), len(groups)),
        model_steps=sum(recipe.steps for recipe in todo),
        training_flops=training,
        evaluation_flops=evaluation,
        seconds=(training + evaluation) / RATE[device.type],
        memory=max((training_memory(group, device.type) for group in groups), default=0),
    )
