"""The scenes themselves: solids, camera, shadows, the plug for renderers, the cache."""

from __future__ import annotations

import math
import time
from typing import Any

import pytest
import torch
from torch import Tensor

from conceptlab.errors import InputError
from conceptlab.worlds import Scenes, build
from conceptlab.worlds.scenes import raycaster, renderers
from conceptlab.worlds.scenes.camera import CAMERA, HALF_FRAME, Camera
from conceptlab.worlds.scenes.solids import FAR, SHAPES, half_height, meet, normal

SETTINGS: dict[str, Any] = {"resolution": 32, "cells": 8, "most": 4}
SPHERE, CUBE, CYLINDER = range(3)


def hit(shape: int, origin: tuple[float, ...], direction: tuple[float, ...]) -> float:
    found = meet(torch.tensor([shape]), torch.tensor([origin]), torch.tensor([direction]))
    return float(found[0])


@pytest.mark.parametrize(
    ("shape", "origin", "direction", "distance"),
    [
        (SPHERE, (-3.0, 0, 0), (1.0, 0, 0), 2.0),
        (SPHERE, (-3.0, 0, 0.6), (1.0, 0, 0), 3 - 0.8),
        (SPHERE, (-3.0, 0, 1.1), (1.0, 0, 0), FAR),
        (SPHERE, (3.0, 0, 0), (1.0, 0, 0), FAR),
        (CUBE, (-3.0, 0.9, 0.9), (1.0, 0, 0), 2.0),
        (CUBE, (-3.0, -3.0, 0), (1.0, 1.0, 0), 2.0),
        (CUBE, (-3.0, 1.1, 0), (1.0, 0, 0), FAR),
        (CYLINDER, (-3.0, 0.6, 0.9), (1.0, 0, 0), 3 - 0.8),
        (CYLINDER, (0.5, 0.5, 3.0), (0, 0, -1.0), 2.0),
        (CYLINDER, (0.9, 0.9, 3.0), (0, 0, -1.0), FAR),
        (CYLINDER, (-3.0, 0, 1.1), (1.0, 0, 0), FAR),
    ],
)
def test_rays_meet_solids_where_geometry_says(shape, origin, direction, distance) -> None:
    assert hit(shape, origin, direction) == pytest.approx(distance, rel=1e-5)


def test_normals_face_outwards() -> None:
    points = torch.tensor([[0.6, 0, 0.8], [0.3, -1.0, 0.2], [0.6, 0.8, 0.5], [0.2, 0.1, 1.0]])
    found = normal(torch.tensor([SPHERE, CUBE, CYLINDER, CYLINDER]), points)
    expected = torch.tensor([[0.6, 0, 0.8], [0, -1.0, 0], [0.6, 0.8, 0], [0, 0, 1.0]])
    torch.testing.assert_close(found, expected)


def test_a_cube_is_smaller_by_the_root_of_two() -> None:
    heights = half_height(torch.tensor([0, 1, 2]), torch.tensor([0.7, 0.7, 0.35]))
    torch.testing.assert_close(heights, torch.tensor([0.7, 0.7 / math.sqrt(2), 0.35]))


def test_projection_and_rays_are_inverse() -> None:
    camera = Camera.at(torch.tensor([CAMERA], dtype=torch.float64))
    origin, scale = camera.project(torch.zeros(1, 1, 3, dtype=torch.float64), 64)
    torch.testing.assert_close(origin, torch.full((1, 1, 2), 32.0, dtype=torch.float64))
    # A unit of length at the origin, seen from the camera's distance.
    assert scale.item() == pytest.approx(32 / HALF_FRAME / math.dist(CAMERA, (0, 0, 0)))
    rays = camera.rays(64, (0.25, 0.75)).view(64, 64, 3)
    points = camera.position + 5.0 * rays[10, 50][None]
    seen, _ = camera.project(points[None], 64)
    torch.testing.assert_close(seen[0, 0], torch.tensor([50.25, 10.75], dtype=torch.float64))
    # Up in the picture is up in the world.
    assert camera.project(torch.tensor([[[0, 0, 1.0]]], dtype=torch.float64), 64)[0][0, 0, 1] < 32


def test_objects_hide_the_ground_and_cast_shadows() -> None:
    world = Scenes(**SETTINGS)
    factors = world.draw((1,), 6, seed=0)
    empty = {**factors, "count": torch.zeros(6, dtype=torch.int64)}
    with_object, without = world.render(factors), world.render(empty)
    changed = (with_object - without).abs().amax(1) > 4 / 255
    x, y = factors["centres"][:, 0].long().unbind(1)
    assert changed[torch.arange(6), y, x].all()
    # Shadows darken ground well beyond the object's own outline.
    outline = [world.resolution**2 * 0.5 * math.pi * 0.1**2] * 6
    darker = ((without - with_object).amax(1) > 4 / 255).sum((1, 2))
    assert (darker > torch.tensor(outline) * 0.2).all()


def test_hardly_anything_is_hidden_in_the_most_crowded_scenes() -> None:
    world = Scenes()
    scene = world.draw((12,), 12, seed=4)
    camera, solids = Camera.at(scene["camera"]), raycaster.Solids(scene)
    rays = camera.rays(96, (0.5, 0.5))
    distances = torch.stack(list(solids.distances(camera.position[:, None].expand_as(rays), rays)), 1)
    outline = distances < FAR
    seen = outline & (distances == distances.amin(1, keepdim=True))
    visible = seen.sum(2) / outline.sum(2)
    assert visible.min() > 0.75
    assert (visible > 0.95).float().mean() > 0.97


def test_a_small_grey_solid_stands_out_wherever_it_stands() -> None:
    """A detector, or a reader, must see every object: CLEVR's grey is the colour closest to the ground's."""
    world = Scenes()
    factors = world.draw((12,), 8, seed=5)
    factors = factors | {"colour": torch.zeros_like(factors["colour"]), "count": torch.ones(8).long()}
    empty = world.render({**factors, "count": torch.zeros(8).long()})
    x, y = factors["centres"][:, 0].long().unbind(1)
    contrast = (world.render(factors) - empty)[torch.arange(8), :, y, x].abs().amax(1)
    assert contrast.median() > 0.15
    assert contrast.min() > 0.05


def test_materials_and_colours_show() -> None:
    world = Scenes(**SETTINGS)
    factors = world.draw((1,), 4, seed=1)
    base = world.render(factors)
    for name, values in (("material", 2), ("colour", 8), ("shape", len(SHAPES))):
        other = {**factors, name: (factors[name] + 1) % values}
        assert ((world.render(other) - base).abs().amax((1, 2, 3)) > 0.02).all(), name


def test_large_pictures_show_the_same_scene() -> None:
    small, large = Scenes(**SETTINGS), Scenes(**{**SETTINGS, "resolution": 64})
    factors = small.draw((3,), 3, seed=0)
    shrunk = torch.nn.functional.avg_pool2d(large.render(factors), 2)
    assert (shrunk - small.render(factors)).abs().mean() < 0.01


def test_another_renderer_plugs_in() -> None:
    @renderers.register("test-flat")
    class Flat:
        def __call__(self, factors: dict[str, Tensor], resolution: int) -> Tensor:
            return torch.full((len(factors["count"]), 3, resolution, resolution), 0.5)

    try:
        world = build("scenes", renderer="test-flat", **SETTINGS)
        assert (world.sample((2,), 2, 0).images - 0.5).abs().max() < 1 / 255
    finally:
        del renderers._RENDERERS._makers["test-flat"]
    with pytest.raises(InputError, match="unknown renderer 'blender'"):
        build("scenes", renderer="blender")


def test_rendered_sets_are_kept_on_disk(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("CONCEPTLAB_CACHE", str(tmp_path))
    monkeypatch.setattr("conceptlab.worlds.scenes.cache.LEAST", 4)
    world = Scenes(**SETTINGS)
    first = world.sample((2,), 6, seed=0)
    files = list((tmp_path / "scenes").iterdir())
    assert len(files) == 1
    # Nothing is rendered again: not the same, not fewer, not with other labels.
    monkeypatch.setattr(Scenes, "render", lambda self, factors: 1 / 0)
    again = world.sample((2,), 6, seed=0)
    assert torch.equal(again.images, first.images)
    assert torch.equal(again.conditions, first.conditions)
    assert torch.equal(world.sample((2,), 5, seed=0).images, first.images[:5])
    one = Scenes(**SETTINGS, labelled="one").sample((2,), 6, seed=0)
    assert torch.equal(one.images, first.images)
    assert one.conditions.sum() == 6
    for other in ({"seed": 1}, {"n": 8}, {"cls": (1,)}):
        with pytest.raises(ZeroDivisionError):
            world.sample(**{"cls": (2,), "n": 6, "seed": 0, **other})
    # A damaged file is made again.
    monkeypatch.undo()
    monkeypatch.setenv("CONCEPTLAB_CACHE", str(tmp_path))
    monkeypatch.setattr("conceptlab.worlds.scenes.cache.LEAST", 4)
    files[0].write_bytes(b"no")
    assert torch.equal(world.sample((2,), 6, seed=0).images, first.images)


@pytest.mark.gpu
def test_a_training_set_is_rendered_on_a_gpu(tmp_path, monkeypatch, capsys) -> None:
    """30,000 pictures of one to three objects, as `paper` scale trains on; says how long it took."""
    monkeypatch.setenv("CONCEPTLAB_CACHE", str(tmp_path))  # rendered, not read
    world = Scenes()
    world.sample((3,), 8, seed=1)  # what is done once is not counted
    torch.cuda.synchronize()
    start = time.perf_counter()
    sets = [world.sample((count,), 10_000, seed=0).images for count in (1, 2, 3)]
    torch.cuda.synchronize()
    with capsys.disabled():
        print(f"\n30,000 scenes of 1 to 3 objects, 64×64: {time.perf_counter() - start:.1f} s")
    assert [images.shape for images in sets] == [(10_000, 3, 64, 64)] * 3
    # More objects hide more of the ground.
    few, some, many = (float(images.var((2, 3)).mean()) for images in sets)
    assert 0 < few < some < many
