"""Locality on networks whose answer is known exactly: a pointwise one, a convolution of known radius, a global mean."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from conceptlab import random
from conceptlab.denoisers import Denoiser, Embedding
from conceptlab.diffusion import build as build_process
from conceptlab.evaluation import locality

SIZE, CELLS = 16, 4
CELL = SIZE // CELLS


class Known(Denoiser):
    """Predicts x̂ = pixels(z) + the condition grid spread over its cells (`reach` further cells each way)."""

    def __init__(self, pixels: nn.Module, spread: int = 0, gain: float = 1.0) -> None:
        super().__init__((3, SIZE, SIZE), (1, CELLS, CELLS))
        self.pixels, self.spread, self.gain = pixels, spread, gain
        self.condition_embedding = nn.Identity()
        self.unused = nn.Parameter(torch.zeros(1))

    def embed(self, condition: Tensor) -> Embedding:
        return {"grid": condition.flatten(1)}

    def denoise(self, x: Tensor, time: Tensor, embedding: Embedding) -> Tensor:
        grid = embedding["grid"].unflatten(1, (1, CELLS, CELLS))
        grid = nn.functional.max_pool2d(grid, 2 * self.spread + 1, stride=1, padding=self.spread)
        return self.pixels(x) + self.gain * nn.functional.interpolate(grid, scale_factor=CELL)


class GlobalMean(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.mean((2, 3), keepdim=True).expand_as(x)


def even(radius: int) -> nn.Conv2d:
    """A convolution with all weights 1."""
    layer = nn.Conv2d(3, 3, 2 * radius + 1, padding=radius, bias=False)
    nn.init.ones_(layer.weight)
    return layer


def level(denoiser: Denoiser, prediction: str = "x0", gamma: float = 0.0) -> locality.Level:
    return locality.Level(denoiser, build_process("continuous"), prediction, gamma)


def response(pixels: nn.Module, prediction: str = "x0", gamma: float = 0.0) -> tuple[Tensor, Tensor]:
    """At every pixel of the image in turn."""
    rows, columns = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")
    places = torch.stack((rows.flatten(), columns.flatten()), dim=1)
    z = random.normal(random.key(0, "test"), (len(places), 3, SIZE, SIZE))
    condition = torch.zeros(len(places), 1, CELLS, CELLS)
    found = locality.pixel_response(level(Known(pixels), prediction, gamma), z, condition, places)
    return found, places


def test_a_pointwise_network_has_no_reach() -> None:
    found, places = response(nn.Conv2d(3, 3, 1))
    assert locality.pixel_reach(found, places) == 0
    assert locality.mass_within(found, places, [0, 5]) == pytest.approx([1, 1])


def test_a_convolution_reaches_its_radius() -> None:
    found, places = response(even(2))
    # a place whose neighbourhood lies inside the image sees 25 pixels alike, 9 of them within 1
    middle = (places[:, 0] == 8) & (places[:, 1] == 8)
    shares = locality.mass_within(found[middle], places[middle], [0, 1, 2, 3])
    assert shares == pytest.approx([1 / 25, 9 / 25, 1, 1])
    assert found[middle].amax().item() == pytest.approx(9)  # 3 × 3 channels, each with the weight 1
    assert locality.mass_within(found, places, [2]) == pytest.approx([1])


def test_a_global_mean_reaches_everywhere_alike() -> None:
    found, places = response(GlobalMean())
    assert locality.pixel_reach(found, places) == pytest.approx(1)
    corner = (places == 0).all(1)
    assert locality.mass_within(found[corner], places[corner], [7, 15]) == pytest.approx([1 / 4, 1])
    assert 0 < locality.pixel_reach(*response(even(2))) < locality.pixel_reach(*response(even(5))) < 1


class Nothing(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return 0 * x


def test_what_has_learned_nothing_reaches_no_other_pixel() -> None:
    """Its estimate is still the noisy image, scaled: all response, and none to others."""
    found, places = response(Nothing(), "v", -4.0)
    assert locality.mass_within(found, places, [0]) == [1]
    assert locality.pixel_reach(found, places) == 0


def test_the_reach_to_others_does_not_hang_on_the_pixel_itself() -> None:
    """Predicting v adds the pixel itself to what a convolution sees; to other pixels its reach is the same."""
    plain, added = response(even(2)), response(even(2), "v", -6.0)
    assert locality.pixel_reach(*added) < 0.5 * locality.pixel_reach(*plain)
    assert reach_to_others(*added) == pytest.approx(reach_to_others(*plain), rel=1e-4)


def reach_to_others(found: Tensor, places: Tensor) -> float:
    """As figures take the own pixel out of what was measured."""
    (own,) = locality.mass_within(found, places, [0])
    return locality.pixel_reach(found, places) / (1 - own)


@pytest.mark.parametrize("prediction", ["eps", "v"])
def test_the_response_is_that_of_the_estimate_whatever_is_predicted(prediction: str) -> None:
    """x̂ is linear in z and the output: off the diagonal its Jacobian is the network's times a known factor."""
    at = level(Known(even(1)), prediction, 1.0)
    factor = -(at.sigma / at.alpha if prediction == "eps" else at.sigma)
    found, places = response(even(1), prediction, 1.0)
    row = int(((places[:, 0] == 8) & (places[:, 1] == 8)).nonzero())
    assert found[row, 8, 9].item() == pytest.approx(9 * float(factor) ** 2, rel=1e-4)


def test_offset_maps_are_seen_from_the_place() -> None:
    found, places = response(even(1))
    table = locality.offset_map(found, places, 3)
    assert table.shape == (7, 7)
    assert table[3, 3] == pytest.approx(9)
    assert table[2:5, 2:5].min() == pytest.approx(9)
    assert table[0].abs().max() == table[:, 6].abs().max() == 0


def test_levels_have_the_noise_asked_for_and_end_with_the_process() -> None:
    for process in (build_process("continuous"), build_process("discrete")):
        for gamma in (-4.0, 0.0, 4.0):
            at = locality.Level(Known(nn.Identity()), process, "x0", gamma)
            assert 2 * math.log(float(at.sigma / at.alpha)) == pytest.approx(gamma, abs=0.02)
            assert float(at.alpha**2 + at.sigma**2) == pytest.approx(1)
    assert float(locality.time_at(build_process("continuous"), 99.0, torch.device("cpu"))) == 1


def scene(k: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    """One image; conditions in cells (1, 1) and (3, 3), and without the first; the first one's centre."""
    all_, fewer = torch.zeros(2, 1, 1, CELLS, CELLS)
    all_[0, 0, 1, 1] = all_[0, 0, 3, 3] = fewer[0, 0, 3, 3] = 1
    return all_, fewer, torch.tensor([[[6.0, 6.0]]])


@pytest.mark.parametrize(("spread", "near", "far"), [(0, 4 / 16, 0.0), (1, 60 / 64, 0.0), (3, 0.0, 0.0)])
def test_taking_a_condition_away_changes_what_the_network_spreads_it_to(spread, near, far) -> None:
    at = level(Known(nn.Identity(), spread))
    before, after, centre = scene()
    z = torch.randn(1, 3, SIZE, SIZE)
    change = locality.condition_change(at, z, before, after)
    away = locality.from_centres(centre, SIZE, SIZE)
    assert away.min() == 0.5
    found = locality.mean_by_distance(change, away, (0, 4, 8, 99))
    assert found[0] == pytest.approx(near)
    assert found[2] == pytest.approx(far)
    assert math.isnan(locality.mean_by_distance(change, away, (50, 60))[0])


def moved_scene() -> tuple[Tensor, Tensor, Tensor]:
    """Conditions in cells (1, 1) and (3, 3), of which the first moves to row 0 of column 3; its old and new centre."""
    before, after = torch.zeros(2, 1, 1, CELLS, CELLS)
    before[0, 0, 1, 1] = before[0, 0, 3, 3] = after[0, 0, 0, 3] = after[0, 0, 3, 3] = 1
    return before, after, torch.tensor([[[6.0, 6.0], [14.0, 2.0]]])


def test_moving_a_condition_changes_its_old_and_its_new_place_and_no_other() -> None:
    before, after, centres = moved_scene()
    z = torch.randn(1, 3, SIZE, SIZE)
    change = locality.condition_change(level(Known(nn.Identity())), z, before, after)
    expected = torch.zeros(SIZE, SIZE)
    expected[4:8, 4:8] = expected[:4, 12:] = 1
    torch.testing.assert_close(change[0], expected)
    away = locality.from_centres(centres, SIZE, SIZE)
    assert locality.mean_by_distance(change, away, (0, 2, 99)) == pytest.approx([1, 0])
    assert locality.share_within(change, away, [1, 2, 99]) == pytest.approx([1 / 4, 1, 1])
    # from the old place alone half of it would lie far away
    from_old = locality.from_centres(centres[:, :1], SIZE, SIZE)
    assert locality.share_within(change, from_old, [2]) == pytest.approx([1 / 2])
    table = locality.map_from_nearest(change, centres, 5)
    assert table[3:7, 3:7].min() == 1  # a centre is the third of its cell's four pixels
    assert table.nansum() == pytest.approx(16)


def test_every_pixel_is_seen_from_the_nearest_place_alone() -> None:
    """A change that is everywhere fills a ring by its pixels; a map of distances shows its own offsets."""
    centres = torch.tensor([[[2.5, 2.5], [12.5, 12.5]]])
    change, away = torch.ones(1, SIZE, SIZE), locality.from_centres(centres, SIZE, SIZE)
    assert locality.share_within(change, away, [2, 99]) == pytest.approx([2 * 25 / 256, 1])
    table = locality.map_from_nearest(away, centres, 12)
    offsets = torch.arange(-12, 13).abs()
    seen = ~table.isnan()
    torch.testing.assert_close(table[seen], torch.maximum(offsets[:, None], offsets).float()[seen])
    assert table.isnan()[24, 24], "twelve pixels down and right of one place is nearer to the other"
    assert math.isnan(locality.share_within(0 * change, away, [2])[0])


def test_the_condition_decides_all_nothing_or_a_known_share() -> None:
    z = random.normal(random.key(1, "test"), (64, 3, SIZE, SIZE))
    condition = torch.zeros(64, 1, CELLS, CELLS)
    condition[torch.arange(64), 0, torch.arange(64) % 4, torch.arange(64) // 16] = 1

    class Nothing(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return 0 * x

    assert locality.condition_share(level(Known(Nothing())), z, condition) == 1
    assert locality.condition_share(level(Known(nn.Identity(), gain=0.0)), z, condition) == 0
    share = locality.condition_share(level(Known(nn.Identity())), z, condition)
    # two cells of sixteen change by one; two images differ by twice their variance
    assert share == pytest.approx((2 / 16) / (2 / 16 + 2), rel=0.1)
