"""The training step, for one model or for many at once.

A cohort is E models of one architecture that differ in seed, data or scalar settings. Every random number is a
function of (seed, purpose, step), never of a member's place, and no loss or clip is shared; so a member of a cohort
is the model it would be alone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

from conceptlab.denoisers import STATISTICS, Denoiser, dropout_keys
from conceptlab.denoisers import build as build_denoiser
from conceptlab.diffusion import Process
from conceptlab.diffusion import build as build_process
from conceptlab.errors import InputError
from conceptlab.recipe import Recipe
from conceptlab.training.accelerate import CapturedCall, CapturedStep, compiled, safe_attention
from conceptlab.training.cost import once_for_all_seeds, world_of
from conceptlab.training.data import TrainingData
from conceptlab.training.draws import Draws
from conceptlab.training.layers import StackedBatchNorm
from conceptlab.training.objective import Objective
from conceptlab.training.optimiser import Hyperparameters, at_step, rate_factor, update
from conceptlab.training.stacked import CohortDenoiser
from conceptlab.training.streaming import StreamedData
from conceptlab.training.weights import Layout
from conceptlab.worlds import build as build_world

# Batches from which statistics of normalisation are taken: thousands of values a channel in each.
SETTLING = 8


class Cohort:
    """Weights, optimiser and data of E members, and the step that advances them all."""

    def __init__(self, recipes: Sequence[Recipe], device: torch.device | str = "cpu") -> None:
        if len({cohort_key(recipe) for recipe in recipes}) > 1:
            raise InputError(
                "these recipes cannot train together: they differ in more than seed, data and scalars"
            )
        self.recipes, self.recipe = list(recipes), recipes[0]
        self.device = torch.device(device)
        safe_attention(self.device)
        self.dtype = torch.bfloat16 if self.recipe.precision == "bfloat16" else torch.float32
        pairs = [_modules(recipe) for recipe in recipes]
        parts = [nn.ModuleDict(dict(zip(("denoiser", "process"), pair))) for pair in pairs]
        self.layout = Layout.of(parts[0])
        self.weights = torch.stack([self.layout.row(dict(p.named_parameters())) for p in parts]).to(
            self.device
        )
        self.plain = parts[0].to(self.device)
        self._tied: Tensor | None = None  # the row that the weights of `plain` are views of
        self.denoiser = CohortDenoiser(pairs[0][0])
        self.process = pairs[0][1]
        self.objective = Objective(self.denoiser, self.process, self.recipe).to(self.device)
        self.trained = [n for n, is_trained in zip(self.layout.names, self.layout.trained) if is_trained]
        self.mask = None if all(self.layout.trained) else self.layout.mask().to(self.device)
        self.mean, self.square = torch.zeros_like(self.weights), torch.zeros_like(self.weights)
        self.ema = self.weights.clone() if self.recipe.ema else None
        self.hyperparameters = Hyperparameters.of(recipes, self.device)
        self.dropout = dropout_keys(self.objective)
        self.draws = Draws(recipes, pairs[0][0].image_shape, list(self.dropout.values()), self.device)
        data = TrainingData.of(recipes, self.device)
        streams = data.rows is not None and self.device.type != "cpu"
        self.data = (
            StreamedData(data, self.draws.keys["batch"], self.recipe.batch, self.device) if streams else data
        )
        self.step = torch.zeros((), dtype=torch.int64, device=self.device)
        self.loss_sum = torch.zeros(len(recipes), device=self.device)
        self.loss_count = 0
        self._held = self._gradient = None
        if self.device.type == "cpu" and self.dtype == torch.float32:
            # Parameters and their gradients are views of matrices that are changed in place: made once.
            self._held, self._gradient = self._parameters(), torch.zeros_like(self.weights)
            places = self._state(self._gradient)
            self._places = [places[name] for name in self.trained]
        self._draw = compiled(self._draw_batch, self.device)
        self._losses = compiled(self._member_losses, self.device)
        self._update = compiled(update, self.device)
        self._calls: dict[tuple[str, type[nn.Module]], CapturedCall] = {}
        self.drawn_at_once: dict[bool, int] = {}  # images of a member, by whether they are guided
        self.denoiser.accelerate(self.device)
        self._step = (
            CapturedStep(self._train_step, self._tensors) if self.device.type == "cuda" else self._train_step
        )

    def __len__(self) -> int:
        return len(self.recipes)

    # --- training ---------------------------------------------------------------------------------------------

    def advance(self, steps: int) -> None:
        """Train for a number of steps."""
        self.objective.train()
        first = int(self.step) if isinstance(self.data, StreamedData) else 0
        for step in range(first, first + steps):
            if isinstance(self.data, StreamedData):
                self.data.prepare(step)
            self._step()
        self.loss_count += steps

    def _train_step(self) -> None:
        keys, *batch = self._draw()
        state = self._held or self._parameters()
        losses = self._losses(state, keys, *batch)
        # The members do not touch each other: the gradient of the sum holds that of each. Of weights that a
        # network does not use it is zero.
        trained = [state[name] for name in self.trained]
        gradients = torch.autograd.grad(losses.sum(), trained, materialize_grads=True)
        gradient = self._joined(gradients)
        now = at_step(self.hyperparameters, self.step, rate_factor(self.recipe, self.step))
        self._update(self.weights, gradient, self.mean, self.square, self.ema, self.mask, now)
        self.loss_sum += losses.detach()
        self.step += 1

    def _parameters(self) -> dict[str, Tensor]:
        """The weights as autograd sees them."""
        state = self._state(self.weights)
        for name in self.trained:
            state[name].requires_grad_()
        return state

    def _joined(self, gradients: tuple[Tensor, ...]) -> Tensor:
        """The gradients of all parameters as a matrix like that of the weights."""
        if self._gradient is None:
            return self.layout.gather(dict(zip(self.trained, gradients)), self.weights)
        for place, gradient in zip(self._places, gradients):
            place.copy_(gradient)
        return self._gradient

    def _draw_batch(self) -> tuple[Tensor, ...]:
        """All that is random in a step: dropout keys (layers, E, 2), images, conditions, noise, uniforms for times."""
        drawn = self.draws.at(self.step)
        images, conditions = self.data.batch(drawn.batch)
        if self.recipe.condition_dropout:
            told = drawn.condition >= self.recipe.condition_dropout
            conditions = conditions * told.view(*told.shape, *(1 for _ in conditions.shape[2:]))
        return drawn.dropout, images, conditions, drawn.noise, drawn.times

    def _member_losses(self, state: dict[str, Tensor], keys: Tensor, *batch: Tensor) -> Tensor:
        named = state | dict(zip(self.dropout, keys))
        return functional_call(self.objective, named, batch, tie_weights=False)

    def _state(self, matrix: Tensor) -> dict[str, Tensor]:
        """The parameters of all members under the names the objective knows them by, the network's in its precision."""
        state = self.layout.views(matrix.detach().to(self.dtype))
        numbers = [name for name in self.layout.names if name.startswith("process.")]
        statistics = [name for name in self.layout.names if name.rpartition(".")[2] in STATISTICS]
        if numbers or statistics:
            whole = self.layout.views(matrix.detach())
            state |= {name: whole[name][:, None] for name in numbers}
            state |= {name: whole[name] for name in statistics}
        return state

    def take_losses(self) -> list[float]:
        """The mean training loss of each member since the last call."""
        means = (self.loss_sum / max(1, self.loss_count)).tolist()
        self.loss_sum.zero_()
        self.loss_count = 0
        return means

    def settle(self) -> None:
        """Give layers that normalise by batches the statistics that belong to the weights as they are now, from the
        batches that come next; before members are used. Other networks are left as they are."""
        layers = {n: m for n, m in self.objective.named_modules() if isinstance(m, StackedBatchNorm)}
        if layers:
            self.objective.train()
            for matrix in (self.weights, self.ema):
                if matrix is not None:
                    self._settle(matrix, layers)

    @torch.no_grad()
    def _settle(self, matrix: Tensor, layers: dict[str, StackedBatchNorm]) -> None:
        before, state = self.step.clone(), self._state(matrix)
        for layer in layers.values():
            layer.seen = []
        for _ in range(SETTLING):
            if isinstance(self.data, StreamedData):
                self.data.prepare(int(self.step))
            keys, *batch = self._draw()
            self._member_losses(state, keys, *batch)
            self.step += 1
        self.step.copy_(before)
        views = self.layout.views(matrix)
        for name, layer in layers.items():
            means, variances = torch.stack(layer.seen or []).unbind(1)  # (batches, E, channels)
            layer.seen = None
            mean = means.mean(0)
            views[f"{name}.mean"].copy_(mean)
            views[f"{name}.variance"].copy_((variances + means.square()).mean(0) - mean.square())

    # --- using the members ------------------------------------------------------------------------------------

    def each(self, weights: str, module: nn.Module, *batch: Any) -> Tensor:
        """Run a module for every member, on cohort tensors (E, …).

        It holds the cohort's `denoiser` and `process` under these names, as `Objective` does.
        """
        module.eval()

        def call(*inputs: Any) -> Tensor:
            return functional_call(module, self._state(self._matrix(weights)), inputs)

        if self.device.type != "cuda":
            return call(*batch)
        # Recorded once for each kind of weights and module; a replay reads the weights as they are then.
        return self._calls.setdefault((weights, type(module)), CapturedCall(call))(*batch)

    def member(self, index: int, weights: str = "raw") -> tuple[Denoiser, Process]:
        """A plain denoiser and process with the weights of one member; the next call may reuse them."""
        row = self._matrix(weights)[index]
        if self._tied is None:
            # Tied once: hundreds of views take longer to make than a row to copy.
            self._tied = row.clone()
            self.layout.tie(self.plain, self._tied)
        self._tied.copy_(row)
        self.plain.eval()
        return self.plain["denoiser"], self.plain["process"]  # pyright: ignore[reportReturnType]

    def _matrix(self, weights: str) -> Tensor:
        if weights == "ema" and self.ema is None:
            raise InputError("this recipe keeps no moving average; set ema, e.g. --set ema=0.999")
        return self.ema if weights == "ema" and self.ema is not None else self.weights

    # --- checkpoints ------------------------------------------------------------------------------------------

    def checkpoint(self, index: int) -> dict[str, Tensor]:
        """The named weights of one member, `raw.…` and where there is one `ema.…`.

        A network that computes in bfloat16, with 8 bits, is kept with the 11 bits of half precision.
        """
        kept = torch.float16 if self.dtype == torch.bfloat16 else torch.float32
        kinds = {"raw": self.weights, "ema": self.ema}
        return {
            f"{kind}.{name}": view.to(kept, copy=True)
            for kind, matrix in kinds.items()
            if matrix is not None
            for name, view in self.layout.views(matrix[index]).items()
        }

    def state(self, index: int) -> dict[str, Tensor]:
        """All it takes to go on exactly from here, on the host; random streams need nothing, they follow from the
        step."""
        rows = {name: matrix[index] for name, matrix in self._matrices().items()} | {"step": self.step}
        return {name: tensor.to("cpu", copy=True) for name, tensor in rows.items()}

    def begin_from(self, index: int, weights: dict[str, Tensor]) -> None:
        """Give a member the weights of a checkpoint, for fine-tuning; its optimiser starts afresh."""
        self.weights[index] = self.layout.kept_row(weights).to(self.device)
        if self.ema is not None:
            self.ema[index] = self.weights[index]

    def restore(self, index: int, state: dict[str, Tensor]) -> None:
        for name, matrix in self._matrices().items():
            if name not in state or state[name].shape != matrix[index].shape:
                raise InputError(
                    f"the saved state of member {self.recipes[index].hash} does not fit its network ('{name}'; was its "
                    "code changed?); move the member's folder away"
                )
            matrix[index] = state[name].to(self.device)
        self.step.fill_(int(state["step"]))

    def _matrices(self) -> dict[str, Tensor]:
        found = {"weights": self.weights, "mean": self.mean, "square": self.square}
        return found if self.ema is None else {**found, "ema": self.ema}

    def _tensors(self) -> list[Tensor]:
        """Everything a step changes."""
        return [*self._matrices().values(), self.step, self.loss_sum]


@once_for_all_seeds
def cohort_key(recipe: Recipe) -> str:
    """Recipes with one key can train together: they differ in seed, data and scalar settings only."""
    data, world = recipe.to_dict(), world_of(recipe)
    for name in ("seed", "data_seed", "train", "shares", "masking", "start", "world"):
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
