from __future__ import annotations

import numpy as np
import pytest
import torch

from conceptlab.errors import InputError
from conceptlab.theory import (
    Network,
    Sim,
    initial_weights,
    mean_squared_error_rate,
    one_layer,
    ood_loss,
    sample_second_moment,
    train,
    training_loss,
)
from conceptlab.theory import networks as module

SIM = Sim((1, 2), 0.3, d=3)


def _autograd(weights: list[torch.Tensor], x: torch.Tensor, activation: str) -> list[torch.Tensor]:
    leaves = [w.clone().requires_grad_() for w in weights]
    h = x
    for number, w in enumerate(leaves):
        h = torch.einsum("bni,boi->bno", h, w)
        h = h.relu() if activation == "relu" and number < len(leaves) - 1 else h
    # the sum over members keeps their gradients apart
    (0.5 * (h - x).square().sum(-1).mean(-1)).sum().backward()
    return [leaf.grad for leaf in leaves if leaf.grad is not None]


@pytest.mark.parametrize("activation", ["linear", "relu"])
@pytest.mark.parametrize("widths", [(3, 3), (3, 5, 3), (3, 4, 2, 6, 3)])
def test_gradients_are_those_of_autograd(activation, widths) -> None:
    network = Network(widths, activation)
    weights = initial_weights(network, 1.0, [0, 1])
    x = torch.stack([SIM.draw(7, seed).points for seed in (3, 4)])
    found = module.gradients(weights, x, activation)
    for ours, theirs in zip(found, _autograd(weights, x, activation), strict=True):
        assert (ours - theirs).abs().max() < 1e-13


@pytest.mark.parametrize("activation", ["linear", "relu"])
def test_input_jacobian_is_that_of_autograd(activation) -> None:
    weights = initial_weights(Network((3, 6, 5, 3), activation), 1.0, [0])
    point = SIM.composition()

    def network(x: torch.Tensor) -> torch.Tensor:
        return module.forward(weights, x.reshape(1, 1, 3), activation)[-1].reshape(3)

    expected = torch.autograd.functional.jacobian(network, point)
    assert isinstance(expected, torch.Tensor)
    assert (module.input_jacobian(weights, point, activation)[0] - expected).abs().max() < 1e-13


def test_full_batch_single_layer_is_the_closed_form() -> None:
    """The trainer, its data and its records against exact gradient descent on the sampled covariance."""
    sim = Sim((1, 2), 0.3, d=3, rotation=2)
    network, record = Network((3, 3)), [0, 1, 10, 100]
    run = train(
        sim, network, [5], lr=0.1, steps=100, record=record, samples=40, batch=10_000, with_jacobian=True
    )
    moment = sample_second_moment(sim.draw(40, module._stream(5, "data")).points)
    w = one_layer.descent(moment, initial_weights(network, 3**-0.5, [5])[0][0], 0.1, record)
    expected = sim.axes.T @ w @ sim.axes
    assert run.jacobian is not None
    assert (run.jacobian[:, 0] - expected).abs().max() < 1e-12
    every = one_layer.descent(moment, initial_weights(network, 3**-0.5, [5])[0][0], 0.1, range(101))
    assert (run.ood_loss[:, 0] - ood_loss(every, sim.composition())).abs().max() < 1e-12
    assert (run.training_loss[:, 0] - training_loss(w, moment)).abs().max() < 1e-12
    assert (run.outputs[:, 0, 0] - sim.to_axes(w @ sim.composition())).abs().max() < 1e-12


def test_a_seed_does_not_depend_on_its_company(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network.of_depth(2, 3, 4, "relu")
    settings = {"lr": 0.05, "steps": 30, "record": [0, 30], "samples": 20, "batch": 8}
    together = train(SIM, network, [0, 1, 2, 3], **settings)
    alone = train(SIM, network, [2], **settings)
    assert (together.ood_loss[:, 2] - alone.ood_loss[:, 0]).abs().max() < 1e-12
    assert together.ood_loss[-1].unique().numel() == 4
    monkeypatch.setattr(module, "_DATA_BYTES", 1)  # one seed a group
    assert torch.allclose(train(SIM, network, [0, 1, 2, 3], **settings).outputs, together.outputs, atol=1e-12)


@pytest.mark.parametrize(
    "network", [Network.of_depth(4, 3, 4), Network.of_depth(2, 3, 16, "relu"), Network.of_depth(1, 3, 1)]
)
def test_networks_learn_the_identity_on_their_data(network: Network) -> None:
    run = train(SIM, network, range(4), lr=0.05, steps=500, record=[0, 500], samples=100, scale=1.0)
    assert (run.training_loss[-1] < 0.1 * run.training_loss[0]).all()


def test_stronger_concept_is_learnt_first() -> None:
    record = list(range(0, 200, 2))
    for mu, first in (((1, 2), 1), ((2, 1), 0)):
        run = train(
            Sim(mu, 0.05),
            Network.of_depth(2, 2, 8),
            range(8),
            lr=0.02,
            steps=200,
            record=record,
            samples=200,
            scale=0.1,
        )
        share = run.outputs[:, :, 0] / torch.tensor(mu)
        half = torch.where((share >= 0.5).any(0), (share >= 0.5).int().argmax(0), len(record))
        assert (half[:, first] < half[:, 1 - first]).all()


def test_probes_are_recorded_beside_the_composition() -> None:
    sim = Sim((1, 2), 0.1, rotation=1)
    run = train(sim, Network((2, 2)), [0], lr=0.1, steps=800, record=[800], samples=50, probes=sim.centres)
    assert run.outputs.shape == (1, 1, 3, 2)
    expected = torch.tensor([[1.0, 2.0], [1.0, 0.0], [0.0, 2.0]], dtype=torch.float64)
    assert (run.outputs[0, 0] - expected).abs().max() < 1e-3
    assert run.jacobian is None


def test_library_loss_scales_the_rate() -> None:
    x = torch.randn(5, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    w = torch.zeros(8, 8, dtype=torch.float64, requires_grad=True)
    torch.nn.functional.mse_loss(x @ w.T, x).backward()
    assert w.grad is not None
    ours = module.gradients([w.detach()[None]], x[None], "linear")[0][0]
    assert torch.allclose(w.grad * 0.1, ours * mean_squared_error_rate(0.1, 8))


def test_single_precision_follows_double() -> None:
    settings = {"lr": 0.05, "steps": 50, "record": [50], "samples": 50}
    double = train(SIM, Network.of_depth(3, 3, 5), [0, 1], **settings)
    single = train(SIM, Network.of_depth(3, 3, 5), [0, 1], dtype=torch.float32, **settings)
    assert single.outputs.dtype == torch.float32
    assert np.abs(single.outputs.numpy() - double.outputs.numpy()).max() < 1e-4


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: Network((2,)), "at least two"),
        (lambda: Network((2, 3)), "first and last equal"),
        (lambda: Network((2, 2), "tanh"), "unknown activation"),  # type: ignore[arg-type]
        (lambda: Network.of_depth(0, 2, 2), "at least one layer"),
        (lambda: train(SIM, Network((2, 2)), [0], lr=0.1, steps=1, record=[0]), "data have 3"),
        (lambda: train(SIM, Network((3, 3)), [0], lr=0.0, steps=1, record=[0]), "positive"),
        (lambda: train(SIM, Network((3, 3)), [0], lr=0.1, steps=1, record=[2]), "between 0 and 1"),
        (lambda: train(SIM, Network((3, 3)), [-1], lr=0.1, steps=1, record=[0]), "negative"),
        (
            lambda: train(SIM, Network((3, 3)), [0], lr=0.1, steps=1, record=[0], initial=[torch.eye(3)]),
            "do not fit",
        ),
        (lambda: initial_weights(Network((3, 3)), 0.0, [0]), "positive"),
    ],
)
def test_bad_input_is_named(call, word: str) -> None:
    with pytest.raises(InputError, match=word):
        call()


def test_linear_training_loss_is_the_mean_over_the_data() -> None:
    """The second moment is a short cut: on the very points that were drawn it gives the same loss."""
    run = train(
        SIM, Network((3, 4, 3)), (5,), lr=0.05, steps=20, record=(0, 20), samples=50, with_jacobian=True
    )
    assert run.jacobian is not None
    points = SIM.draw(50, module._stream(5, "data")).points
    for loss, w in zip(run.training_loss[:, 0], run.jacobian[:, 0], strict=True):
        assert abs(float(loss - 0.5 * (points @ w.T - points).square().sum(-1).mean())) < 1e-12
