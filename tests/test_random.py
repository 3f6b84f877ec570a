"""The generator against the published known answers, and its draws against their distributions."""

from __future__ import annotations

import pytest
import torch
from scipy import stats

from conceptlab import random
from conceptlab.errors import InputError


def words(*values: int) -> tuple[torch.Tensor, torch.Tensor]:
    first, second = (torch.tensor(v - 2**32 if v >= 2**31 else v, dtype=torch.int32) for v in values)
    return first, second


@pytest.mark.parametrize(
    ("key", "counter", "expected"),
    [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
        ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
    ],
)
def test_block_function_gives_the_published_answers(key, counter, expected):
    result = random.threefry(words(*key), words(*counter))
    assert tuple(int(word) & 0xFFFFFFFF for word in result) == expected


def test_keys_are_stable_across_versions():
    # Stored runs are replayed by these numbers: a change here orphans every earlier run.
    assert random.key(0, "noise").tolist() == [-667061274, 1616058304]
    assert random.bits(random.key(0, "noise"), 3).tolist() == [-1881772097, -1744276239, -1995001445]


def test_keys_differ_by_seed_purpose_and_fold():
    made = [random.key(seed, purpose) for seed in (0, 1, 2**32, 2**33) for purpose in ("noise", "times")]
    made += [random.fold(made[0], step) for step in range(1000)]
    made += [random.fold(random.fold(made[0], 1), 2), random.fold(random.fold(made[0], 2), 1)]
    assert len({tuple(key.tolist()) for key in made}) == len(made)


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_seed_out_of_range_is_an_input_error(seed):
    with pytest.raises(InputError, match="seed"):
        random.key(seed, "noise")


def test_fold_of_a_tensor_equals_fold_of_each_number():
    key = random.key(3, "noise")
    folded = random.fold(key, torch.arange(5))
    assert folded.shape == (5, 2)
    for step in range(5):
        assert torch.equal(folded[step], random.fold(key, step))


def draws(key: torch.Tensor) -> list[torch.Tensor]:
    return [
        random.bits(key, 7),
        random.uniform(key, (3, 5)),
        random.normal(key, (3, 5, 3)),
        random.integers(key, (9,), 1000),
        random.normal(random.fold(key, 4), ()),
    ]


def test_batched_keys_draw_what_each_key_draws_alone():
    keys = torch.stack([random.key(seed, "noise") for seed in range(4)])
    mapped = torch.func.vmap(lambda key: tuple(draws(key)))(keys)
    for batched, vmapped, *alone in zip(draws(keys), mapped, *(draws(key) for key in keys)):
        assert torch.equal(batched, torch.stack(alone))
        assert torch.equal(vmapped, torch.stack(alone))


def test_fold_under_vmap_with_batched_steps_only():
    key = random.key(0, "noise")
    folded = torch.func.vmap(lambda step: random.fold(key, step))(torch.arange(3))
    assert torch.equal(folded, random.fold(key, torch.arange(3)))


def test_a_shorter_draw_begins_a_longer_one():
    key = random.key(0, "noise")
    assert torch.equal(random.normal(key, (101,)), random.normal(key, (4000,))[:101])
    assert torch.equal(random.bits(key, 6), random.bits(key, 101)[:6])


@pytest.mark.parametrize("seed", range(3))
def test_normal_and_uniform_pass_kolmogorov_smirnov(seed):
    n = 200_000
    normals = random.normal(random.key(seed, "normal"), (n,))
    uniforms = random.uniform(random.key(seed, "uniform"), (n,))
    assert stats.kstest(normals.double().numpy(), "norm").pvalue > 1e-3
    assert stats.kstest(uniforms.double().numpy(), "uniform").pvalue > 1e-3
    # Five standard errors of the mean, the variance and the fourth moment.
    assert abs(normals.mean()) < 5 / n**0.5
    assert abs(normals.square().mean() - 1) < 5 * (2 / n) ** 0.5
    assert abs(normals.pow(4).mean() - 3) < 5 * (96 / n) ** 0.5
    assert uniforms.min() >= 0
    assert uniforms.max() < 1


def test_streams_are_uncorrelated():
    """Across steps, purposes, seeds and lags no correlation beyond five standard errors."""
    n = 20_000
    keys = [
        random.fold(random.key(seed, p), s) for seed in (0, 1) for p in ("noise", "times") for s in (0, 1, 2)
    ]
    rows = random.normal(torch.stack(keys), (n,)).double()
    correlation = torch.corrcoef(torch.cat([rows, rows[:1].roll(1, dims=1), rows[:1].roll(2, dims=1)]))
    off_diagonal = correlation - torch.eye(len(correlation), dtype=torch.float64)
    assert off_diagonal.abs().max() < 5 / n**0.5


def test_a_derived_key_is_drawn_from_no_key():
    key = random.key(0, "bits")
    drawn = set(random.bits(key, 100).tolist())
    assert len(drawn) == 100
    assert not drawn & set(random.fold(key, torch.arange(50)).flatten().tolist())


def test_every_bit_is_fair():
    n = 50_000
    drawn = random.bits(random.key(0, "bits"), n).to(torch.int64) & 0xFFFFFFFF
    ones = torch.stack([(drawn >> bit) & 1 for bit in range(32)]).double().mean(1)
    assert (ones - 0.5).abs().max() < 5 * 0.5 / n**0.5


def test_integers_cover_their_range_evenly():
    drawn = random.integers(random.key(0, "batch"), (70_000,), 7)
    counts = torch.bincount(drawn)
    assert counts.shape == (7,)
    assert stats.chisquare(counts.numpy()).pvalue > 1e-3


def test_integers_with_a_range_per_member():
    keys = torch.stack([random.key(0, "batch")] * 2)
    drawn = random.integers(keys, (50, 20), torch.tensor([3, 1000]))
    assert torch.equal(drawn[0], random.integers(keys[0], (50, 20), 3))
    assert torch.equal(drawn[1], random.integers(keys[0], (50, 20), 1000))
