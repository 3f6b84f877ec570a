from __future__ import annotations

import pytest
import torch

from conceptlab.denoisers import build
from conceptlab.errors import InputError

from .conftest import perturbed, small


@pytest.mark.parametrize(("features", "expected"), [(128, 6.8e6), (256, 27e6)])
def test_size_is_the_public_codes(features, expected):
    denoiser = build("okawa2023", (3, 28, 28), (6,), seed=0, features=features, condition_groups=(2, 3, 1))
    assert sum(p.numel() for p in denoiser.parameters()) == pytest.approx(expected, rel=0.01)


def test_the_first_convolutions_sum_keeps_its_variance():
    pair = perturbed(small({"name": "okawa2023", "features": 16, "norm": "group"})).enter
    x = torch.rand(2, 3, 8, 8)
    first = pair.first(x)
    torch.testing.assert_close(pair(x) * 2**0.5, first + pair.second(first))


def test_groups_add_up_and_one_group_need_not():
    """With separate groups the effect of shape and of size on the embedding add; within a group they mix."""

    def interaction(**settings) -> float:
        denoiser = perturbed(small({"name": "okawa2023", "features": 16, **settings}))
        corners = torch.zeros(4, 6)
        corners[1, 0] = corners[2, 5] = corners[3, 0] = corners[3, 5] = 1.0
        e = denoiser.embed(corners)["up1"]
        return (e[3] - e[1] - e[2] + e[0]).abs().max().item()

    assert interaction(condition_groups=(2, 3, 1)) < 1e-5
    assert interaction() > 1e-3


@pytest.mark.parametrize("groups", [(2, 3), (2, 3, 2), (6, 0)])
def test_groups_must_cover_the_condition(groups):
    with pytest.raises(InputError, match="condition_groups"):
        small({"name": "okawa2023", "features": 16, "condition_groups": groups})


def test_unknown_entry():
    with pytest.raises(InputError, match="did you mean 'multiply'"):
        small({"name": "okawa2023", "features": 16, "condition_entry": "multipy"})
