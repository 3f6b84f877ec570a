from __future__ import annotations

import pytest
import torch

from conceptlab import random
from conceptlab.denoisers import KeyedDropout
from conceptlab.errors import InputError


def dropped(key: torch.Tensor | None, layer: int = 0, shape=(16, 8, 4, 4), rate: float = 0.3) -> torch.Tensor:
    module = KeyedDropout(rate, layer)
    if key is not None:
        module.key = key
    return module(torch.ones(shape))


def test_mask_is_a_function_of_key_and_layer():
    key = random.key(0, "dropout")
    assert torch.equal(dropped(key), dropped(key))
    assert not torch.equal(dropped(key), dropped(random.fold(key, 1)))
    assert not torch.equal(dropped(key), dropped(key, layer=1))


def test_images_have_masks_of_their_own_that_do_not_depend_on_the_batch():
    key = random.key(0, "dropout")
    rows = dropped(key).flatten(1)
    assert len({tuple(row.tolist()) for row in rows}) == len(rows)
    assert torch.equal(dropped(key, shape=(3, 8, 4, 4)), dropped(key)[:3])


def test_the_mask_is_the_hash_that_its_definition_says():
    """With Python's own whole numbers; a kernel on a GPU computes it a third time."""
    rate, n = 0.3, 500
    add, flip = (word % 2**32 for word in random.fold(random.key(0, "dropout"), 4).tolist())
    kept = []
    for index in range(n):
        word = (index + add) * 0x7FEB352D % 2**32
        kept.append((word ^ (word >> 16) ^ flip) * 0x846CA68B % 2**32 >= round(rate * 2**32))
    found = dropped(random.key(0, "dropout"), layer=4, shape=(n,), rate=rate) != 0
    assert found.tolist() == kept


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_keep_rate_and_mean(rate):
    n = 200_000
    out = dropped(random.key(1, "dropout"), shape=(n,), rate=rate)
    error = (rate * (1 - rate) / n) ** 0.5
    assert abs((out == 0).float().mean() - rate) < 5 * error
    assert abs(out.mean() - 1) < 5 * error / (1 - rate)
    kept = out[out != 0]
    torch.testing.assert_close(kept, torch.full_like(kept, 1 / (1 - rate)), rtol=1e-4, atol=0)


def test_neighbours_layers_and_steps_are_dropped_independently():
    n, rate = 200_000, 0.3
    key = random.key(2, "dropout")
    masks = [
        (dropped(k, layer, (n,), rate) == 0).double() - rate
        for k in (key, random.fold(key, 1))
        for layer in (0, 1)
    ]
    pairs = [(masks[0][: n - lag], masks[0][lag:]) for lag in (1, 2, 3, 8, 64, 65_536)]
    pairs += [(masks[0], other) for other in masks[1:]]
    for one, other in pairs:
        correlation = (one * other).mean() / (rate * (1 - rate))
        assert abs(correlation) < 5 / len(one) ** 0.5


def test_identity_without_a_key_in_eval_and_at_rate_zero():
    key = random.key(0, "dropout")
    ones = torch.ones(16, 8, 4, 4)
    assert torch.equal(dropped(None), ones)
    assert torch.equal(dropped(key, rate=0.0), ones)
    module = KeyedDropout(0.3, 0).eval()
    module.key = key
    assert torch.equal(module(ones), ones)


@pytest.mark.parametrize("rate", [-0.1, 1.0])
def test_impossible_rates_are_input_errors(rate):
    with pytest.raises(InputError, match="dropout"):
        KeyedDropout(rate, 0)
