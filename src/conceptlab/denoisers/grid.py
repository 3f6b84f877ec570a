"""What denoisers of grid conditions share: the condition is a grid over the image, (channels, cells, cells)."""

from __future__ import annotations

from torch import Tensor, nn

from conceptlab.denoisers.base import Embedding, TimeFeatures
from conceptlab.errors import InputError

_TIME_FEATURES = 64


class GridEmbedding(nn.Module):
    """Every cell by itself, so that what a cell tells goes nowhere else: {"grid": (B, features · cells · cells)}."""

    def __init__(self, condition_shape: tuple[int, ...], features: int) -> None:
        super().__init__()
        self.network = nn.Conv2d(condition_shape[0], features, 1)

    def forward(self, condition: Tensor) -> Embedding:
        return {"grid": self.network(condition).flatten(1)}


class TimeEmbedding(nn.Sequential):
    """Time in [0, 1] to features that every block reads."""

    def __init__(self, units: int) -> None:
        super().__init__(
            TimeFeatures(_TIME_FEATURES),
            nn.Linear(_TIME_FEATURES, units),
            nn.SiLU(),
            nn.Linear(units, units),
            nn.SiLU(),
        )


def check_grid(
    image_shape: tuple[int, ...], condition_shape: tuple[int, ...], name: str
) -> tuple[int, int, int]:
    """(colours, resolution, cells) of square images and a grid that divides them."""
    square = len(image_shape) == 3 and image_shape[1] == image_shape[2]
    grid = len(condition_shape) == 3 and condition_shape[1] == condition_shape[2]
    if not square or not grid or image_shape[1] % condition_shape[1]:
        raise InputError(
            f"denoiser '{name}' got images {tuple(image_shape)} and conditions {tuple(condition_shape)}; it needs "
            "square images and conditions (channels, cells, cells) whose cells divide them, as of world 'discs'"
        )
    return image_shape[0], image_shape[1], condition_shape[1]
