"""On a GPU the objective is compiled: its gradients must be those of the same arithmetic uncompiled, at full width.

Torch 2.11 compiled the local denoiser's norm, once written out by hand, into a gradient 500,000 times too large in
bfloat16, and only at its full width; small networks, single precision and CPUs showed nothing.
"""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.func import functional_call

from conceptlab.recipe import Recipe
from conceptlab.studies.bradley2025.recipes import experiment
from conceptlab.studies.okawa2023 import STUDY as OKAWA2023
from conceptlab.studies.park2024.recipes import sweep
from conceptlab.training import Cohort
from conceptlab.training.accelerate import compiled
from conceptlab.worlds import ObjectWorld
from conceptlab.worlds import build as build_world

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


def _disturbed(values: Tensor, chosen: Tensor) -> Tensor:
    """Values (E, B, channels, H, W) far off wherever `chosen` (cells, cells) is, and as they were elsewhere."""
    size = values.shape[-1] // len(chosen)
    wide = chosen.repeat_interleave(size, 0).repeat_interleave(size, 1)
    return torch.where(wide, 100.0 * (1 + values), values)


def _sees_its_field_alone(recipes: list[Recipe], device: str) -> None:
    """Exactly no change of a cell when all pixels and conditions out of its field are others, and some when those at
    the rim of its field are; of several members at once, in their precision, compiled on a GPU."""
    few = dict.fromkeys(recipes[0].train, 4)
    cohort = Cohort([recipe.with_settings({"train": few}) for recipe in recipes], device)
    generator = torch.Generator().manual_seed(0)
    # Some layers start at zero, and nothing would pass them.
    cohort.weights += 0.05 * torch.randn(cohort.weights.shape, generator=generator).to(cohort.device)
    world, reach = build_world(**recipes[0].world), int(recipes[0].denoiser["reach"])
    assert isinstance(world, ObjectWorld)
    state = {name.removeprefix("denoiser."): part for name, part in cohort._state(cohort.weights).items()}

    @torch.no_grad()
    def run(x: Tensor, time: Tensor, condition: Tensor) -> Tensor:
        return functional_call(cohort.denoiser, state, (x, time, condition))

    denoise = compiled(run, cohort.device)
    shape = len(recipes), 8
    x = torch.randn(*shape, *world.image_shape, generator=generator).to(cohort.device)
    time = torch.rand(*shape, generator=generator).to(cohort.device)
    asked = torch.rand(*shape, *world.condition_shape, generator=generator).lt(0.1).float().to(cohort.device)
    out, place = denoise(x, time, asked), torch.arange(world.cells, device=cohort.device)
    middle, last = world.cells // 2, world.cells - 1
    for row, column in ((0, 0), (middle, middle - 1), (last, 1)):
        away = torch.maximum((place - row).abs()[:, None], (place - column).abs()[None])
        own = (
            ...,
            slice(row * world.cell, (row + 1) * world.cell),
            slice(column * world.cell, (column + 1) * world.cell),
        )
        beyond, rim = away > reach, away == reach
        assert beyond.any()
        for pixels, conditions in ((beyond, beyond & False), (beyond & False, beyond), (beyond, beyond)):
            other = denoise(_disturbed(x, pixels), time, _disturbed(asked, conditions))
            assert torch.equal(other[own], out[own]), "something comes from out of reach"
            assert not torch.equal(other, out)
        for pixels, conditions in ((rim, rim & False), (rim & False, rim)):
            other = denoise(_disturbed(x, pixels), time, _disturbed(asked, conditions))
            assert not torch.equal(other[own], out[own]), "the rim of the field is out of sight"


def test_a_cell_sees_its_field_alone():
    _sees_its_field_alone([experiment("tiny", "3", 3, seed) for seed in range(2)], "cpu")


@pytest.mark.gpu
@pytest.mark.filterwarnings("ignore::UserWarning")  # the compiler's advice
def test_a_cell_sees_its_field_alone_at_full_width_in_half_precision():
    """64×64, 16 cells, width 256, a reach of 2, bfloat16: what `paper` scale trains."""
    recipes = [experiment("paper", "3", 3, seed) for seed in range(MEMBERS)]
    assert recipes[0].precision == "bfloat16"
    assert recipes[0].denoiser["reach"] == 2
    _sees_its_field_alone(recipes, "cuda")
