"""Shapes: exact areas and places, what is free, and settings that cannot be drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from conceptlab.errors import InputError
from conceptlab.worlds import OKAWA2023, OKAWA2023_BACKGROUND, QUICKSTART, Shapes
from conceptlab.worlds.raster import coverage

SHAPES = ("circle", "triangle", "square")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("angle", [0.0, 17.0, 45.0, 133.0])
def test_every_shape_has_the_area_of_the_circle(shape: str, angle: float) -> None:
    size = torch.tensor([0.3, 0.5])
    zero = torch.zeros(2)
    covered = coverage(shape, size, zero + 0.05, zero - 0.03, zero + angle, 64)
    areas = covered.sum((1, 2)) * (2 / 64) ** 2
    assert torch.allclose(areas, math.pi * size**2, rtol=0.01)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("angle", [0.0, 30.0, 77.0])
def test_a_shape_stands_at_the_centre_of_its_bounding_box(shape: str, angle: float) -> None:
    one = torch.ones(1)
    covered = coverage(shape, 0.4 * one, 0.125 * one, -0.25 * one, angle * one, 128)[0] > 0.5
    middles = []
    for axis in (0, 1):
        hit = covered.any(axis).nonzero()[:, 0]
        middles.append((hit.min() + hit.max() + 1).item() / 128 - 1)
    assert middles == pytest.approx([0.125, -0.25], abs=2 / 128)


def test_a_triangle_at_angle_zero_points_up() -> None:
    covered = coverage("triangle", torch.tensor([0.5]), *torch.zeros(3, 1).unbind(), 32)[0]
    assert covered[:16].sum() < covered[16:].sum()
    assert torch.allclose(covered, covered.flip(1), atol=1e-5)
    turned = coverage("triangle", torch.tensor([0.5]), *torch.zeros(2, 1).unbind(), torch.tensor([180.0]), 32)
    assert torch.allclose(turned[0].flip(0), covered, atol=1e-5)


def test_edges_are_anti_aliased_and_the_inside_is_the_exact_colour() -> None:
    world = Shapes(**QUICKSTART)
    factors = world.draw((0, 0, 0), 1, seed=0)
    image = world.render(factors)[0]
    assert torch.allclose(image[:, 8, 8], factors["colour"][0])
    assert torch.equal(image[:, 0, 0], torch.ones(3))
    assert len(image.unique()) > 20


@pytest.mark.parametrize("settings", [QUICKSTART, OKAWA2023, {}])
def test_presets_keep_the_object_inside_the_frame(settings: dict) -> None:
    """What is visible has the area of the whole object, drawn finely, where areas are exact."""
    world = Shapes(**settings | {"channels": 4, "resolution": 64})
    for cls in world.space:
        samples = world.sample(cls, 100, seed=0)
        visible = samples.images[:, 3].sum((1, 2)) * (2 / 64) ** 2
        whole = math.pi * samples.factors["size"] ** 2
        assert torch.allclose(visible, whole, rtol=0.01)


def test_quickstart_condition_is_the_recipe() -> None:
    world = Shapes(**QUICKSTART)
    assert list(world.condition_parts) == ["shape", "size", "colour"]
    expected = [0.0, 1.4, -1.0, -0.7, -0.7, 0.7]
    assert world.condition((1, 1, 1)).tolist() == pytest.approx(expected, abs=1e-6)
    assert world.condition((0, 0, 0)).tolist() == pytest.approx([1.4, 0, 1, 0.7, -0.7, -0.7], abs=1e-6)


def test_okawa_condition_is_shape_colour_and_size_in_the_units_of_the_code() -> None:
    world = Shapes(**OKAWA2023)
    assert world.space.order == "(shape, size, colour)"
    assert world.condition((0, 1, 1)).tolist() == pytest.approx([1, 0, 0.25, 0.25, 0.75, 1.6])
    four = Shapes(**OKAWA2023_BACKGROUND)
    assert four.condition((0, 1, 1, 1)).tolist() == pytest.approx([1, 0, 0.25, 0.25, 0.75, 1.6, 0])
    assert four.condition((0, 1, 1, 0)).tolist() == pytest.approx([1, 0, 0.25, 0.25, 0.75, 1.6, 1])


def test_images_are_told_with_their_own_values_or_with_those_of_their_class() -> None:
    own, alike = Shapes(**OKAWA2023), Shapes(**OKAWA2023, told="class")
    first, second = own.sample((0, 1, 1), 50, seed=0), alike.sample((0, 1, 1), 50, seed=0)
    assert torch.equal(first.images, second.images)
    assert (first.conditions.std(0)[2:] > 0.05).all()
    assert (second.conditions == own.condition((0, 1, 1))).all()
    with pytest.raises(InputError, match="told"):
        Shapes(told="never")


def test_what_is_not_a_concept_is_fixed_or_free() -> None:
    world = Shapes(variables=("colour",), free=("background",), angle=0.0)
    assert world.space.names == ("colour",)
    assert [v.name for v in world.space.free] == ["background", "x", "y"]
    factors = world.draw((1,), 400, seed=0)
    assert factors["shape"].unique().tolist() == [0]
    assert factors["angle"].unique().tolist() == [0]
    white = (factors["background"] == 1).all(1).float().mean()
    assert 0.4 < white < 0.6


def test_free_variables_may_be_conditioned_on() -> None:
    world = Shapes(conditioned=("size", "x", "shape"), free=("background",), variables=("size", "shape"))
    samples = world.sample((1, 2), 5, seed=0)
    assert torch.equal(samples.conditions[:, 1], samples.factors["x"])
    assert world.condition((1, 2)).tolist() == pytest.approx([0.32, 0, 0, 0, 1])


def test_alpha_is_the_coverage() -> None:
    opaque, clear = Shapes(resolution=28), Shapes(resolution=28, channels=4)
    rgb, rgba = opaque.sample((1, 0, 0), 3, 0).images, clear.sample((1, 0, 0), 3, 0).images
    assert clear.image_shape == (4, 28, 28)
    assert torch.equal(rgba[:, :3], rgb)
    assert rgba[:, 3, 0, 0].tolist() == [0, 0, 0]
    assert rgba[:, 3].amax((1, 2)).tolist() == [1, 1, 1]


def test_jitter_stays_in_its_range() -> None:
    world = Shapes(**QUICKSTART)
    factors = world.draw((0, 1, 1), 500, seed=0)
    assert 0.30 <= factors["size"].min() < 0.31
    assert 0.45 < factors["size"].max() <= 0.46
    assert 0.45 <= factors["colour"][:, 2].min() < 0.46
    assert factors["colour"].min() == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"resolution": 2}, "resolution=2 must be a whole number"),
        ({"channels": 1}, "must be 3 .RGB. or 4"),
        ({"variables": ["shape", "shape"]}, "names something twice"),
        ({"variables": ["form"]}, "unknown name 'form' in setting 'variables'"),
        ({"variables": []}, "must list 1 or more"),
        ({"free": ["size"]}, "both in variables and in free"),
        ({"shapes": ["circle", "star"]}, "unknown name 'star'"),
        ({"sizes": [["large", 0.6], ["small", 0.01]]}, r"sizes\[small\]=0.01 must be a number"),
        ({"sizes": [0.6, 0.4]}, "must be 1 or more pairs"),
        ({"colours": [["red", [0.9, 0.1]]]}, "three numbers"),
        ({"colours": [["red", [9, 0, 0]]]}, "from 0 to 1"),
        ({"location": -1.0}, "location=-1.0 must be"),
        ({"location": float("nan")}, "location=nan must be"),
        ({"condition_scale": {"hue": 2}}, "unknown name 'hue'"),
    ],
)
def test_settings_that_cannot_be_drawn_are_refused(settings: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Shapes(**settings)


@pytest.mark.parametrize("ground", [("empty", (0.0, 0.0, 0.0)), ("grey", (0.4, 0.4, 0.4))])
def test_laid_on_paper_an_image_with_coverage_is_the_image_on_its_ground(ground) -> None:
    """On nothing that is white paper. Weighted by coverage twice, a pixel that is half covered would be dark."""
    paper = ("white", (1.0, 1.0, 1.0)) if ground[0] == "empty" else ground
    worlds = (
        Shapes(**OKAWA2023 | {"backgrounds": (ground,)}),
        Shapes(**OKAWA2023 | {"channels": 3, "backgrounds": (paper,)}),
    )
    clear, solid = (
        (255 * world.sample((0, 0, 0), 4, seed=1).images).round().byte().numpy() for world in worlds
    )
    assert ((clear[:, 3] > 100) & (clear[:, 3] < 155)).any(), "no pixel is half covered"
    shown = worlds[0].on_paper(clear)
    assert shown.shape == solid.shape
    assert np.abs(shown.astype(int) - solid).max() <= 1
    np.testing.assert_array_equal(worlds[1].on_paper(solid), solid)
