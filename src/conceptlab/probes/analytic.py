"""The analytic probe: geometry and colour straight from pixels, nothing learned."""

from __future__ import annotations

from typing import Any, Self

import torch
from torch import Tensor

from conceptlab.errors import InputError
from conceptlab.probes.base import Probe
from conceptlab.probes.geometry import Reading, measure, symmetry
from conceptlab.worlds import Circles, Shapes, World
from conceptlab.worlds.raster import coverage

# How sure the probe is: halfway between two values it says one half, at a value e^-8 for the other.
_SHARPNESS = 0.25


class AnalyticProbe(Probe):
    """Compares what it measures with the values that the world's settings name.

    It knows nothing of the world's images, so it is an independent witness beside a learned judge.
    """

    kind = "analytic"

    def __init__(self, world: World) -> None:
        if not isinstance(world, Shapes | Circles):
            raise InputError(f"world '{world.name}' has no analytic probe; use kind 'cnn'")
        self.space, self.image_shape = world.space, world.image_shape
        self._settings = {"kind": self.kind, "world": world.name, "world_settings": world.settings}
        expected = _expected_shapes(world) if isinstance(world, Shapes) else _expected_circles(world)
        self.expected = {name: expected[name] for name in world.space.names}

    def to(self, device: torch.device) -> Self:
        self.expected = {name: values.to(device) for name, values in self.expected.items()}
        return super().to(device)

    @property
    def settings(self) -> dict[str, Any]:
        return self._settings

    def read(self, images: Tensor) -> dict[str, Tensor]:
        reading = measure(images)
        return {name: self._compare(name, reading) for name in self.space.names}

    def _compare(self, name: str, reading: Reading) -> Tensor:
        measured = {
            "shape": reading.symmetry,
            "size": reading.size[:, None],
            "colour": reading.colour,
            "background": reading.background,
        }[name]
        expected = self.expected[name]
        # Scale of each variable: the smallest distance between two of its values.
        apart = torch.cdist(expected, expected)
        nearest = apart[apart > 0].min() if bool((apart > 0).any()) else apart.new_ones(())
        distances = torch.cdist(measured, expected) / (_SHARPNESS * nearest)
        table = (-0.5 * distances.square()).softmax(1)
        # Where there is no object nothing is read, the background neither: no class is drawn.
        return table * reading.found[:, None]


def _expected_shapes(world: Shapes) -> dict[str, Tensor]:
    half, zero = torch.tensor([0.5]), torch.zeros(1)
    drawn = [coverage(shape, half, zero, zero, zero, 256) for shape in world.shapes]
    return {
        "shape": symmetry(torch.cat(drawn)),
        "size": torch.tensor([[size] for _, size in world.sizes]),
        "colour": torch.tensor([colour for _, colour in world.colours]),
        "background": torch.tensor([colour for _, colour in world.backgrounds]),
    }


def _expected_circles(world: Circles) -> dict[str, Tensor]:
    classes = [world.class_factors((value, value)) for value in (0, 1)]
    return {
        "colour": torch.stack([colour for colour, _ in classes]),
        "size": torch.stack([size for _, size in classes])[:, None],
    }
