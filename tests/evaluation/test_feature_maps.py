"""Feature maps of known networks, and concepts whose directions are known."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from conceptlab.errors import InputError
from conceptlab.evaluation.feature_maps import Bottleneck, concept_features, pixels
from conceptlab.evaluation.locality import Level
from conceptlab.measures import measured_cosines, orthogonality
from conceptlab.training import Cohort
from conceptlab.worlds import build as build_world
from tests.evaluation import small


def level() -> Level:
    made = small.recipe()
    return Level(*Cohort([made]).member(0), made.prediction, -2.0)


def test_the_bottleneck_is_the_last_of_the_coarsest_modules() -> None:
    at = level()
    world = build_world("circles", resolution=16)
    found = Bottleneck(at, world.condition((0, 0)), "unit")
    assert found.module == "blocks.up1_0", "two levels: the coarse one ends with the block before upsampling"
    images = world.sample((0, 0), 5, 0).images
    features = found(images)
    assert features.shape == (5, 32 * 8 * 8)
    torch.testing.assert_close(features, found(images))
    torch.testing.assert_close(found(images[:2]), features[:2], atol=1e-5, rtol=1e-4)
    assert not torch.equal(found(1 - images), features)


def test_any_module_can_be_named() -> None:
    at = level()
    condition = torch.zeros(4)
    assert Bottleneck(at, condition, "unit", "enter")(torch.zeros(2, 3, 16, 16)).shape == (2, 16 * 16 * 16)
    with pytest.raises(InputError, match="enter"):
        Bottleneck(at, condition, "unit", "entre")
    assert not any(module._forward_hooks for module in at.denoiser.modules())


def test_a_network_without_a_bottleneck_asks_for_a_module() -> None:
    made = small.recipe(
        world={"name": "discs", "resolution": 16, "cells": 4, "radius": 2.0, "most": 3},
        train={"1": 4},
        denoiser={"name": "cells", "width": 8, "blocks": 2},
    )
    at, condition = Level(*Cohort([made]).member(0), made.prediction, -2.0), torch.zeros(1, 4, 4)
    with pytest.raises(InputError, match=r"no map of Cells is coarser than another.*module='blocks.1'"):
        Bottleneck(at, condition, "unit")
    assert Bottleneck(at, condition, "unit", "blocks.1")(torch.zeros(2, 3, 16, 16)).shape == (2, 8 * 4 * 4)
    assert not any(module._forward_hooks for module in at.denoiser.modules())


def test_concepts_are_compared_under_common_draws() -> None:
    world = build_world("circles", resolution=16, noise=0.0)
    groups, base = concept_features(world, (0, 0), pixels, 40, 0)
    assert [len(group) for group in groups] == [40, 40]
    colour, size = (group - base for group in groups)
    # away from the disc nothing differs, though backgrounds and locations do from image to image
    assert np.isclose(colour, 0, atol=1e-2).mean() > 0.3
    assert np.isclose(size, 0, atol=1e-2).mean() > 0.3
    assert 0 < orthogonality(measured_cosines(groups, base)) < 1


def test_a_module_of_ones_own_may_have_weights() -> None:
    world = build_world("circles", resolution=16)
    module = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 16 * 16, 5))
    groups, base = concept_features(world, (0, 0), module, 6, 0)
    assert [group.shape for group in groups] == [(6, 5), (6, 5)]
    assert base.shape == (6, 5)
