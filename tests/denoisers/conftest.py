"""The variants every denoiser test runs over, small enough for a CPU."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from conceptlab.denoisers import Denoiser, build

VARIANTS: dict[str, dict] = {
    "film": {"name": "film"},
    "film-mlp-group": {"name": "film", "embedding_kind": "mlp", "norm": "group"},
    "film-attention": {"name": "film", "attention": True},
    "okawa2023": {"name": "okawa2023", "features": 16, "condition_groups": (2, 3, 1)},
    "okawa2023-paper": {
        "name": "okawa2023",
        "features": 16,
        "condition_entry": "concatenate",
        "attention": True,
    },
    "park2024": {"name": "park2024", "channels": (16, 32), "blocks_per_level": 2},
    "park2024-workshop": {"name": "park2024", "channels": (16, 16, 32), "condition_mlp": "shared"},
}
IMAGE = (3, 16, 16)
CONDITION = (6,)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(params=VARIANTS)
def settings(request: pytest.FixtureRequest) -> dict:
    return VARIANTS[request.param]


def small(settings: dict, seed: int = 0, image: tuple[int, ...] = IMAGE, **more) -> Denoiser:
    return build(**settings, **more, image_shape=image, condition_shape=CONDITION, seed=seed)


def perturbed(denoiser: Denoiser, seed: int = 0) -> Denoiser:
    """As after some training: no layer is zero any more."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in denoiser.parameters():
            parameter += 0.1 * torch.randn(parameter.shape, generator=generator)
    return denoiser


def inputs(batch: int = 4, image: tuple[int, ...] = IMAGE) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(batch, *image, generator=generator)
    time = torch.linspace(0.05, 0.95, batch)
    return x, time, torch.randn(batch, *CONDITION, generator=generator)
