"""Drawings of okawa2023: what stands in them, from simulated members and small tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from conceptlab import figures
from conceptlab.studies.okawa2023 import draw_order, draw_world, tables
from conceptlab.worlds import OKAWA2023, Shapes


def test_empty_images_have_no_place_in_the_cube() -> None:
    """A quarter of images empty, the others at .9: the mean over all is .8. Where most are empty nothing is told."""
    rows = [(1, "coordinate", "size", 0.8), (1, "drawn", "nothing", 0.25), (1, "drawn", "010", 0.75),
            (2, "coordinate", "size", 0.52), (2, "drawn", "nothing", 0.9), (3, "coordinate", "size", 0.7),
            (1, "accuracy", "", 0.7)]  # fmt: skip
    curves = pd.DataFrame(rows, columns=["step", "measure", "variable", "value"])
    found = tables.shown(curves.assign(seed=0, distance=1, **{"class": "010"}))
    assert set(found["measure"]) == {"coordinate", "accuracy"}
    places = found[found["measure"] == "coordinate"].set_index("step")["value"]
    assert places[1] == pytest.approx(0.9)
    assert np.isnan(places[2])
    assert places[3] == 0.7
    assert found[found["measure"] == "accuracy"]["value"].tolist() == [0.7]


def test_a_class_is_drawn_at_its_mean() -> None:
    world = Shapes(**OKAWA2023)
    red = draw_world.mean_example(world, world.space.parse("000"))
    middle = red[:, 14, 14] / 255
    np.testing.assert_allclose(middle, (0.75, 0.25, 0.25), atol=0.01)
    np.testing.assert_array_equal(red, red[:, :, ::-1])


@pytest.mark.parametrize("last", [12, 500, 7900])
def test_a_square_root_axis_gives_the_first_quarter_half_its_length(last: int) -> None:
    page = figures.figure(columns=1)
    ax = page.add_subplot()
    ax.plot([1, last], [0, 1])
    draw_order.root_axis(ax, last)
    page.draw_without_rendering()
    start, quarter, end = (ax.transData.transform((x, 0))[0] for x in (0, last / 4, last))
    assert quarter - start == pytest.approx((end - start) / 2)
    places = [ax.transData.transform((x, 0))[0] for x in ax.get_xticks()]
    assert len(places) >= 3
    assert np.diff(places).min() > 0.15 * (end - start)


def test_shares_come_with_their_spread_over_seeds() -> None:
    shares = pd.DataFrame(
        {"reader": ["judge", "judge", "linear"], "seed": [0, 1, 0], "value": [0.8, 1.0, 0.5]}
    )
    assert draw_order._shares(shares) == "judge 0.90 ± 0.14\nlinear 0.50"
