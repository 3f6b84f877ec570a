from __future__ import annotations

import numpy as np
import pytest

from conceptlab.errors import InputError
from conceptlab.theory import Cell, Sim, find_swings, grid, ood_loss, run_cell, swing_size, symmetric
from conceptlab.theory.sweep import ood_curves


def test_cell_has_the_stated_strengths() -> None:
    a = Cell(8, 0.1, 4.0).sim().strengths
    assert float(a[-1] / a[0]) == pytest.approx(4)
    assert np.diff(np.log(a.numpy())) == pytest.approx(np.full(7, np.log(4) / 7))
    assert list(Cell(2, 0.1, 1.0).sim().mu) == pytest.approx([1, 1])


def test_how_common_at_moderate_scale() -> None:
    """mu=(1,2): 22–24 % of seeds above 1 % of the starting loss, nearly all with w_12(0) > 0 (±3 errors)."""
    strengths = Sim((1, 2), 0.05).strengths
    result = run_cell(Cell(2, 0.1, float(strengths[1] / strengths[0])), range(600))
    assert result.settled.all()
    assert 0.23 - 0.052 <= result.share() <= 0.23 + 0.052
    assert result.share(pull=1) > 0.3
    assert result.share(pull=-1) < 0.02
    w0 = symmetric.jacobian(symmetric.gaussian_start(0.1, 2, range(600)))
    assert (result.pull == np.sign(w0[:, 0, 1].numpy())).all()


def test_tiny_start_swings_only_below_the_noise_level() -> None:
    strengths = Sim((1, 2), 0.05).strengths
    result = run_cell(Cell(2, 1e-3, float(strengths[1] / strengths[0])), range(300))
    assert result.share() < 0.01
    # the swing is not gone: its size has shrunk, as the exponent of the peak says
    assert result.share(noise=1e-5) > 0.3


@pytest.mark.parametrize(("d", "scale"), [(2, 0.1), (2, 1.0), (8, 0.1)])
def test_equal_strengths_never_swing(d: int, scale: float) -> None:
    assert run_cell(Cell(d, scale, 1.0), range(60)).swing.max() < 1e-9


@pytest.mark.parametrize(
    ("d", "scale", "ratio"), [(2, 0.1, 4.0), (2, 1.0, 8.0), (4, 1.0, 2.0), (8, 1e-3, 8.0)]
)
def test_tolerance_of_the_sweep_is_fine_enough(d: int, scale: float, ratio: float) -> None:
    """Swings agree with a hundred-thousandfold finer integration within 1e-3 of their size plus 1e-4."""
    sim = Cell(d, scale, ratio).sim()
    u0 = symmetric.gaussian_start(scale, d, range(40))
    coarse, _ = ood_curves(u0, sim.strengths, sim.composition(), max_steps=10_000)
    fine, _ = ood_curves(u0, sim.strengths, sim.composition(), max_steps=10_000, rtol=1e-12)
    exact = swing_size(fine)
    assert (np.abs(swing_size(coarse) - exact) <= 1e-3 * exact + 1e-4).all()


def test_sweep_agrees_with_gradient_descent() -> None:
    """The independent way: small-step descent on U, whole curve, same seeds."""
    sim = Cell(2, 0.1, 4.0).sim()
    u = symmetric.descent(symmetric.gaussian_start(0.1, 2, range(200)), sim.strengths, 0.002, 5000, every=5)
    loss = ood_loss(symmetric.jacobian(u), sim.composition()).T.numpy()
    slow = swing_size(loss / loss[:, :1])
    quick = run_cell(Cell(2, 0.1, 4.0), range(200)).swing
    assert np.abs(slow - quick).max() < 0.01
    assert ((slow > 0.01) == (quick > 0.01)).mean() >= 0.99


def test_descents_and_size_tell_the_same_story() -> None:
    result = run_cell(Cell(4, 0.1, 8.0), range(200))
    assert ((result.descents >= 2) == (result.swing > result.noise)).all()


def test_unsettled_seeds_are_reported() -> None:
    result = run_cell(Cell(2, 0.1, 2.0), range(5), max_steps=3)
    assert not result.settled.any()


def test_curves_fall_to_nothing() -> None:
    cell = Cell(4, 0.1, 2.0)
    sim = cell.sim()
    u0 = symmetric.gaussian_start(cell.scale, 4, range(50))
    curves, settled = ood_curves(u0, sim.strengths, sim.composition(), max_steps=10_000)
    assert settled.all()
    assert (curves[:, 0] == 1).all()
    assert curves[:, -1].max() < 1e-5
    assert (find_swings(curves, 0.01).descents >= 1).all()


def test_grid_and_bad_cells() -> None:
    assert len(grid()) == 4 * 4 * 5
    assert grid()[0] == Cell(2, 1e-3, 1.0)
    for bad in (Cell(1, 0.1, 2.0), Cell(2, 0.0, 2.0), Cell(2, 0.1, 0.5)):
        with pytest.raises(InputError, match="no such cell"):
            run_cell(bad, [0])
    with pytest.raises(InputError, match="seed"):
        run_cell(Cell(2, 0.1, 2.0), [])
