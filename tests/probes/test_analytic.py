"""The analytic probe and its measurements: exact on real images, undecided where nothing is to be seen."""

from __future__ import annotations

import math

import pytest
import torch

from conceptlab.errors import InputError
from conceptlab.probes import AnalyticProbe, validate
from conceptlab.probes.geometry import measure, symmetry
from conceptlab.worlds import OKAWA2023, OKAWA2023_BACKGROUND, QUICKSTART, Circles, Samples, Shapes, World
from conceptlab.worlds.raster import coverage

ON_WHITE = {"channels": 3, "backgrounds": (("white", (1.0, 1.0, 1.0)),)}

WORLDS: dict[str, World] = {
    "quickstart": Shapes(**QUICKSTART),
    "okawa": Shapes(**OKAWA2023),
    "okawa turned": Shapes(**OKAWA2023 | {"size_jitter": 0.04, "angle": 30.0}),
    "okawa background": Shapes(**OKAWA2023_BACKGROUND),
    "okawa on white": Shapes(**OKAWA2023 | ON_WHITE),
    "three shapes": Shapes(),
    "circles .2": Circles(colour_separation=0.2),
    "circles .175": Circles(colour_separation=0.175),
    "circles .8": Circles(colour_separation=0.8),
}


@pytest.mark.parametrize("name", WORLDS)
def test_reads_real_images_of_every_class(name: str) -> None:
    result = validate(AnalyticProbe(WORLDS[name]), WORLDS[name], images_per_class=60)
    assert result.joint >= 0.99
    assert min(result.per_class.values()) >= 0.95


@pytest.mark.parametrize("name", ["quickstart", "okawa", "circles .2"])
def test_still_reads_images_that_are_a_little_off(name: str) -> None:
    """Noise of .02 on every pixel, as a half-trained model leaves it."""
    world = WORLDS[name]
    generator = torch.Generator().manual_seed(0)
    for cls in world.space:
        images = world.sample(cls, 50, seed=9).images
        noisy = images + 0.02 * torch.randn(images.shape, generator=generator)
        assert (AnalyticProbe(world).predict(noisy) == torch.tensor(cls)).all(1).float().mean() >= 0.9


def test_measures_size_colour_and_background() -> None:
    world = Shapes(**OKAWA2023 | ON_WHITE)
    for cls in world.space:
        samples = world.sample(cls, 40, seed=1)
        reading = measure(samples.images)
        assert (reading.size - samples.factors["size"]).abs().max() < 0.02
        assert (reading.colour - samples.factors["colour"]).abs().max() < 0.05
        assert torch.equal(reading.background, torch.ones(40, 3))
        assert reading.found.all()


def test_symmetry_moments_have_their_exact_values_at_any_angle() -> None:
    """Triangle of circumradius R: with ∫ zᵏ over (0, u, v) = 2·area/((k+1)(k+2)) Σ uʲ vᵏ⁻ʲ, summed over its three
    parts, ∫ z³ = A R³/10, A = 3√3 R²/4. Square of half side 1: ∫ z⁴ = ∫∫ x⁴ - 6x²y² + y⁴ = -16/15, A = 4."""
    half = torch.full((3,), 0.5)
    zero, angles = torch.zeros(3), torch.tensor([0.0, 20.0, 71.0])
    triangle = symmetry(coverage("triangle", half, zero, zero, angles, 256))
    square = symmetry(coverage("square", half, zero + 0.1, zero, angles, 256))
    circle = symmetry(coverage("circle", half, zero, zero + 0.1, angles, 256))
    third = 1 / (10 * (3 * math.sqrt(3) / 4) ** 1.5)
    fourth = (16 / 15) / 4**3
    assert triangle[:, 0].tolist() == pytest.approx([third] * 3, rel=0.01)
    assert square[:, 1].tolist() == pytest.approx([fourth] * 3, rel=0.01)
    assert triangle[:, 1].max() < 0.02 * fourth
    assert square[:, 0].max() < 0.02 * third
    assert circle.max() < 1e-4


def test_says_nothing_of_an_empty_image() -> None:
    probe = AnalyticProbe(WORLDS["okawa background"])
    blank = torch.stack([torch.zeros(3, 28, 28), torch.ones(3, 28, 28)])
    tables = probe.probabilities(blank)
    assert all(not table.any() for table in tables.values())
    assert (probe.predict(blank) == -1).all()


def test_other_worlds_are_refused() -> None:
    class Elsewhere(World):
        name = "elsewhere"
        space = WORLDS["okawa"].space
        image_shape = (3, 8, 8)
        condition_parts = {"shape": slice(0, 1)}  # noqa: RUF012

        def condition(self, cls: tuple[int, ...]) -> torch.Tensor:
            raise NotImplementedError

        def sample(self, cls: tuple[int, ...], n: int, seed: int) -> Samples:
            raise NotImplementedError

    with pytest.raises(InputError, match="no analytic probe; use kind 'cnn'"):
        AnalyticProbe(Elsewhere())
