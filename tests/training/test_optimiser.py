"""Against torch's own optimisers, which are the reference."""

from __future__ import annotations

import math

import pytest
import torch

from conceptlab.recipe import Optimiser, Recipe
from conceptlab.training.optimiser import Hyperparameters, adam, at_step, clip_by_member, rate_factor, update

ROWS = [
    Optimiser(name="adam", learning_rate=0.1, betas=(0.9, 0.99), weight_decay=0.3),
    Optimiser(name="adamw", learning_rate=0.01, betas=(0.8, 0.95), weight_decay=0.2),
    Optimiser(name="adamw", learning_rate=0.05, clip=0.1),
]


def recipe(optimiser: Optimiser) -> Recipe:
    return Recipe(train={"0": 1}, optimiser=optimiser)


def test_each_row_follows_its_own_torch_optimiser():
    generator = torch.Generator().manual_seed(0)
    start = torch.randn(len(ROWS), 7, generator=generator)
    weights, mean, square = start.clone(), torch.zeros_like(start), torch.zeros_like(start)
    h = Hyperparameters.of([recipe(row) for row in ROWS], torch.device("cpu"))
    references = [torch.nn.Parameter(row.clone()) for row in start]
    kinds = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}
    others = [
        kinds[o.name]([p], lr=o.learning_rate, betas=o.betas, weight_decay=o.weight_decay)
        for o, p in zip(ROWS, references)
    ]
    for step in range(30):
        gradient = torch.randn(start.shape, generator=generator)
        now = at_step(h, torch.tensor(step), torch.tensor(1.0))
        update(weights, gradient, mean, square, None, None, now)
        for row, (settings, parameter, other) in enumerate(zip(ROWS, references, others)):
            parameter.grad = gradient[row].clone()
            if settings.clip:
                torch.nn.utils.clip_grad_norm_([parameter], settings.clip)
            other.step()
    torch.testing.assert_close(weights, torch.stack([p.detach() for p in references]), rtol=1e-5, atol=1e-6)


def test_clipping_is_each_members_own():
    gradient = torch.tensor([[3.0, 4.0], [0.3, 0.4]])
    clipped = clip_by_member(gradient, torch.tensor([[1.0], [1.0]]))
    assert clipped[0].norm() == pytest.approx(1.0, abs=1e-5)
    assert torch.equal(clipped[1], gradient[1])
    assert torch.equal(clip_by_member(gradient, torch.full((2, 1), math.inf)), gradient)


def test_a_member_is_the_same_beside_others_that_are_clipped_or_have_a_penalty():
    """Passes that no member of a cohort needs are left out, which must not show."""
    generator = torch.Generator().manual_seed(0)
    start, plain = torch.randn(1, 50, generator=generator), Optimiser(weight_decay=0.01)
    alone = Hyperparameters.of([recipe(plain)], torch.device("cpu"))
    among = Hyperparameters.of([recipe(o) for o in (plain, *ROWS)], torch.device("cpu"))
    assert alone.clip is None
    assert alone.penalty is None
    states = [[start.repeat(n, 1), torch.zeros(n, 50), torch.zeros(n, 50)] for n in (1, 1 + len(ROWS))]
    for step in range(5):
        gradient = torch.randn(1, 50, generator=generator)
        for h, (weights, mean, square) in zip((alone, among), states):
            now = at_step(h, torch.tensor(step), torch.tensor(1.0))
            update(weights, gradient.repeat(len(weights), 1), mean, square, None, None, now)
    for solo, among_others in zip(*states):
        assert torch.equal(solo[0], among_others[0])
        assert not torch.equal(solo[0], among_others[1])


@pytest.mark.parametrize(
    ("decay", "expected"), [("constant", [1, 1, 1]), ("linear", [1, 0.5, 0.1]), ("cosine", [1, 0.5, 0.0245])]
)
def test_learning_rates_decay_as_they_say(decay, expected):
    settings = Recipe(train={"0": 1}, steps=10, optimiser=Optimiser(decay=decay))
    found = [rate_factor(settings, torch.tensor(step)).item() for step in (0, 5, 9)]
    assert found == pytest.approx(expected, abs=1e-3)


def test_warm_up_reaches_one():
    settings = Recipe(train={"0": 1}, optimiser=Optimiser(warmup=4))
    assert [rate_factor(settings, torch.tensor(s)).item() for s in range(5)] == [0.25, 0.5, 0.75, 1, 1]


def test_frozen_columns_neither_move_nor_decay():
    h = Hyperparameters.of([recipe(row) for row in ROWS], torch.device("cpu"))
    start, mask = torch.ones(len(ROWS), 4), torch.tensor([1.0, 0.0, 1.0, 0.0])
    weights, mean, square = start.clone(), torch.zeros_like(start), torch.zeros_like(start)
    adam(weights, start * mask, mean, square, mask, at_step(h, torch.tensor(0), torch.tensor(1.0)))
    assert torch.equal(weights[:, 1::2], start[:, 1::2])
    assert (weights[:, ::2] < 1).all()


def test_the_average_forgets_as_fast_as_it_says_and_faster_at_first():
    h = Hyperparameters.of(
        [Recipe(train={"0": 1}, ema=0.9), Recipe(train={"0": 1}, ema=0.3)], torch.device("cpu")
    )
    zero, ema, expected = torch.zeros(2, 1), torch.zeros(2, 1), torch.zeros(2, 1)
    for step in range(100):
        weights = torch.full((2, 1), float(step % 7))
        now = at_step(h, torch.tensor(step), torch.tensor(0.0))
        update(weights, zero, zero.clone(), zero.clone(), ema, None, now)
        kept = torch.tensor([[min(0.9, (step + 1) / (step + 10))], [min(0.3, (step + 1) / (step + 10))]])
        expected = kept * expected + (1 - kept) * weights
        torch.testing.assert_close(ema, expected)


def test_the_average_of_constant_weights_is_the_weights():
    h = Hyperparameters.of([Recipe(train={"0": 1}, ema=0.9)], torch.device("cpu"))
    zero, ema, weights = torch.zeros(1, 3), torch.zeros(1, 3), torch.ones(1, 3)
    for step in range(400):
        now = at_step(h, torch.tensor(step), torch.tensor(0.0))
        update(weights, zero, zero.clone(), zero.clone(), ema, None, now)
    torch.testing.assert_close(ema, weights)
