"""The detector: on real images, on images with known answers, and before it may judge."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from conceptlab.errors import InputError
from conceptlab.probes import Detector, Fitting, load_probe, require_judge, save_probe, train_probe, validate
from conceptlab.probes.detector import STRIDE, Found, shortfall
from conceptlab.worlds import ObjectWorld, build

WORLD = {"name": "discs", "resolution": 16, "cells": 4, "radius": 2.0, "gap": 2.0, "most": 4}


@pytest.fixture(scope="module")
def world() -> ObjectWorld:
    world = build(**WORLD)
    assert isinstance(world, ObjectWorld)
    return world


@pytest.fixture(scope="module")
def detector(world) -> Detector:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    probe = train_probe(world, "detector", images_per_class=60, fitting=Fitting(steps=100, batch=32))
    torch.set_num_threads(threads)
    assert isinstance(probe, Detector)
    return probe


def test_it_counts_and_finds_real_objects(world, detector):
    found = validate(detector, world, images_per_class=60)
    assert found.joint >= 0.95
    factors = world.draw((3,), 40, seed=9)
    seen = detector.find(world.render(factors))
    away = [torch.cdist(true, here).amin(1) for here, true in zip(seen.above(), factors["centres"][:, :3])]
    pixels = torch.cat(away)
    assert pixels.median() < 0.5
    assert (pixels < 1.5).float().mean() > 0.95
    # The hottest come first, and a higher bar never adds an object.
    assert (seen.heat.diff(dim=1) <= 0).all()
    assert all(len(high) <= len(low) for high, low in zip(seen.above(0.8), seen.above(0.2)))


def test_it_is_validated_on_many_images_of_every_number(world, detector):
    found = validate(detector, world)
    assert found.images_per_class == 500
    assert list(found.per_class) == [str(k) for k in range(world.most + 1)]


def test_more_objects_than_there_can_be_are_counted_wrong(world, monkeypatch):
    """It sees one object too many in every image: of the largest number, too, none is counted right."""
    detector = Detector("detector", world.space, world.image_shape, Fitting(), seed=0)
    true = torch.cat([torch.full((5,), k) for k in range(world.most + 1)])
    heat = (torch.arange(2 * world.most) <= true[:, None]).float()
    monkeypatch.setattr(detector, "find", lambda images: Found(torch.zeros(*heat.shape, 2), heat))
    found = validate(detector, world, images_per_class=5)
    assert found.joint == 0
    assert set(found.per_class.values()) == {0.0}
    assert sum(found.confusion[-1]) == 0, "five of four objects is no number of theirs"
    assert "0.0% of images with 4 objects" in str(
        shortfall({**found.per_class, **dict.fromkeys("0123", 1.0)})
    )


def test_empty_and_meaningless_images_hold_nothing(world, detector):
    assert detector.predict(world.sample((0,), 5, 3).images).unique().tolist() == [0]
    grey = torch.full((2, *world.image_shape), 0.5)
    assert (detector.find(grey).heat[:, 0] < 0.5).all()


def test_it_survives_a_file(world, detector, tmp_path):
    save_probe(detector, tmp_path / "probe")
    again = load_probe(tmp_path / "probe")
    assert isinstance(again, Detector)
    images = world.sample((2,), 4, 0).images
    assert torch.equal(again.find(images).heat, detector.find(images).heat)


def test_peaks_of_a_known_map(world):
    """Heat is written by hand: two peaks, one of them between places, and a ridge beside the first."""
    detector = Detector("detector", world.space, world.image_shape, Fitting(), seed=0)
    output = torch.full((1, 3, 8, 8), -9.0)
    output[0, 0, 2, 3], output[0, 0, 2, 4], output[0, 0, 6, 1] = 4.0, 3.0, 2.0
    output[0, 1:, 6, 1] = torch.tensor([0.0, 9.0])  # half a place to the right, a whole one down
    found = detector._peaks(output).above()[0]
    expected = torch.tensor([[3.0, 2.0], [1.5, 7.0]]) * STRIDE
    torch.testing.assert_close(found, expected, atol=1e-2, rtol=0)


def test_the_loss_is_least_for_the_true_map(world):
    detector = Detector("detector", world.space, world.image_shape, Fitting(), seed=0)
    targets = torch.tensor([[[7.0, 5.0, 1.0], [2.0, 2.0, 0.0]]])
    true = torch.full((1, 3, 8, 8), -9.0)
    true[0, 0, 2, 3] = 9.0
    true[0, 1:, 2, 3] = 0.0
    missed, moved, doubled = true.clone(), true.clone(), true.clone()
    missed[0, 0, 2, 3] = -9.0
    moved[0, 1, 2, 3] = 9.0
    doubled[0, 0, 6, 6] = 9.0
    least = detector._loss(true, targets)
    assert least < 0.01
    assert all(detector._loss(other, targets) > least + 0.4 for other in (missed, moved, doubled))


def test_who_may_judge(world, detector):
    good = {str(k): 0.995 if k <= 6 else 0.96 for k in range(13)}
    assert shortfall(good) is None
    # One number that fails is not made up for by the others.
    assert "98.5% of images with 4 objects right, less than 99%" in str(shortfall({**good, "4": 0.985}))
    assert "98.0% of images with 1 object right" in str(shortfall({**good, "1": 0.98}))
    assert shortfall({**good, "6": 0.99, "7": 0.95}) is None
    assert "94.0% of images with 12 objects" in str(shortfall({**good, "12": 0.94}))
    assert shortfall({"0": 1.0, "1": 0.99}) is None
    poor = replace(validate(detector, world, images_per_class=2), per_class={**good, "2": 0.0})
    with pytest.raises(InputError, match="train it longer"):
        require_judge(poor, world)


def test_other_worlds_have_nothing_to_count():
    with pytest.raises(InputError, match="counts objects; this world has"):
        train_probe(build("circles"), "detector")
