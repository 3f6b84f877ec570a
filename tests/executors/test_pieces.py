from __future__ import annotations

import pytest

from conceptlab.errors import InputError
from conceptlab.executors import parse_piece, piece
from conceptlab.training import cohort_key
from tests.tiny import tiny_recipe

RECIPES = [tiny_recipe(seed=seed, batch=batch) for seed in range(6) for batch in (8, 16)]


@pytest.mark.parametrize("count", [1, 2, 3, 5, 12, 20])
def test_pieces_are_a_partition_whatever_the_order(count):
    shares = [piece(RECIPES, number, count) for number in range(1, count + 1)]
    assert sorted(r.hash for share in shares for r in share) == sorted(r.hash for r in RECIPES)
    backwards = [piece(RECIPES[::-1], number, count) for number in range(1, count + 1)]
    assert backwards == shares


def test_costly_members_are_shared_out_and_like_stays_with_like():
    shares = [piece(RECIPES, number, 3) for number in (1, 2, 3)]
    assert max(map(len, shares)) > min(map(len, shares)), "a batch of 16 costs more than one of 8"
    assert sum(len({cohort_key(recipe) for recipe in share}) for share in shares) <= 4


def test_a_piece_is_named_as_it_is_meant():
    assert parse_piece("2/5") == (2, 5)
    for text in ("0/5", "6/5", "2", "a/b", "2/", "-1/5"):
        with pytest.raises(InputError, match="2/5"):
            parse_piece(text)
