"""On a GPU the objective is compiled: its gradients must be those of the same arithmetic uncompiled, at full width.

Torch 2.11 compiled the local denoiser's norm, once written out by hand, into a gradient 500,000 times too large in
bfloat16, and only at its full width; small networks, single precision and CPUs showed nothing.
"""

from __future__ import annotations

import pytest
import torch

from conceptlab.recipe import Recipe
from conceptlab.studies.bradley2025.recipes import experiment
from conceptlab.studies.okawa2023 import STUDY as OKAWA2023
from conceptlab.studies.park2024.recipes import sweep
from conceptlab.training import Cohort
from conceptlab.training.accelerate import compiled

MEMBERS = 3


def _okawa2023(seeds: range) -> list[Recipe]:
    return list(OKAWA2023.figure("fig5").recipes("paper", seeds))


def _park2024(seeds: range) -> list[Recipe]:
    return [recipe for recipe in sweep("paper", seeds) if recipe.world["colour_separation"] == 0.1]


RECIPES = {
    "okawa2023": _okawa2023,
    "park2024": _park2024,
    "bradley2025, whole image": lambda seeds: [experiment("paper", "1", 3, seed) for seed in seeds],
    "bradley2025, local": lambda seeds: [experiment("paper", "3", 3, seed) for seed in seeds],
}


@pytest.mark.gpu
@pytest.mark.parametrize("name", RECIPES)
def test_compiled_gradients_are_those_of_the_same_arithmetic_uncompiled(name):
    recipes = RECIPES[name](range(MEMBERS))
    few = dict.fromkeys(recipes[0].train, 150)
    cohort = Cohort([recipe.with_settings({"train": few}) for recipe in recipes], "cuda")
    cohort.objective.train()
    # Some layers start at zero, and what lies before them would have no gradient.
    noise = torch.randn(cohort.weights.shape, generator=torch.Generator().manual_seed(0))
    cohort.weights += 0.02 * noise.to(cohort.device)
    keys, *batch = cohort._draw_batch()

    def gradients(losses, dtype: torch.dtype) -> dict[str, torch.Tensor]:
        cohort.dtype = dtype
        state = cohort._state(cohort.weights)
        leaves = [state[name].requires_grad_() for name in cohort.trained]
        found = torch.autograd.grad(losses(state, keys, *batch).sum(), leaves)
        return dict(zip(cohort.trained, (part.float() for part in found)))

    exact = gradients(cohort._member_losses, torch.float32)
    eager = gradients(cohort._member_losses, torch.bfloat16)
    fast = gradients(compiled(cohort._member_losses, cohort.device), torch.bfloat16)

    def error(found: dict[str, torch.Tensor], part: str) -> float:
        return ((found[part] - exact[part]).norm() / exact[part].norm().clamp(min=1e-12)).item()

    wrong = {part: error(fast, part) for part in exact if error(fast, part) > 3 * error(eager, part) + 0.02}
    assert not wrong
