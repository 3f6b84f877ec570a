from __future__ import annotations

import pytest
import torch

from conceptlab import random
from conceptlab.denoisers import build, dropout_keys, set_dropout_key
from conceptlab.errors import InputError

from .conftest import inputs, perturbed, small

SMALL = {"name": "park2024", "channels": (16, 32)}


def test_size_is_the_public_codes():
    """10.9 M there, of which two convolutions (256→256 and 64→64, both 2×2) are never used."""
    unused = (256 * 256 + 64 * 64) * 4 + 256 + 64
    denoiser = build("park2024", (3, 32, 32), (4,), seed=0)
    assert sum(p.numel() for p in denoiser.parameters()) + unused == pytest.approx(10.9e6, rel=0.001)


def test_output_starts_as_the_input():
    x, time, condition = inputs()
    assert torch.equal(small(SMALL)(x, time, condition), x)


def test_every_block_has_an_embedding_of_its_width_or_all_share_one():
    _, _, condition = inputs()
    per_block = small(SMALL).embed(condition)
    assert {name: value.shape[1] for name, value in per_block.items()} == {
        **{f"{way}0_{block}": 16 for way in ("down", "up") for block in (0, 1)},
        **{f"{way}1_{block}": 32 for way in ("down", "up") for block in (0, 1)},
        "middle_0": 32,
        "middle_1": 32,
    }
    shared = small({**SMALL, "condition_mlp": "shared"}).embed(condition)
    assert {name: value.shape[1] for name, value in shared.items()} == {"shared": 64}


def test_every_block_drops_by_its_own_number_and_only_in_training():
    denoiser = perturbed(small(SMALL, dropout=0.5))
    assert len(dropout_keys(denoiser)) == 10
    layers = [module.layer for module in denoiser.modules() if hasattr(module, "layer")]
    assert layers == list(range(10))
    x, time, condition = inputs()
    key = random.key(0, "dropout")
    quiet = denoiser.eval()(x, time, condition)
    set_dropout_key(denoiser.train(), key)
    first = denoiser(x, time, condition)
    assert torch.equal(first, denoiser(x, time, condition))
    assert not torch.allclose(first, quiet)
    set_dropout_key(denoiser, random.fold(key, 1))
    assert not torch.allclose(first, denoiser(x, time, condition))
    assert torch.equal(quiet, denoiser.eval()(x, time, condition))


def test_attention_switch_adds_the_attention_and_nothing_else():
    with_attention = dict(small(SMALL).named_parameters())
    without = dict(small(SMALL, attention=False).named_parameters())
    assert {name.split(".")[0] for name in with_attention.keys() - without.keys()} == {"attention"}


def test_bad_settings_are_input_errors():
    with pytest.raises(InputError, match="did you mean 'shared'"):
        small(SMALL, condition_mlp="share")
    with pytest.raises(InputError, match="at least one level"):
        small({"name": "park2024", "channels": ()})
    with pytest.raises(InputError, match="divisible by 8"):
        small({"name": "park2024", "channels": (16, 16, 16, 16)}, image=(3, 12, 12))
