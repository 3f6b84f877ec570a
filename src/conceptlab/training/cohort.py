"""The training step, for one model or for many at once.

A cohort is E models of one architecture that differ in seed, data or scalar settings. Every random number is a
function of (seed, purpose, step), never of a member's place, and no loss or clip is shared; so a member of a cohort
is the model it would be alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from conceptlab import random
from conceptlab.denoisers import Denoiser, dropout_key_names
from conceptlab.denoisers import build as build_denoiser
from conceptlab.diffusion import Process
from conceptlab.diffusion import build as build_process
from conceptlab.errors import InputError
from conceptlab.recipe import Recipe
from conceptlab.training.data import TrainingData
from conceptlab.training.objective import Objective
from conceptlab.training.optimiser import Hyperparameters, adam, average, clip_by_member, rate_factor
from conceptlab.training.weights import Layout
from conceptlab.worlds import build as build_world

PURPOSES = ("batch", "times", "noise", "dropout")


class Cohort:
    """Weights, optimiser and data of E members, and the step that advances them all."""

    def __init__(self, recipes: Sequence[Recipe], device: torch.device | str = "cpu") -> None:
        if len({cohort_key(recipe) for recipe in recipes}) > 1:
            raise InputError(
                "these recipes cannot train together: they differ in more than seed, data and scalars"
            )
        self.recipes = list(recipes)
        self.recipe = recipes[0]
        self.device = torch.device(device)
        world = build_world(**self.recipe.world)
        self.image_shape = world.image_shape
        modules = [_modules(recipe) for recipe in recipes]
        self.denoiser, self._process = modules[0][0].to(self.device), modules[0][1].to(self.device)
        self.objective = Objective(self.denoiser, self._process, self.recipe)
        self.layout = Layout.of(self.objective)
        self.weights = torch.stack([self.layout.row(nn.ModuleList(pair)) for pair in modules]).to(self.device)
        self.mean, self.square = torch.zeros_like(self.weights), torch.zeros_like(self.weights)
        self.ema = self.weights.clone() if self.recipe.ema else None
        self.mask = self.layout.mask().to(self.device)
        self.hyperparameters = Hyperparameters.of(recipes, self.device)
        self.data = TrainingData.of(recipes, self.device)
        self.keys = {
            p: torch.stack([random.key(r.seed, p) for r in recipes]).to(self.device) for p in PURPOSES
        }
        self.dropout = dropout_key_names(self.objective)
        self.step = torch.zeros((), dtype=torch.int64, device=self.device)
        self.loss_sum = torch.zeros(len(recipes), device=self.device)
        self.loss_count = 0

    def __len__(self) -> int:
        return len(self.recipes)

    # --- training ---------------------------------------------------------------------------------------------

    def advance(self, steps: int) -> None:
        """Train for a number of steps."""
        self.objective.train()
        for _ in range(steps):
            self._train_step()
        self.loss_count += steps

    def _train_step(self) -> None:
        keys = {purpose: random.fold(key, self.step) for purpose, key in self.keys.items()}
        images, conditions = self.data.batch(keys["batch"], self.recipe.batch)
        noise = random.normal(keys["noise"], images.shape[1:])
        uniforms = random.uniform(keys["times"], (self.recipe.batch,))
        losses, gradient = self._loss_and_gradient(keys["dropout"], images, conditions, noise, uniforms)
        gradient = clip_by_member(gradient, self.hyperparameters.clip)
        factor = rate_factor(self.recipe, self.step)
        adam(
            self.weights, gradient, self.mean, self.square, self.mask, self.step, factor, self.hyperparameters
        )
        if self.ema is not None:
            average(self.ema, self.weights, self.step, self.hyperparameters.ema)
        self.loss_sum += losses
        self.step += 1

    def _loss_and_gradient(self, dropout_keys: Tensor, *batch: Tensor) -> tuple[Tensor, Tensor]:
        """Mean loss of each member (E,) and the gradient of their sum (E, P): members do not touch each other."""
        views = {name: view.detach() for name, view in self.layout.views(self.weights).items()}
        trained = [name for name, is_trained in zip(self.layout.names, self.layout.trained) if is_trained]
        for name in trained:
            views[name].requires_grad_()
        buffers = dict.fromkeys(self.dropout, dropout_keys)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.recipe.precision == "bfloat16"):
            losses = self._each(self.objective, {**views, **buffers}, *batch).mean(dim=1)
        gradients = torch.autograd.grad(losses.sum(), [views[name] for name in trained])
        return losses.detach(), self.layout.gather(dict(zip(trained, gradients)), self.weights)

    def _each(self, module: nn.Module, state: dict[str, Tensor], *batch: Tensor) -> Tensor:
        """Run a module for every member with its own weights: plainly for one, stacked for many."""
        if len(self) == 1:
            alone = {name: tensor[0] for name, tensor in state.items()}
            return functional_call(module, alone, tuple(part[0] for part in batch))[None]
        return vmap(lambda own, *rest: functional_call(module, own, rest))(state, *batch)

    def take_losses(self) -> list[float]:
        """The mean training loss of each member since the last call."""
        means = (self.loss_sum / max(1, self.loss_count)).tolist()
        self.loss_sum.zero_()
        self.loss_count = 0
        return means

    # --- using the members ------------------------------------------------------------------------------------

    def each(self, weights: str, make: Callable[[Denoiser, Process], nn.Module], *batch: Tensor) -> Tensor:
        """Run a module made of the denoiser and the process for every member; inputs and output have (E, …).

        The module must hold them under the names `denoiser` and `process`, as `Objective` does.
        """
        module = make(self.denoiser, self._process).eval()
        return self._each(module, self.layout.views(self._matrix(weights)), *batch)

    def member(self, index: int, weights: str = "raw") -> tuple[Denoiser, Process]:
        """A plain denoiser and process with the weights of one member; valid until the cohort is used again."""
        self.layout.tie(self.objective, self._matrix(weights)[index].clone())
        return self.denoiser.eval(), self._process.eval()

    def _matrix(self, weights: str) -> Tensor:
        if weights == "ema" and self.ema is None:
            raise InputError("this recipe keeps no moving average; set ema, e.g. --set ema=0.999")
        return self.ema if weights == "ema" and self.ema is not None else self.weights

    # --- checkpoints ------------------------------------------------------------------------------------------

    def checkpoint(self, index: int) -> dict[str, Tensor]:
        """The named weights of one member, `raw.…` and where there is one `ema.…`."""
        kinds = {"raw": self.weights, "ema": self.ema}
        return {
            f"{kind}.{name}": view.clone()
            for kind, matrix in kinds.items()
            if matrix is not None
            for name, view in self.layout.views(matrix[index]).items()
        }

    def state(self, index: int) -> dict[str, Tensor]:
        """All it takes to go on exactly from here; random streams need nothing, they follow from the step."""
        state = {"weights": self.weights, "mean": self.mean, "square": self.square}
        if self.ema is not None:
            state["ema"] = self.ema
        return {name: tensor[index].clone() for name, tensor in state.items()} | {"step": self.step.clone()}

    def restore(self, index: int, state: dict[str, Tensor]) -> None:
        targets = {"weights": self.weights, "mean": self.mean, "square": self.square}
        if self.ema is not None:
            targets["ema"] = self.ema
        for name, target in targets.items():
            if name not in state or state[name].shape != target[index].shape:
                raise InputError(
                    f"the saved state does not fit this network ('{name}'); move the member away"
                )
            target[index] = state[name].to(self.device)
        self.step.fill_(int(state["step"]))


def cohort_key(recipe: Recipe) -> str:
    """Recipes with one key can train together: they differ in seed, data and scalar settings only."""
    data = recipe.to_dict()
    world = build_world(**recipe.world)
    for name in ("seed", "data_seed", "train", "world"):
        del data[name]
    for name in ("learning_rate", "weight_decay", "betas", "clip", "name"):
        del data["optimiser"][name]
    data["shapes"] = [world.image_shape, world.condition_shape]
    return json.dumps(data, sort_keys=True)


def _modules(recipe: Recipe) -> tuple[Denoiser, Process]:
    world = build_world(**recipe.world)
    denoiser = build_denoiser(
        image_shape=world.image_shape,
        condition_shape=world.condition_shape,
        seed=recipe.seed,
        **recipe.denoiser,
    )
    return denoiser, build_process(**recipe.process)
