"""Denoisers of grid conditions: the enforced reach is exact, the global one is global, and both keep the contract."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor
from torch.func import functional_call

from conceptlab.denoisers import Denoiser, build
from conceptlab.denoisers.cells import neighbours, split_reach
from conceptlab.errors import InputError
from conceptlab.training import CohortDenoiser

from .conftest import perturbed

IMAGE, CONDITION = (3, 32, 32), (2, 8, 8)
CELL = 4
CELLS = {"name": "cells", "width": 16, "blocks": 3}
UNET = {"name": "grid_unet", "channels": [16, 32], "blocks_per_level": 1, "attention": [8, 4], "patch": 4}


def made(settings: dict, seed: int = 0, **more) -> Denoiser:
    denoiser = build(**settings, **more, image_shape=IMAGE, condition_shape=CONDITION, seed=seed)
    return perturbed(denoiser, seed).eval()


def inputs(batch: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(batch, *IMAGE, generator=generator)
    return x, torch.linspace(0.1, 0.9, batch), torch.randn(batch, *CONDITION, generator=generator)


def changed_cells(out: Tensor, other: Tensor) -> Tensor:
    """Which cells of the output differ at all, (B, cells, cells)."""
    return torch.nn.functional.max_pool2d((out - other).abs().amax(1, keepdim=True), CELL)[:, 0] > 0


def square(row: int, column: int, reach: int) -> Tensor:
    """The cells within a reach of one."""
    place = torch.arange(8)
    return ((place - row).abs() <= reach)[:, None] & ((place - column).abs() <= reach)[None]


@pytest.mark.parametrize("reach", [0, 1, 2, 4, 7])
def test_what_is_out_of_reach_changes_nothing_at_all(reach):
    """Exactly zero outside, something in every cell within: for pixels, and for conditions."""
    denoiser = made(CELLS, reach=reach).double()
    x, time, condition = (part.double() for part in inputs())
    with torch.no_grad():
        out = denoiser(x, time, condition)
        for row, column in ((0, 0), (3, 4), (7, 2)):
            within = square(row, column, reach)
            pixels = x.clone()
            # Large, so that anything that leaks would show.
            pixels[..., CELL * row : CELL * (row + 1), CELL * column : CELL * (column + 1)] += 100.0
            assert torch.equal(changed_cells(out, denoiser(pixels, time, condition)), within.expand(2, 8, 8))
            told = condition.clone()
            told[:, 0, row, column] += 100.0
            assert torch.equal(changed_cells(out, denoiser(x, time, told)), within.expand(2, 8, 8))


def test_the_u_net_sees_everything():
    denoiser = made(UNET).double()
    x, time, condition = (part.double() for part in inputs())
    told = condition.clone()
    told[:, 0, 0, 0] += 1.0
    with torch.no_grad():
        assert changed_cells(denoiser(x, time, condition), denoiser(x, time, told)).all()


def test_all_reaches_have_as_many_parameters():
    sizes = {sum(p.numel() for p in made(CELLS, reach=reach).parameters()) for reach in range(8)}
    assert len(sizes) == 1


@pytest.mark.parametrize(("blocks", "furthest"), [(1, 1), (2, 3), (3, 7), (4, 15)])
def test_distances_sum_to_the_reach_without_gaps(blocks, furthest):
    for reach in range(furthest + 1):
        distances = split_reach(reach, blocks)
        assert len(distances) == blocks
        seen = {sum(steps) for steps in itertools.product(*((0, d) for d in distances))}
        assert seen == set(range(reach + 1))


def test_beyond_the_image_there_is_nothing():
    """As for a convolution, which gathers at distance 1."""
    x = torch.arange(1.0, 17.0).view(1, 1, 4, 4)
    for distance in (1, 2):
        seen = neighbours(x, distance)[0]
        corner = [0.0] * 4 + [x[0, 0, i, j].item() for i in (0, distance) for j in (0, distance)]
        assert sorted(seen[:, 0, 0].tolist()) == sorted([0.0, *corner])
    taps = torch.rand(1, 1, 3, 3)
    gathered = torch.einsum("k,khw->hw", taps.flatten(), neighbours(x, 1)[0])
    torch.testing.assert_close(gathered, torch.nn.functional.conv2d(x, taps, padding=1)[0, 0])


def test_a_cell_knows_where_it_is():
    denoiser = made(CELLS, reach=1)
    with torch.no_grad():
        out = denoiser(torch.zeros(1, *IMAGE), torch.tensor([0.5]), torch.zeros(1, *CONDITION))
    tiles = out[0].unfold(1, CELL, CELL).unfold(2, CELL, CELL)[:, 2:6, 2:6]
    # Away from the edges only the position tells the cells apart.
    assert (tiles - tiles[:, :1, :1]).abs().amax((0, 3, 4)).flatten()[1:].min() > 0


@pytest.mark.parametrize("settings", [CELLS, {**CELLS, "reach": 7}, UNET], ids=["cells", "whole", "unet"])
class TestContract:
    def test_condition_time_and_embedding(self, settings):
        denoiser = made(settings)
        x, time, condition = inputs()
        out = denoiser(x, time, condition)
        assert out.shape == x.shape
        assert not torch.allclose(out, denoiser(x, time, condition + 1), rtol=1e-3)
        assert not torch.allclose(out, denoiser(x, time.flip(0), condition), rtol=1e-3)
        embedding = denoiser.embed(condition)
        assert all(value.shape[0] == len(x) and value.ndim == 2 for value in embedding.values())
        assert torch.equal(denoiser.denoise(x, time, embedding), out)

    def test_every_parameter_is_used_and_images_do_not_see_each_other(self, settings):
        denoiser = made(settings).double()
        x, time, condition = (part.double() for part in inputs())
        out = denoiser(x, time, condition)
        alone = torch.cat([denoiser(x[i : i + 1], time[i : i + 1], condition[i : i + 1]) for i in range(2)])
        torch.testing.assert_close(out, alone, rtol=1e-9, atol=1e-9)
        out.square().mean().backward()
        gradients = {
            name: p.grad.abs().max() for name, p in denoiser.named_parameters() if p.grad is not None
        }
        assert set(gradients) == {name for name, _ in denoiser.named_parameters()}
        assert min(gradients.values()) > 1e-8 * max(gradients.values())

    @pytest.mark.parametrize("members", [1, 3])
    def test_members_of_a_cohort_compute_what_they_compute_alone(self, settings, members, caplog):
        plain = [made(settings, seed=seed) for seed in range(members)]
        x, time = torch.randn(members, 2, *IMAGE), torch.rand(members, 2)
        condition = torch.randn(members, 2, *CONDITION)
        cohort = CohortDenoiser(plain[0]).eval()
        assert "one after another" not in caplog.text
        tables = [dict(network.named_parameters()) for network in plain]
        state = {key: torch.stack([table[key].detach() for table in tables]) for key in tables[0]}
        found = functional_call(cohort, state, (x, time, condition))
        for index, network in enumerate(plain):
            expected = network(x[index], time[index], condition[index])
            torch.testing.assert_close(found[index], expected, rtol=1e-4, atol=1e-4)

    def test_runs_in_bfloat16(self, settings):
        denoiser = made(settings)
        exact = denoiser(*inputs())
        with torch.autocast("cpu", dtype=torch.bfloat16):
            rough = denoiser(*inputs())
        assert (rough.float() - exact).square().mean() < 0.05**2 * exact.square().mean()


@pytest.mark.parametrize(
    ("settings", "shape", "message"),
    [
        ({**CELLS, "reach": 8}, CONDITION, "from 0 to 7"),
        ({**CELLS, "reach": 4, "blocks": 2}, CONDITION, "2 blocks cannot reach 4"),
        (CELLS, (6,), "conditions \\(channels, cells, cells\\)"),
        (UNET, (1, 7, 7), "whose cells divide them"),
        ({**UNET, "patch": 8}, CONDITION, "use a smaller patch"),
    ],
)
def test_what_does_not_fit_is_refused(settings, shape, message):
    with pytest.raises(InputError, match=message):
        build(**settings, image_shape=IMAGE, condition_shape=shape, seed=0)
