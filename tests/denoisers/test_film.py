from __future__ import annotations

import torch

from conceptlab.denoisers import build

from .conftest import inputs, perturbed, small


def test_size_and_start():
    denoiser = build("film", (3, 16, 16), (6,), seed=0)
    assert sum(p.numel() for p in denoiser.parameters()) == 356_632
    assert denoiser(*inputs()).abs().max() == 0


def test_linear_embedding_adds_and_mlp_does_not():
    """What the default builds in: the embedding of two changes is the sum of the changes."""
    base, one, two = torch.zeros(3, 1, 6).unbind()
    one, two = one.clone(), two.clone()
    one[0, 0] = 1.0
    two[0, 3] = 1.0

    def interaction(kind: str) -> torch.Tensor:
        denoiser = perturbed(small({"name": "film"}, embedding_kind=kind))
        e = [denoiser.embed(c)["shared"] for c in (base, one, two, one + two)]
        return (e[3] - e[1] - e[2] + e[0]).abs().max()

    assert interaction("linear") < 1e-6
    assert interaction("mlp") > 1e-3


def test_attention_is_off_unless_asked_for_and_begins_as_nothing():
    without, on = (build("film", (3, 16, 16), (6,), seed=0, attention=on) for on in (False, True))
    added = set(on.state_dict()) - set(without.state_dict())
    assert {name.split(".")[0] for name in added} == {"attention"}
    for name, value in without.state_dict().items():
        assert torch.equal(value, on.state_dict()[name]), f"{name} starts otherwise"
    moved = perturbed(on)
    images, times, conditions = inputs()
    before = moved(images, times, conditions)
    moved.attention.out.weight.data.zero_()  # pyright: ignore
    assert (moved(images, times, conditions) - before).abs().max() > 1e-4
