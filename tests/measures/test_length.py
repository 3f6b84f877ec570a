"""Length generalisation on oracles and on junk."""

from __future__ import annotations

import numpy as np
import pytest
import scipy

from conceptlab.measures import (
    answer,
    beyond_chance,
    chance_share,
    k_max,
    kept_share,
    met,
    nearest,
    which_met,
    with_colour,
)

SIDE = 8


def layouts(images: int, count: int, seed: int = 0) -> list[np.ndarray]:
    """Distinct cells for every image."""
    generator = np.random.default_rng(seed)
    cells = [generator.choice(SIDE * SIDE, count, replace=False) for _ in range(images)]
    return [np.stack([chosen % SIDE, chosen // SIDE], 1).astype(float) for chosen in cells]


def test_an_oracle_meets_everything():
    asked = layouts(40, 6)
    seen = answer(asked, [cells[::-1] for cells in asked])
    assert (seen.share, seen.precision, seen.exact, seen.objects, seen.spurious) == (1, 1, 1, 6, 0)
    assert seen.error == 0
    assert seen.corrected == 1


def test_nothing_drawn_meets_nothing():
    seen = answer(layouts(5, 3), [np.zeros((0, 2))] * 5)
    assert (seen.share, seen.exact, seen.objects, seen.spurious, seen.chance) == (0, 0, 0, 0, 0)
    assert np.isnan(seen.precision)


def test_pictures_of_other_conditions_score_what_chance_does():
    asked, other = layouts(150, 8), layouts(150, 8, seed=1)
    seen = answer(asked, other)
    # As crowded as this, a third of an image lies next to a condition: shares alone would flatter.
    assert 0.5 < seen.share < 0.9
    assert abs(seen.corrected) < 4 * seen.error / (1 - seen.chance)


def test_one_object_meets_one_condition():
    asked = [np.array([[2, 2], [3, 2]])] * 2
    assert met(asked, [np.array([[2, 2]]), np.array([[2, 2], [2, 2]])]).tolist() == [1, 2]
    # As many as possible: the greedy choice for the first object would leave the second without.
    assert met([np.array([[0, 0], [2, 0]])], [np.array([[1, 0], [0, 0]])]).tolist() == [2]


def test_which_conditions_are_met_is_said_of_each():
    asked = [np.array([[0, 0], [4, 4], [7, 0]]), np.array([[0, 0], [1, 0], [7, 7]])]
    found = [np.array([[4, 5]]), np.array([[7, 7], [6, 6]])]
    assert which_met(asked, found).tolist() == [[False, True, False], [False, False, True]]
    assert which_met(asked, [np.zeros((0, 2))] * 2).tolist() == [[False] * 3] * 2


def test_the_nearest_other_condition_is_measured_along_the_longer_axis():
    asked = [np.array([[0, 0], [1, 3], [7, 0]]), np.array([[2, 2], [3, 3], [2, 7]])]
    assert nearest(asked).tolist() == [[3, 3, 6], [1, 1, 4]]
    assert np.isinf(nearest([np.array([[2, 2]])])).all()
    assert nearest([np.zeros((0, 2))]).shape == (1, 0)


def test_colours_are_met_one_to_one_anywhere_or_at_their_place():
    red, blue = 0, 1
    asked, drawn = [np.array([red, red, blue])], [np.array([red, blue, blue])]
    assert met(with_colour(asked), with_colour(drawn)).tolist() == [2]
    places = [np.array([[0, 0], [4, 4], [7, 7]])]
    # The second is at its place in the wrong colour.
    assert met(with_colour(asked, places), with_colour(drawn, places)).tolist() == [2]
    assert met(with_colour(asked, places), with_colour(drawn, [places[0][::-1]])).tolist() == [0]


def test_all_images_at_once_are_matched_like_each_by_itself():
    generator = np.random.default_rng(3)
    asked = layouts(60, 7)
    found = [cells[: generator.integers(0, 10)] for cells in layouts(60, 9, seed=4)]
    near = [np.abs(a[:, None] - f[None]).max(-1) <= 1 for a, f in zip(asked, found)]
    alone = [table[scipy.optimize.linear_sum_assignment(table, maximize=True)].sum() for table in near]
    assert met(asked, found).tolist() == alone


@pytest.mark.parametrize(
    ("away", "meets"), [((0, 0), 1), ((1, 0), 1), ((1, 1), 1), ((2, 0), 0), ((1, -2), 0)]
)
def test_a_centre_may_lie_in_a_neighbouring_cell(away, meets):
    assert met([np.array([[4, 4]])], [np.array([[4, 4]]) + np.array(away)]) == meets


def test_spurious_objects_and_counts():
    asked = [np.array([[0, 0]]), np.array([[5, 5]])]
    found = [np.array([[0, 0], [7, 7]]), np.array([[1, 1]])]
    seen = answer(asked, found)
    assert (seen.share, seen.precision, seen.exact, seen.objects, seen.spurious) == (
        0.5,
        1 / 3,
        0.5,
        1.5,
        1.0,
    )


def test_the_error_of_a_share_is_that_of_a_mean_over_images():
    asked = [np.array([[0, 0], [9, 9]])] * 4
    found = [np.array([[0, 0], [9, 9]]), np.array([[0, 0]]), np.array([[0, 0]]), np.zeros((0, 2))]
    shares = np.array([1.0, 0.5, 0.5, 0.0])
    assert answer(asked, found).error == pytest.approx(shares.std(ddof=1) / 2)
    assert np.isnan(answer(asked[:1], found[:1]).error)


def test_without_conditions_there_are_counts_and_no_shares():
    seen = answer([np.zeros((0, 2))] * 2, [np.zeros((0, 2)), np.array([[1, 1]])])
    assert np.isnan(seen.share)
    assert np.isnan(seen.chance)
    assert (seen.exact, seen.objects, seen.spurious) == (0.5, 0.5, 0.5)


def test_chance_is_exact_where_it_can_be_counted():
    # Two images that never meet each other's conditions, and two that always do.
    far = [np.array([[0, 0]]), np.array([[7, 7]])]
    assert chance_share(far, far) == 0
    near = [np.array([[3, 3]]), np.array([[3, 4]])]
    assert chance_share(near, near) == 1
    assert np.isnan(beyond_chance(1.0, 1.0))
    assert beyond_chance(0.75, 0.5) == 0.5


def test_k_max_stops_at_the_first_loss():
    shares = {0: np.nan, 1: 1.0, 2: 0.98, 3: 0.95, 4: 0.9, 5: 0.7, 6: 0.99}
    assert k_max(shares, base=3) == 4
    assert k_max(shares, base=1) == 4
    assert k_max({1: 0.2, 2: 1.0}, base=2) == 0
    assert k_max(dict.fromkeys(range(1, 13), 0.5), base=3) == 12
    assert k_max({1: np.nan, 2: 1.0}, base=2) == 0
    assert k_max({1: 0.0, 2: 0.0}, base=1) == 0
    kept = {1: 1.0, 2: float(np.float32(0.9)), 3: float(np.float32(0.8999))}
    assert k_max(kept, base=1) == 2, "a share of exactly .9, as metrics are kept"


def test_kept_share_is_relative_to_the_base():
    shares = {1: 0.8, 2: 0.8, 3: 0.8, 4: 0.4, 5: 0.2}
    assert kept_share(shares, base=1, beyond=3) == pytest.approx(0.375)
    assert np.isnan(kept_share({1: 0.5}, base=1, beyond=1))
