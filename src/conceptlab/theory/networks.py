"""Linear and ReLU networks of any depth and width, trained by SGD on SIM, thousands of seeds at once.

Weights of one layer are one tensor (B, out, in), so a step is a handful of batched matrix products with the
gradient written out. Every seed has its own data, initialisation and batch order, drawn from its own streams:
a member does not depend on which others it is trained with. No biases, as in the theory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor

from conceptlab.errors import InputError, unknown
from conceptlab.theory.sim import Sim, sample_second_moment

Activation = Literal["linear", "relu"]
_DATA_BYTES = 512 * 2**20  # seeds are trained in groups whose data sets fit in this


@dataclass(frozen=True)
class Network:
    """Layer widths from input to output, e.g. (64, 64, 64) for two layers; ReLU acts between layers."""

    widths: Sequence[int]
    activation: Activation = "linear"

    def __post_init__(self) -> None:
        if self.activation not in ("linear", "relu"):
            raise unknown("activation", self.activation, ("linear", "relu"))
        if len(self.widths) < 2 or min(self.widths) < 1 or self.widths[0] != self.widths[-1]:
            raise InputError(f"widths {tuple(self.widths)}: at least two, all positive, first and last equal")

    @classmethod
    def of_depth(cls, depth: int, d: int, hidden: int, activation: Activation = "linear") -> Network:
        """`depth` weight matrices in dimension d with equal hidden widths."""
        if depth < 1:
            raise InputError(f"a network needs at least one layer; got depth {depth}")
        return cls((d, *[hidden] * (depth - 1), d), activation)


class Trained(NamedTuple):
    """What was recorded, in the frame of the concept axes; R records, B seeds, P probes, U updates.

    The OOD loss is cheap and is kept before the first update and after each, not at the records alone: between two of
    them it may rise and fall again. A member that diverges holds non-finite values from there on; the others are not
    affected.
    """

    steps: np.ndarray  # (R,)
    outputs: Tensor  # (R, B, P, d); probe 0 is the composition x_b
    training_loss: Tensor  # (R, B) on the whole training set
    ood_loss: Tensor  # (U+1, B) at x_b
    jacobian: Tensor | None  # (R, B, d, d) at x_b


def initial_weights(network: Network, scale: float, seeds: Sequence[int]) -> list[Tensor]:
    """Weights N(0, scale²/fan_in), float64; scale 1/√3 has the variance of torch's default Linear layer."""
    if not scale > 0:
        raise InputError(f"the initial scale is {scale}; it must be positive")
    streams = [_generator(seed, "weights") for seed in seeds]
    shapes = zip(network.widths[1:], network.widths, strict=False)
    return [
        torch.stack([torch.randn(shape, generator=g, dtype=torch.float64) for g in streams])
        * (scale / math.sqrt(shape[1]))
        for shape in shapes
    ]


def train(
    sim: Sim,
    network: Network,
    seeds: Sequence[int],
    *,
    lr: float,
    steps: int,
    record: Sequence[int],
    scale: float = 1 / math.sqrt(3),
    batch: int = 128,
    samples: int = 5000,
    probes: Tensor | None = None,
    with_jacobian: bool = False,
    initial: Sequence[Tensor] | None = None,
    dtype: torch.dtype = torch.float64,
) -> Trained:
    """Train one network per seed by plain SGD on ½‖f(x)-x‖², averaged over the batch.

    `samples` points a cluster; every epoch visits them all in a new order. `record` lists the numbers of
    updates after which to record (0: before the first). `probes` (P, d) are further points in data space.
    """
    wanted = sorted(set(record))
    if network.widths[0] != sim.dimension:
        raise InputError(f"the network reads {network.widths[0]} dimensions, the data have {sim.dimension}")
    if not len(seeds) or not lr > 0 or batch < 1:
        raise InputError(f"training needs seeds, a positive rate and batch; got {len(seeds)}, {lr}, {batch}")
    if not wanted or wanted[0] < 0 or wanted[-1] > steps:
        raise InputError(f"steps to record must lie between 0 and {steps}; got {wanted or 'none'}")
    points = sim.composition()[None] if probes is None else torch.cat([sim.composition()[None], probes])
    weights = initial_weights(network, scale, seeds) if initial is None else list(initial)
    _check_shapes(weights, network, len(seeds))
    size = samples * sim.cluster_count * sim.dimension * dtype.itemsize
    group = max(1, _DATA_BYTES // size)
    parts = []
    for start in range(0, len(seeds), group):
        members = slice(start, start + group)
        run = _Group(sim, network, [w[members].to(dtype) for w in weights], seeds[members], samples, batch)
        parts.append(run.train(lr, steps, wanted, points.to(dtype), with_jacobian))
    outputs, losses, ood, jacobians = (
        torch.cat(column, dim=1) if column[0] is not None else None for column in zip(*parts, strict=True)
    )
    assert outputs is not None
    assert losses is not None
    assert ood is not None
    axes = sim.axes.to(dtype)
    return Trained(
        steps=np.asarray(wanted),
        outputs=sim.to_axes(outputs),
        training_loss=losses,
        ood_loss=ood,
        jacobian=None if jacobians is None else axes.T @ jacobians @ axes,
    )


def _check_shapes(weights: Sequence[Tensor], network: Network, seeds: int) -> None:
    found = [tuple(weight.shape) for weight in weights]
    if found != [(seeds, out, into) for into, out in zip(network.widths, network.widths[1:], strict=False)]:
        raise InputError(f"initial weights {found} do not fit {network} and the seeds")


def mean_squared_error_rate(lr: float, d: int) -> float:
    """The rate on ½‖f(x)-x‖² that equals `lr` on a squared error averaged over d coordinates: 2·lr/d.

    The paper states its loss as a sum over coordinates; common library losses average, which at d = 64 slows
    learning 32-fold. Which one a published rate belongs to must be said, not assumed.
    """
    return 2 * lr / d


def forward(weights: Sequence[Tensor], x: Tensor, activation: Activation) -> list[Tensor]:
    """Inputs of every layer and the output, for x (B, N, d): L+1 tensors."""
    states = [x]
    for number, weight in enumerate(weights):
        x = x @ weight.mT
        if activation == "relu" and number < len(weights) - 1:
            x = x.relu()
        states.append(x)
    return states


def gradients(weights: Sequence[Tensor], x: Tensor, activation: Activation) -> list[Tensor]:
    """Gradient of mean ½‖f(x)-x‖² of every member with respect to every layer."""
    states = forward(weights, x, activation)
    error = (states[-1] - x) / x.shape[1]
    result = []
    for number in reversed(range(len(weights))):
        result.append(error.mT @ states[number])
        if number:
            error = error @ weights[number]
            if activation == "relu":
                error = error * (states[number] > 0)
    return result[::-1]


def input_jacobian(weights: Sequence[Tensor], point: Tensor, activation: Activation) -> Tensor:
    """∂f/∂x (B, d, d) at one point (d,)."""
    states = forward(weights, point.expand(len(weights[0]), 1, -1), activation)
    product = weights[0]
    for number, weight in enumerate(weights[1:], start=1):
        if activation == "relu":
            product = product * (states[number] > 0).mT
        product = weight @ product
    return product


class _Group:
    """Seeds that are trained together because their data fit in memory."""

    def __init__(
        self,
        sim: Sim,
        network: Network,
        weights: list[Tensor],
        seeds: Sequence[int],
        samples: int,
        batch: int,
    ) -> None:
        self.activation: Activation = network.activation
        self.weights = weights
        dtype = weights[0].dtype
        self.data = torch.stack([sim.draw(samples, _stream(seed, "data")).points.to(dtype) for seed in seeds])
        self.orders = [_generator(seed, "order") for seed in seeds]
        self.batch = min(batch, self.data.shape[1])
        self.moment = sample_second_moment(self.data) if self.activation == "linear" else None

    def train(
        self, lr: float, steps: int, wanted: Sequence[int], points: Tensor, with_jacobian: bool
    ) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
        # Made whole beforehand: small tensors that stay, between weights that are freed at every update, would break
        # the memory into pieces that fit no weights any more, and it would grow with every record.
        seeds, dtype = len(self.data), self.data.dtype
        outputs = torch.empty(len(wanted), seeds, *points.shape, dtype=dtype)
        losses, ood = torch.empty(len(wanted), seeds, dtype=dtype), torch.empty(steps + 1, seeds, dtype=dtype)
        jacobians = []
        total = self.data.shape[1]
        per_epoch = math.ceil(total / self.batch)
        rows = torch.arange(len(self.data))[:, None]
        order = torch.empty(0)
        places = {step: place for place, step in enumerate(wanted)}
        for step in range(steps + 1):
            output = forward(self.weights, points.expand(len(self.data), -1, -1), self.activation)[-1]
            # A rotation changes no distance: there is no need to turn to the axes of the concepts.
            ood[step] = 0.5 * (output[:, 0] - points[0]).square().sum(-1)
            if (record := places.get(step)) is not None:
                outputs[record], losses[record] = output, self._loss()
                if with_jacobian:
                    jacobians.append(input_jacobian(self.weights, points[0], self.activation))
            if step == steps:
                break
            place = step % per_epoch
            if place == 0:
                order = torch.stack([torch.randperm(total, generator=g) for g in self.orders])
            x = self.data[rows, order[:, place * self.batch : (place + 1) * self.batch]]
            slopes = gradients(self.weights, x, self.activation)
            # New tensors, not updates in place: what was recorded or handed in must not change afterwards.
            self.weights = [w.sub(slope, alpha=lr) for w, slope in zip(self.weights, slopes, strict=True)]
        slopes_there = torch.stack(jacobians) if jacobians else None
        return outputs, losses, ood, slopes_there

    def _loss(self) -> Tensor:
        """Training loss (B,). For a linear network ½ tr((W-I)M(W-I)ᵀ) is the same number as the mean over the data,
        and cheap enough to be recorded often."""
        if self.moment is None:
            error = forward(self.weights, self.data, self.activation)[-1] - self.data
            return 0.5 * error.square().sum(-1).mean(-1)
        residual = input_jacobian(self.weights, self.data[0, 0], self.activation)
        residual = residual - torch.eye(residual.shape[-1], dtype=residual.dtype)
        return 0.5 * ((residual @ self.moment) * residual).sum(dim=(-2, -1))


def _stream(seed: int, purpose: Literal["weights", "data", "order"]) -> int:
    """A seed for one purpose of one member, independent of the other purposes and members."""
    if seed < 0:
        raise InputError(f"seed {seed} is negative; seeds are whole numbers from 0")
    key = ("weights", "data", "order").index(purpose)
    return int(np.random.SeedSequence([seed, key]).generate_state(1, np.uint64)[0] >> np.uint64(1))


def _generator(seed: int, purpose: Literal["weights", "data", "order"]) -> torch.Generator:
    return torch.Generator().manual_seed(_stream(seed, purpose))
